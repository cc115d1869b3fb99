from __future__ import annotations

import mimetypes
import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_SYSTEM: Final = (
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    *("/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/share/locale", "/usr/share/icu"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/System/Library", "/Library/Fonts"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)
_DATA: Final = ("share/tessdata", "share/tesseract-ocr", "share/tesseract")
_LOADERS: Final = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/nix/store")
_IMPORTABLE: Final = (".py", ".pyc", ".libs", *EXTENSION_SUFFIXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """`programs` are absolute paths."""

    file: Path
    folder: Path
    libraries: tuple[Path, ...]
    programs: tuple[Path, ...] = ()

    @property
    def readable(self) -> tuple[Path, ...]:
        return (self.file, *self.libraries, *_beside(self.programs))

    @property
    def writable(self) -> tuple[Path, ...]:
        return (self.folder, Path(os.devnull))

    @property
    def executable(self) -> tuple[Path, ...]:
        return (*self.programs, *map(Path, _LOADERS)) if self.programs else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    landlock: int = 0
    """Landlock version; 0 for none."""
    seccomp: bool = False

    @property
    def complete(self) -> bool:
        return self.landlock > 0 and self.seccomp

    def __str__(self) -> str:
        by_kernel = [f"Landlock {self.landlock}"] if self.landlock else []
        by_kernel += ["seccomp"] if self.seccomp else []
        return " and ".join(by_kernel) or "nothing"


def libraries(search_path: Iterable[str] | None = None) -> tuple[Path, ...]:
    entries = [Path(entry) for entry in (sys.path if search_path is None else search_path) if entry]
    ours = Path(__file__).resolve().parents[2]
    paths = sysconfig.get_paths()
    installed = [paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    named = (*installed, f"{sys.base_prefix}/lib", f"{sys.prefix}/lib", *_SYSTEM, *mimetypes.knownfiles)
    loader = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    candidates = [ours, *map(Path, named), *(Path(entry) for entry in loader if entry)]
    found = _resolved(candidates)
    for entry in _resolved(entries) - found:
        if found.isdisjoint(entry.parents):
            found |= _resolved(_importable(entry))
    folders = {*map(Path, installed), *(entry for entry in entries if _is_installed_into(_children(entry)))}
    found |= {path for folder in folders for path in _linked(folder)}
    # Each path costs time per file.
    return tuple(sorted(path for path in found if found.isdisjoint(path.parents)))


def program(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found).resolve() if found else None


def _beside(programs: Collection[Path]) -> Iterator[Path]:
    """For prefixes such as /opt/tools or ~/miniconda3."""
    for prefix in {program.parent.parent for program in programs if program.parent.name == "bin"}:
        yield from (prefix / folder for folder in ("lib", *_DATA))
    if programs and (data := os.environ.get("TESSDATA_PREFIX")):
        # Older versions want the folder above.
        inner = Path(data, "tessdata")
        yield inner if inner.is_dir() else Path(data)


def _resolved(paths: Iterable[Path]) -> set[Path]:
    return {path.resolve() for path in paths if path.exists()}


def _linked(folder: Path) -> Iterator[Path]:
    """`uv pip install --link-mode symlink`; the kernel checks real paths."""
    for child in _children(folder):
        first = child / "__init__.py"
        if child.is_symlink():
            yield child.resolve()
        elif first.is_symlink():
            yield first.resolve().parent
        elif child.suffix == ".libs":
            yield from (library.resolve() for library in _children(child) if library.is_symlink())


def _importable(entry: Path) -> list[Path]:
    children = _children(entry)
    if not children or _is_installed_into(children):
        return [entry]
    return [
        child for child in children if child.name.endswith(_IMPORTABLE) or (child / "__init__.py").exists()
    ]


def _is_installed_into(children: Iterable[Path]) -> bool:
    return any(child.suffix == ".dist-info" for child in children)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError:
        return []
