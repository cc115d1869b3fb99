from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM: Final = "tesseract"
MOST_LANGUAGES: Final = 8
"""Seven took 2 to 3 times as long as one, no less exactly."""
ORIENTATION: Final = "osd"
"""Data that detects a page's orientation."""
_NOT_LANGUAGES: Final = frozenset({ORIENTATION, "equ", "snum"})
_SECONDS: Final = 20
_INSTALLERS: Final = (
    ("apt-get", "sudo apt-get install tesseract-ocr", "tesseract-ocr-{}", "-"),
    ("dnf", "sudo dnf install tesseract", "tesseract-langpack-{}", "_"),
    ("apk", "apk add tesseract-ocr tesseract-ocr-data-eng", "tesseract-ocr-data-{}", "_"),
    ("pacman", "sudo pacman -S tesseract tesseract-data-eng tesseract-data-osd", "tesseract-data-{}", "_"),
    ("zypper", "sudo zypper install tesseract-ocr", "tesseract-ocr-traineddata-{}", "_"),
    ("brew", "brew install tesseract", "tesseract-lang", "_"),
    ("winget", "winget install UB-Mannheim.TesseractOCR", "", "_"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tesseract:
    version: str
    installed: tuple[str, ...]


def find() -> Tesseract | None:
    try:
        version, listing = (
            subprocess.run(  # noqa: S603 - the arguments are ours
                [PROGRAM, option], capture_output=True, text=True, timeout=_SECONDS, check=True
            ).stdout
            for option in ("--version", "--list-langs")
        )
    except (OSError, subprocess.SubprocessError):
        return None
    first = version.split("\n", 1)[0].split()
    return Tesseract(version=first[-1] if first else "", installed=languages_of(listing))


def languages_of(listing: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in listing.splitlines()[1:] if line.strip())


def languages(installed: Sequence[str]) -> tuple[str, ...]:
    """English first ("script/…" covers several languages)."""
    there = [name for name in installed if name not in _NOT_LANGUAGES and "/" not in name]
    return tuple(sorted(there, key=lambda name: (name != "eng", name)))


def chosen(installed: Sequence[str], requested: Sequence[str]) -> tuple[str, ...]:
    """If none is installed, all, or English if there are many."""
    if found := tuple(name for name in requested if name in installed):
        return found
    there = languages(installed)
    return there if len(there) <= MOST_LANGUAGES else there[:1]


def install_command(missing: Sequence[str] = ()) -> str:
    for installer, program, language, dash in _INSTALLERS:
        if shutil.which(installer):
            if not missing or not language:
                return program
            names = dict.fromkeys(language.format(name.replace("_", dash)) for name in missing)
            return " ".join([program.split(" tesseract")[0], *names])
    return "https://tesseract-ocr.github.io/tessdoc/Installation.html"
