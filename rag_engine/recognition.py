"""Which text recognition (OCR) there is: the program Tesseract and the languages whose data are installed beside it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM: Final = "tesseract"
MOST_LANGUAGES: Final = 8
"""Seven languages of several scripts took two to three times as long as one, and read no worse; but some programs come with more than a hundred."""
ORIENTATION: Final = "osd"
"""The data that tell which way up a page is."""
_NOT_LANGUAGES: Final = frozenset({ORIENTATION, "equ", "snum"})
_SECONDS: Final = 20
# The first of these programs that is there installs others; what the program and a language are called there.
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
class Recogniser:
    """The program: its version, and everything that it has data for."""

    version: str
    installed: tuple[str, ...]


def find() -> Recogniser | None:
    """The program on `PATH`; None when there is none, or it does not answer."""
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
    return Recogniser(version=first[-1] if first else "", installed=languages_of(listing))


def languages_of(listing: str) -> tuple[str, ...]:
    """What `tesseract --list-langs` says."""
    return tuple(line.strip() for line in listing.splitlines()[1:] if line.strip())


def languages(installed: Sequence[str]) -> tuple[str, ...]:
    """What of it are languages, English first. (Data named "script/…" are for several languages at once.)"""
    there = [name for name in installed if name not in _NOT_LANGUAGES and "/" not in name]
    return tuple(sorted(there, key=lambda name: (name != "eng", name)))


def chosen(installed: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The languages to recognise: those that are wanted and there, else all there are, else, of very many, English."""
    if found := tuple(name for name in wanted if name in installed):
        return found
    there = languages(installed)
    return there if len(there) <= MOST_LANGUAGES else there[:1]


def install_command(missing: Sequence[str] = ()) -> str:
    """What installs the program, or only the data of languages, on this system."""
    for installer, program, language, dash in _INSTALLERS:
        if shutil.which(installer):
            if not missing or not language:
                return program
            names = dict.fromkeys(language.format(name.replace("_", dash)) for name in missing)
            return " ".join([program.split(" tesseract")[0], *names])
    return "https://tesseract-ocr.github.io/tessdoc/Installation.html"
