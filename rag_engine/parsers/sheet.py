"""Spreadsheets: XLSX, XLSB, CSV and TSV of any delimiter and encoding; cells as shown, rows told by their numbers."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from rag_engine.parsers import _separated, _xlsb, _xlsx
from rag_engine.parsers._sections import joined

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section


def parse(path: Path) -> Iterator[Section]:
    """Tables anchored to their cells, "Budget!A2:F40", or "rows 2–40" where there are no sheets."""
    with path.open("rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    if not is_archive:
        yield from joined(_separated.sections(path))
    elif _is_binary(path):
        yield from joined(_xlsb.sections(path))
    else:
        yield from joined(_xlsx.sections(path))


def _is_binary(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.bin" in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        return False
