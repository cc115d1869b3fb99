from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers.sheets._cells.date_formats import (
    LITERAL,
    LONGEST_FORMAT,
    is_date_format,
    is_duration,
    moment,
)

if TYPE_CHECKING:
    from rag_engine.text.table_anchors import Cell

_CURRENCY: Final = re.compile(r"\[\$([^\]-]+)[^\]]*\]|([€$£¥₹₽]|\b(?:EUR|USD|GBP|CHF|JPY)\b|\bkr\b|zł)")
_DATE_LETTERS: Final = re.compile(r"[yd]|(?<!h:)(?<!h:m)m(?!m?:s)", re.IGNORECASE)


class TypedText(str):
    """As displayed, with its `value` (a number or an ISO date) and `unit`."""

    __slots__ = ("unit", "value")

    value: float | str
    unit: str


def typed(text: str, value: float | str, unit: str = "") -> TypedText:
    made = TypedText(text)
    made.value, made.unit = value, unit
    return made


def typed_number(text: str, value: float, number_format: str, *, epoch: datetime.datetime) -> str:
    """Percentages as displayed (12 for 12 %), durations in hours; times of day stay text."""
    number_format = number_format[:LONGEST_FORMAT]
    masked = LITERAL.sub(lambda match: "\x00" * len(match.group()), number_format.partition(";")[0])
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if number_format in {"General", "@", ""} or not text:
        return typed(text, value)
    if is_duration(masked):
        return typed(text, round(value * 24, 9), "h")
    if is_date_format(masked) and not re.search(r"[#0?]", masked):
        date = moment(value, epoch=epoch)
        return typed(text, iso_date(date)) if date and _DATE_LETTERS.search(masked) else text
    if masked.count("%") == 1:
        return typed(text, float(f"{value * 100:.15g}"), "%")
    found = _CURRENCY.search(number_format)
    return typed(text, value, (found[1] or found[2]).strip() if found else "")


def iso_date(value: datetime.datetime | datetime.date) -> str:
    if isinstance(value, datetime.datetime) and value.time() != datetime.time():
        return value.isoformat(sep=" ", timespec="minutes")
    return value.isoformat()[:10]


def cell_of(text: str) -> Cell:
    return (str(text), text.value, text.unit) if isinstance(text, TypedText) else text
