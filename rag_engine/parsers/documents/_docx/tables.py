from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import MC, W, chosen_alternative, is_on, number, value
from rag_engine.parsers._ooxml.tables import OoxmlCell
from rag_engine.parsers.documents._docx.text import shows_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._ooxml.package import Element

_CONTAINERS: Final = frozenset(
    f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag")
)
_SHORT: Final = frozenset({f"{W}tcPr", f"{W}p"})
_MOST_PARAGRAPHS: Final = 2
_LONGEST_CELL: Final = 600


def children(parent: Element, *tags: str) -> Iterator[Element]:
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag in _CONTAINERS:
            if child.tag != f"{W}sdt" or not (shows_prompt(child) or is_contents(child)):
                yield from children(child, *tags)
        elif child.tag == f"{MC}AlternateContent":
            for one in chosen_alternative(child):
                if one.tag in tags:
                    yield one
                else:
                    yield from children(one, *tags)


def blocks_of(parent: Element) -> Iterator[Element]:
    return children(parent, f"{W}p", f"{W}tbl")


def rows_of(table: Element) -> Iterator[Element]:
    return children(table, f"{W}tr")


def cells_of(row: Element) -> Iterator[Element]:
    for cell in children(row, f"{W}tc"):
        if not any(one.tag == f"{W}cellDel" for one in _properties(cell)):
            yield cell


def is_contents(control: Element) -> bool:
    gallery = value(control, f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
    return gallery is not None and gallery.lower() in {"table of contents", "table of figures"}


def is_removed(row: Element) -> bool:
    properties = row.find(f"{W}trPr")
    return properties is not None and (
        properties.find(f"{W}del") is not None or is_on(properties, f"{W}hidden")
    )


def is_header(row: Element) -> bool:
    properties = row.find(f"{W}trPr")
    return properties is not None and is_on(properties, f"{W}tblHeader")


def caption_of(row: Element) -> str:
    table = next(row.iterancestors(f"{W}tbl"), None)
    return "" if table is None else value(table, f"{W}tblPr/{W}tblCaption") or ""


def cell_of(element: Element, text: str) -> OoxmlCell:
    columns, merge, is_rest = 1, None, False
    for one in _properties(element):
        if one.tag == f"{W}gridSpan":
            columns = number(one.get(f"{W}val"), 1)
        elif one.tag == f"{W}vMerge":
            merge = one.get(f"{W}val") or "continue"
        elif one.tag == f"{W}hMerge":
            # Old files merge cells horizontally this way.
            is_rest = (one.get(f"{W}val") or "continue") == "continue"
    return OoxmlCell(
        text="" if is_rest else text,
        columns=columns,
        continues=merge == "continue",
        begins=merge == "restart",
    )


def _properties(cell: Element) -> Iterator[Element]:
    for child in cell:
        if child.tag == f"{W}tcPr":
            yield from child
        return


def is_layout(row: Element) -> bool:
    cells = list(cells_of(row))
    if len(cells) == 1 and cell_of(cells[0], "").columns == 1:
        return not _in_wide_table(row)
    return any(map(_holds_text, cells))


def _in_wide_table(row: Element) -> bool:
    table = next(row.iterancestors(f"{W}tbl"), None)
    return table is not None and len(list(table.iterfind(f"{W}tblGrid/{W}gridCol"))) > 1


def _holds_text(cell: Element) -> bool:
    if len(cell) <= _MOST_PARAGRAPHS and all(child.tag in _SHORT for child in cell):
        return False
    for table in children(cell, f"{W}tbl"):
        rows = [len(list(cells_of(row))) for row in rows_of(table)]
        if len(rows) > 1 and max(rows) > 1:
            return True
    paragraphs = [
        sum(len(found.text or "") for found in one.iter(f"{W}t")) for one in children(cell, f"{W}p")
    ]
    return sum(1 for size in paragraphs if size) > _MOST_PARAGRAPHS and sum(paragraphs) > _LONGEST_CELL
