from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from rag_engine.errors import FileTooLarge
from rag_engine.parsers._shared.sections import is_blank
from rag_engine.parsers._xml.parts import Element, descendants, local
from rag_engine.parsers.sheets._cells.grid import LAST_COLUMN, Area, column_number
from rag_engine.parsers.sheets._cells.number_formats import format_value, plain
from rag_engine.parsers.sheets._cells.typed_cells import typed_number

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence

_ESCAPED: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_AREA: Final = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?")
_NEWER_FUNCTION: Final = re.compile(r"_xl(?:fn|ws|udf|pm)\.")
_ISO_DATE: Final = re.compile(r"(\d{4}-\d\d-\d\d)T00:00:00(?:\.0+)?Z?")
_MOST_REPEATED: Final = 128 << 20
_LONG: Final = 256
_MOST_CACHED: Final = 200_000


class Strings(Protocol):
    def __getitem__(self, index: int) -> str: ...


class CellReader:
    def __init__(self, *, strings: Strings, formats: Sequence[str], epoch: datetime.datetime) -> None:
        self._strings = strings
        self._formats = formats
        self._epoch = epoch
        self._columns: dict[str, int] = {}
        self._numbers: dict[tuple[str, str], str] = {}
        self._repeated = 0

    def row(self, node: Element) -> dict[int, str]:
        filled: dict[int, str] = {}
        column = 0
        for cell in node:
            reference = cell.get("r")
            column = self._column(reference) if reference else column + 1
            if not 0 < column <= LAST_COLUMN or not len(cell):
                continue
            text = self._text(cell)
            if text and (text.isalnum() or not is_blank(text)):
                filled[column] = text
        return filled

    def _column(self, reference: str) -> int:
        letters = reference.rstrip("0123456789")
        found = self._columns.get(letters)
        if found is None:
            match = _REFERENCE.fullmatch(reference)
            found = column_number(match[1]) if match else 0
            if len(self._columns) <= LAST_COLUMN:
                self._columns[letters] = found
        return found

    def _text(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        value: str | None = None
        formula: Element | None = None
        for part in cell:
            name = local(part)
            if name == "v":
                value = part.text
            elif name == "f":
                formula = part
            elif name == "is":
                return string_text(part)
        if kind == "s":
            return self._shared(value)
        if value is None or (not value.strip() and kind != "str"):
            return _formula(formula) if formula is not None and kind != "str" else ""
        if kind == "n":
            return self._number(value, cell.get("s", "0"))
        if kind == "b":
            return "TRUE" if value.strip() in {"1", "true"} else "FALSE"
        if kind == "d":
            date = _ISO_DATE.fullmatch(value.strip())
            return date[1] if date else value.strip().replace("T", " ")
        return unescaped(value)

    def _shared(self, value: str | None) -> str:
        if value is None or not value.strip():
            return ""
        text = self._strings[int(value)]
        if len(text) > _LONG:
            self._repeated += len(text)
            if self._repeated > _MOST_REPEATED:
                raise FileTooLarge(
                    "The spreadsheet shows the same long texts over and over, far more than can be searched; "
                    "split it into smaller files."
                )
        return text

    def _number(self, value: str, style: str) -> str:
        known = self._numbers.get((value, style))
        if known is None:
            known = self._shown(value, style)
            if len(self._numbers) < _MOST_CACHED:
                self._numbers[value, style] = known
        return known

    def _shown(self, value: str, style: str) -> str:
        index = int(style) if style.isdecimal() else 0
        number_format = self._formats[index] if index < len(self._formats) else "General"
        try:
            number = int(value) if value.lstrip("-").isdecimal() and len(value) < 16 else float(value)
        except ValueError:
            return value
        text = (
            format_value(number, number_format, epoch=self._epoch)
            if number_format != "General"
            else plain(number)
        )
        return typed_number(text, number, number_format, epoch=self._epoch)


def _formula(node: Element) -> str:
    text = (node.text or "").strip()
    return f"={_NEWER_FUNCTION.sub('', text)}" if text else ""


def string_text(node: Element) -> str:
    if len(node) == 1 and local(node[0]) == "t":
        return unescaped(node[0].text or "")
    return unescaped(
        "".join(
            run.text or ""
            for run in descendants(node, "t")
            if (parent := run.getparent()) is not None and local(parent) != "rPh"
        )
    )


def unescaped(text: str) -> str:
    """Such as _x000D_, for characters that XML cannot hold."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def area_of(reference: str) -> Area | None:
    match = _AREA.fullmatch(reference)
    if match is None:
        return None
    columns = sorted((column_number(match[1]), column_number(match[3] or match[1])))
    rows = sorted((int(match[2]), int(match[4] or match[2])))
    return Area(first_row=rows[0], last_row=rows[1], first_column=columns[0], last_column=columns[1])
