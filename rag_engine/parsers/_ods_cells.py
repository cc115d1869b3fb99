"""The cells of one row of an OpenDocument sheet: the paragraphs as they were shown, notes and drawings apart from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._grid import LAST_COLUMN
from rag_engine.parsers._sections import is_blank, one_line
from rag_engine.parsers._xml_parts import attribute, descendants, local

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._xml_parts import Element, Package

_MOST_REPEATED: Final = 256
"""Columns: a text that says it fills a thousand cells is written so often at the most."""
_MOST_BLANKS: Final = 200
_NAMESPACE_OF_FORMULA: Final = re.compile(r"^[a-z]+:(?==)")
_REFERENCE: Final = re.compile(r"\[\.?([^\]]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell that shows or carries something; `columns` and `rows` are what it covers."""

    column: int
    text: str
    columns: int = 1
    rows: int = 1
    note: str = ""
    note_author: str = ""
    drawings: Element | None = None


def cells_of(row: Element) -> Iterator[Cell]:
    """The cells of a row that are not empty, repeated ones each for itself."""
    column = 1
    for node in row:
        name = local(node)
        if name not in {"table-cell", "covered-table-cell"}:
            continue
        repeated = _number(attribute(node, "number-columns-repeated"))
        if column > LAST_COLUMN:
            return
        if name == "table-cell" and len(node):
            yield from _cells(node, column, min(repeated, _MOST_REPEATED, LAST_COLUMN + 1 - column))
        elif name == "table-cell" and node.attrib:
            text = _value(node)
            if text:
                for offset in range(min(repeated, _MOST_REPEATED)):
                    yield Cell(column=column + offset, text=text)
        column += repeated


def _cells(node: Element, column: int, repeated: int) -> Iterator[Cell]:
    text = _shown(node) or _value(node)
    note = next((part for part in node if local(part) == "annotation"), None)
    author = "" if note is None else next((part.text or "" for part in descendants(note, "creator")), "")
    has_drawings = any(local(part) in {"frame", "custom-shape", "g"} for part in node)
    for offset in range(repeated):
        yield Cell(
            column=column + offset,
            text="" if is_blank(text) else text,
            columns=_number(attribute(node, "number-columns-spanned")),
            rows=_number(attribute(node, "number-rows-spanned")),
            note="" if note is None or offset else words(note),
            note_author=author,
            drawings=node if has_drawings and not offset else None,
        )


def _shown(node: Element) -> str:
    """The paragraphs of the cell itself."""
    return "\n".join(paragraph_text(part) for part in node if local(part) == "p")


def words(node: Element) -> str:
    """All paragraphs in a note or a shape."""
    return "\n".join(filter(None, (one_line(paragraph_text(part)) for part in descendants(node, "p"))))


def paragraph_text(node: Element) -> str:
    """The text of a paragraph; runs of blanks and tabs are elements of their own. How it is pronounced is left out."""
    pieces = [node.text or ""]
    for part in node:
        name = local(part)
        if name == "s":
            pieces.append(" " * min(_number(attribute(part, "c")), _MOST_BLANKS))
        elif name in {"tab", "line-break"}:
            pieces.append("\t" if name == "tab" else "\n")
        elif name not in {"ruby-text", "annotation", "frame", "custom-shape"}:
            pieces.append(paragraph_text(part))
        pieces.append(part.tail or "")
    return "".join(pieces)


def _value(node: Element) -> str:
    """The value of a cell without a paragraph: some programs write only that, or only the formula."""
    kind = attribute(node, "value-type")
    if kind == "boolean":
        return attribute(node, "boolean-value").upper()
    for name in ("date-value", "time-value", "string-value"):
        if kind == name.partition("-")[0]:
            return attribute(node, name)
    if kind:
        value = attribute(node, "value")
        return f"{float(value) * 100:.10g}%" if kind == "percentage" and value else value
    formula = _NAMESPACE_OF_FORMULA.sub("", attribute(node, "formula"))
    return _REFERENCE.sub(lambda match: match[1].replace(":.", ":"), formula)


def chart_titles(package: Package | None, href: str) -> str:
    """The titles of an embedded chart; a flat file has no package to embed it in."""
    root = package.tree(f"{href.removeprefix('./')}/content.xml") if href and package is not None else None
    if root is None:
        return ""
    found = [words(title) for title in root.iter("{*}title", "{*}subtitle")]
    found = [one_line(title) for title in found if title]
    if not found:
        return ""
    return f"Chart: {found[0]}" + (f" ({'; '.join(found[1:])})" if len(found) > 1 else "")


def _number(told: str) -> int:
    return max(int(told), 1) if told.isdecimal() and len(told) < 10 else 1
