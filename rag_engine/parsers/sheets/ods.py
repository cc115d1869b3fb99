from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import IO, TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._archives.zip_bombs import check_archive
from rag_engine.parsers._opendocument.charts import chart
from rag_engine.parsers._opendocument.package import refuse_entities
from rag_engine.parsers._properties import office
from rag_engine.parsers._shared.charts import ChartReader, DocumentChart
from rag_engine.parsers._shared.sections import joined, one_line
from rag_engine.parsers._xml.parts import Element, XmlPackage, attribute, descendants, local, translated
from rag_engine.parsers.sheets._cells.grid import LAST_ROW, GridRow, column_letters, sheet_sections
from rag_engine.parsers.sheets._workbooks.ods_cells import (
    OdsCell,
    cells_of,
    repeat_count,
    words,
)
from rag_engine.parsers.sheets._workbooks.xlsx_comments import note_text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES: Final = "ots fods"

_DAMAGED: Final = "The spreadsheet is damaged and cannot be read; save it again."
_MOST_REPEATED: Final = 1_000
_KEPT_DRAWINGS: Final = 10_000


@dataclass(slots=True, kw_only=True)
class _Sheet:
    title: str
    headings: tuple[str, ...]
    next_row: int = 1
    charts: ChartReader
    extras: list[Section] = field(default_factory=list[Section])

    def add(self, place: str, text: str) -> None:
        if text and len(self.extras) <= _KEPT_DRAWINGS:
            self.extras.append(Section(text=text, anchor=place, headings=self.headings))


properties: Final = office.opendocument


def parse(path: Path) -> Iterator[Section]:
    """Anchored "Budget!A2:F40"."""
    yield from joined(_sections(path))


def _sections(path: Path) -> Iterator[Section]:
    with path.open("rb") as file, translated(_DAMAGED):
        if file.read(2) != b"PK":
            refuse_entities(file)
            yield from _content(None, file)
            return
        check_archive(path)
        package = XmlPackage(file)
        manifest = package.tree("META-INF/manifest.xml")
        if manifest is not None and next(descendants(manifest, "encryption-data"), None) is not None:
            raise EncryptedFile
        if not package.has("content.xml"):
            raise CorruptFile(_DAMAGED)
        with package.open("content.xml") as stream:
            yield from _content(package, stream)


def _content(package: XmlPackage | None, stream: IO[bytes]) -> Iterator[Section]:
    hidden: set[str] = set()
    charts = ChartReader()
    tags = tuple(f"{{*}}{name}" for name in ("style", "table", "table-row", "shapes", "tracked-changes"))
    walk = etree.iterparse(
        stream, events=("start", "end"), tag=tags, resolve_entities=False, no_network=True, huge_tree=False
    )
    for event, node in walk:
        name = local(node)
        if event == "start" and name == "table" and _is_sheet(node):
            yield from _table(package, walk, node, hidden, charts)
        elif event == "end" and name == "style":
            shows = (attribute(part, "display") for part in descendants(node, "table-properties"))
            if "false" in shows:
                hidden.add(attribute(node, "name"))
        elif event == "end" and name == "tracked-changes":
            node.clear()
    yield from charts.notices()


def _is_sheet(node: Element) -> bool:
    parent = node.getparent()
    return parent is not None and local(parent) == "spreadsheet"


def _table(
    package: XmlPackage | None,
    walk: Iterator[tuple[str, Element]],
    table: Element,
    hidden: set[str],
    charts: ChartReader,
) -> Iterator[Section]:
    title = attribute(table, "name")
    is_hidden = attribute(table, "style-name") in hidden
    headings = (one_line(title) + (" (hidden)" if is_hidden else ""),)
    sheet = _Sheet(title=title, headings=headings, charts=charts)
    rows = _rows(package, walk, table, sheet)
    yield from sheet_sections(rows, title=title, headings=sheet.headings)
    yield from sheet.extras


def _rows(
    package: XmlPackage | None, walk: Iterator[tuple[str, Element]], table: Element, sheet: _Sheet
) -> Iterator[GridRow]:
    covering: list[tuple[int, int, str]] = []
    for event, node in walk:
        if event == "start":
            continue
        if node is table:
            break
        name = local(node)
        if name == "shapes":
            _collect_drawings(package, node, sheet.title, sheet)
            node.clear()
        if name != "table-row" or _table_of(node) is not table:
            continue
        number = sheet.next_row
        repeated = repeat_count(attribute(node, "number-rows-repeated"))
        sheet.next_row = min(number + repeated, LAST_ROW)
        cells = list(cells_of(node))
        _collect_extras(package, node, cells, number, sheet)
        covering = [item for item in covering if item[0] >= number]
        texts = {cell.column: cell.text for cell in cells if cell.text}
        wide = {
            cell.column: cell.column + cell.columns - 1 for cell in cells if cell.text and cell.columns > 1
        }
        if texts:
            for _, column, text in covering:
                texts.setdefault(column, text)
        covering += [
            (number + cell.rows - 1, cell.column, cell.text)
            for cell in cells
            if cell.text and cell.rows > 1 and len(cell.text) <= 200
        ]
        _free(node)
        if texts and number < LAST_ROW:
            for offset in range(min(repeated, _MOST_REPEATED)):
                yield GridRow(number=number + offset, cells=dict(texts), wide=wide)
    _free(table)


def _table_of(row: Element) -> Element | None:
    parent = row.getparent()
    while parent is not None and local(parent) in {"table-row-group", "table-header-rows", "table-rows"}:
        parent = parent.getparent()
    return parent


def _free(node: Element) -> None:
    node.clear()
    parent = node.getparent()
    while parent is not None and (before := node.getprevious()) is not None:
        if local(before) in {"table-column", "table-columns"} or before.tag == node.tag:
            parent.remove(before)
        else:
            break


def _collect_extras(
    package: XmlPackage | None, node: Element, cells: list[OdsCell], number: int, sheet: _Sheet
) -> None:
    for cell in cells:
        if len(sheet.extras) > _KEPT_DRAWINGS:
            return
        place = f"{sheet.title}!{column_letters(cell.column)}{number}"
        if cell.note:
            sheet.add(place, note_text(cell.note, cell.note_author))
        if cell.drawings is not None:
            _collect_drawings(package, cell.drawings, place, sheet)


def _collect_drawings(package: XmlPackage | None, node: Element, place: str, sheet: _Sheet) -> None:
    for part in node.iter("{*}object", "{*}text-box", "{*}custom-shape"):
        if local(part) != "object":
            sheet.add(place, words(part))
        elif package is not None and len(sheet.extras) <= _KEPT_DRAWINGS:
            found = sheet.charts.chart(partial(_chart, package, attribute(part, "href")), place)
            sheet.add(place, found.words)
            sheet.extras += sheet.charts.tables(found, f"{place}, chart", sheet.headings)


def _chart(package: XmlPackage, href: str) -> DocumentChart:
    root = package.tree(f"{href.removeprefix('./')}/content.xml") if href else None
    return DocumentChart() if root is None else chart(root)
