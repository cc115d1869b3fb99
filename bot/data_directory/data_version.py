from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from rag_engine.storage.private_files import make_file

if TYPE_CHECKING:
    from pathlib import Path

_FILE: Final = "footnote.version"


def note(data_dir: Path, version: str) -> None:
    if read(data_dir) == version:
        return
    # A read-only or full disk is reported by what needs it.
    with contextlib.suppress(OSError):
        make_file(data_dir / _FILE)
        (data_dir / _FILE).write_text(f"{version}\n", encoding="utf-8")


def read(data_dir: Path) -> str:
    """Empty if unknown."""
    try:
        return (data_dir / _FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
