"""openpyxl's streaming mode omits merged cells, comments and tables."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, FileTooLarge
from rag_engine.parsers._archives.zip_bombs import check_archive
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._xml.parts import (
    XmlPackage,
    XmlRelation,
    attribute,
    descendants,
    elements,
    local,
    translated,
)
from rag_engine.parsers.sheets._cells.date_formats import EPOCH, EPOCH_1904
from rag_engine.parsers.sheets._cells.grid import LAST_COLUMN, LAST_ROW, Area, GridRow, merged, sheet_sections
from rag_engine.parsers.sheets._cells.number_formats import BUILT_IN
from rag_engine.parsers.sheets._workbooks.xlsx_cells import CellReader, area_of, string_text
from rag_engine.parsers.sheets._workbooks.xlsx_comments import comments
from rag_engine.parsers.sheets._workbooks.xlsx_drawings import Drawings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.types import Section

DAMAGED: Final = "The spreadsheet is damaged and cannot be read; save it again."
_BLOCK: Final = 1 << 20
_LONGEST_TAIL: Final = 16 << 20
_ROWS: Final = b"sheetData"
_ROWS_END: Final = re.compile(rb"</(?:\w+:)?sheetData\s*>|<(?:\w+:)?sheetData\s*/>")
_MERGED: Final = re.compile(
    rb"<(?:\w+:)?mergeCell\b[^>]*?\bref=[\"']([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})[\"']"
)
_MOST_MERGED: Final = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    title: str
    part: str
    kind: str
    hidden: bool

    @property
    def headings(self) -> tuple[str, ...]:
        title = one_line(self.title)
        return (f"{title} (hidden)" if self.hidden else title,)


class _Strings:
    """Packed: a million need little more memory than in the file."""

    def __init__(self, package: XmlPackage, part: str) -> None:
        self._text = bytearray()
        self._ends = array("Q", [0])
        if package.has(part):
            with package.open(part) as stream:
                for node in elements(stream, "si"):
                    self._text += string_text(node).encode("utf-8", "surrogatepass")
                    self._ends.append(len(self._text))

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self._ends) - 1:
            raise IndexError(index)
        return self._text[self._ends[index] : self._ends[index + 1]].decode("utf-8", "surrogatepass")


def sections(path: Path) -> Iterator[Section]:
    check_archive(path)
    with path.open("rb") as file, translated(DAMAGED):
        package = XmlPackage(file)
        yield from _workbook(package)


def _workbook(package: XmlPackage) -> Iterator[Section]:
    part = next(
        (found.target for found in package.relations("").values() if found.kind == "officeDocument"), ""
    )
    part = part if package.has(part) else "xl/workbook.xml"
    root = package.tree(part)
    if root is None:
        raise CorruptFile(DAMAGED)
    relations = package.relations(part)
    strings = _Strings(package, _target(relations, "sharedStrings", "xl/sharedStrings.xml"))
    dates_1904 = any(attribute(node, "date1904") in {"1", "true"} for node in descendants(root, "workbookPr"))
    cells = CellReader(
        strings=strings,
        formats=_formats(package, _target(relations, "styles", "xl/styles.xml")),
        epoch=EPOCH_1904 if dates_1904 else EPOCH,
    )
    sheets = [sheet for sheet in _sheets(root, relations) if package.has(sheet.part)]
    drawings = Drawings(package, [sheet.title for sheet in sheets if sheet.kind == "worksheet"])
    for sheet in sheets:
        if sheet.kind == "worksheet":
            yield from _worksheet(package, sheet, cells)
        yield from drawings.sections(sheet.part, title=sheet.title, headings=sheet.headings)
    yield from drawings.notices()


def _target(relations: dict[str, XmlRelation], kind: str, usual: str) -> str:
    return next((found.target for found in relations.values() if found.kind == kind), usual)


def _sheets(root: object, relations: dict[str, XmlRelation]) -> Iterator[_Sheet]:
    for node in descendants(root, "sheet"):  # type: ignore[arg-type]
        relation = relations.get(attribute(node, "id"))
        if relation is not None:
            yield _Sheet(
                title=node.get("name", ""),
                part=relation.target,
                kind=relation.kind,
                hidden=node.get("state", "visible").lower() in {"hidden", "veryhidden"},
            )


def _formats(package: XmlPackage, part: str) -> list[str]:
    root = package.tree(part)
    if root is None:
        return []
    own = {node.get("numFmtId", ""): node.get("formatCode", "") for node in descendants(root, "numFmt")}
    formats: list[str] = []
    for group in descendants(root, "cellXfs"):
        for node in group:
            if local(node) == "xf":
                number = node.get("numFmtId", "0")
                built_in = BUILT_IN.get(int(number), "General") if number.isdecimal() else "General"
                formats.append(own.get(number) or built_in)
    return formats


def _worksheet(package: XmlPackage, sheet: _Sheet, cells: CellReader) -> Iterator[Section]:
    relations = package.relations(sheet.part)
    tables: list[Area] = []
    for relation in relations.values():
        if relation.kind == "table":
            root = package.tree(relation.target)
            area = area_of(root.get("ref", "")) if root is not None else None
            if root is not None and area is not None and root.get("headerRowCount", "1") != "0":
                tables.append(area)
    areas = _merged_areas(package, sheet.part)
    with package.open(sheet.part) as stream:
        rows = _rows(stream, cells)
        yield from sheet_sections(
            merged(rows, areas) if areas else rows, title=sheet.title, headings=sheet.headings, tables=tables
        )
    yield from comments(package, relations.values(), title=sheet.title, headings=sheet.headings)


def _rows(stream: object, cells: CellReader) -> Iterator[GridRow]:
    number = 0
    for node in elements(stream, "row"):  # type: ignore[arg-type]
        reference = node.get("r", "")
        number = int(reference) if reference.isdecimal() and len(reference) < 12 else number + 1
        if number > LAST_ROW:
            continue
        filled = cells.row(node)
        if filled:
            yield GridRow(number=number, cells=filled)


def _merged_areas(package: XmlPackage, part: str) -> list[Area]:
    """The file lists them after all rows."""
    with package.open(part) as stream:
        tail = b""
        while block := stream.read(_BLOCK):
            tail = tail[-64:] + block
            last = tail.rfind(_ROWS)
            end = _ROWS_END.search(tail, max(last - 32, 0)) if last >= 0 else None
            if end:
                tail = tail[end.end() :] + stream.read(_LONGEST_TAIL)
                break
        else:
            return []
    found = (area_of(match[1].decode("ascii")) for match in _MERGED.finditer(tail))
    areas = [area for area in found if area is not None and area.first_column <= LAST_COLUMN]
    if len(areas) > _MOST_MERGED:
        raise FileTooLarge(
            "The spreadsheet has too many merged cells to be read; split it into smaller files."
        )
    return areas
