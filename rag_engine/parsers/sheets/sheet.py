from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._properties import office
from rag_engine.parsers._shared.sections import joined
from rag_engine.parsers.sheets._workbooks import separated_values, xlsb, xlsx

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section

SUFFIXES: Final = "xlsx xlsm xltx xltm xlsb csv tsv tab"
CONTENT: Final = "text binary"


def parse(path: Path) -> Iterator[Section]:
    """Anchored "Budget!A2:F40", or "rows 2–40" for text tables."""
    with path.open("rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    if not is_archive:
        yield from joined(separated_values.sections(path))
    elif _is_binary(path):
        yield from joined(xlsb.sections(path))
    else:
        yield from joined(xlsx.sections(path))


def properties(path: Path) -> dict[str, list[str]]:
    with path.open("rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    return office.ooxml(path) if is_archive else {}


def _is_binary(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.bin" in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        return False
