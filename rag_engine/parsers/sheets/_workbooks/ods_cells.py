from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import is_blank, one_line
from rag_engine.parsers._xml.parts import attribute, descendants, local
from rag_engine.parsers.sheets._cells.grid import LAST_COLUMN
from rag_engine.parsers.sheets._cells.typed_cells import typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._xml.parts import Element

_MOST_REPEATED: Final = 256
_MOST_BLANKS: Final = 200
_NAMESPACE_OF_FORMULA: Final = re.compile(r"^[a-z]+:(?==)")
_REFERENCE: Final = re.compile(r"\[\.?([^\[\]]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OdsCell:
    column: int
    text: str
    columns: int = 1
    rows: int = 1
    note: str = ""
    note_author: str = ""
    drawings: Element | None = None


def cells_of(row: Element) -> Iterator[OdsCell]:
    column = 1
    for node in row:
        name = local(node)
        if name not in {"table-cell", "covered-table-cell"}:
            continue
        repeated = repeat_count(attribute(node, "number-columns-repeated"))
        if column > LAST_COLUMN:
            return
        if name == "table-cell" and len(node):
            yield from _cells(node, column, min(repeated, _MOST_REPEATED, LAST_COLUMN + 1 - column))
        elif name == "table-cell" and node.attrib:
            text = _typed(node, _value(node))
            if text:
                for offset in range(min(repeated, _MOST_REPEATED)):
                    yield OdsCell(column=column + offset, text=text)
        column += repeated


def _cells(node: Element, column: int, repeated: int) -> Iterator[OdsCell]:
    text = _typed(node, _displayed_text(node) or _value(node))
    note = next((part for part in node if local(part) == "annotation"), None)
    author = "" if note is None else next((part.text or "" for part in descendants(note, "creator")), "")
    has_drawings = any(local(part) in {"frame", "custom-shape", "g"} for part in node)
    for offset in range(repeated):
        yield OdsCell(
            column=column + offset,
            text="" if is_blank(text) else text,
            columns=repeat_count(attribute(node, "number-columns-spanned")),
            rows=repeat_count(attribute(node, "number-rows-spanned")),
            note="" if note is None or offset else words(note),
            note_author=author,
            drawings=node if has_drawings and not offset else None,
        )


def _displayed_text(node: Element) -> str:
    return "\n".join(paragraph_text(part) for part in node if local(part) == "p")


def words(node: Element) -> str:
    return "\n".join(filter(None, (one_line(paragraph_text(part)) for part in descendants(node, "p"))))


def paragraph_text(node: Element) -> str:
    pieces = [node.text or ""]
    for part in node:
        name = local(part)
        if name == "s":
            pieces.append(" " * min(repeat_count(attribute(part, "c")), _MOST_BLANKS))
        elif name in {"tab", "line-break"}:
            pieces.append("\t" if name == "tab" else "\n")
        elif name not in {"ruby-text", "annotation", "frame", "custom-shape"}:
            pieces.append(paragraph_text(part))
        pieces.append(part.tail or "")
    return "".join(pieces)


def _value(node: Element) -> str:
    """Some programs store only the value or the formula, not the text."""
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


def _typed(node: Element, text: str) -> str:
    kind, value = attribute(node, "value-type"), attribute(node, "value")
    if not text or kind not in {"float", "percentage", "currency", "date"}:
        return text
    if kind == "date":
        date = attribute(node, "date-value")
        return typed(text, date.removesuffix("T00:00:00").replace("T", " ")[:16]) if date else text
    try:
        number = float(value)
    except ValueError:
        return text
    if kind == "percentage":
        return typed(text, float(f"{number * 100:.15g}"), "%")
    return typed(text, int(number) if number.is_integer() else number, attribute(node, "currency"))


def repeat_count(value: str) -> int:
    return max(int(value), 1) if value.isdecimal() and len(value) < 10 else 1
