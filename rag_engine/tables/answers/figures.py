"""As people read them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.tables.types import ComputedAnswer, ResultColumn, Value

_COMMA: Final = frozenset({"de", "es", "fr", "it", "nl", "pt", "ru"})
_SPACE: Final = frozenset({"fr", "ru"})
_BEFORE: Final = frozenset({"$", "£", "¥", "₹", "€"})
_MONEY: Final = frozenset({"€", "$", "£", "EUR", "USD", "GBP", "CHF"})
_PLACES: Final = 4
SHOWN_ROWS: Final = 20


def figure(value: Value, column: ResultColumn, language: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    text = _number(value, 2 if column.unit in _MONEY else _PLACES, language)
    if not column.unit:
        # A year has no separators.
        is_year = isinstance(value, int) and 1000 <= value <= 9999
        return str(value) if is_year else text
    if column.unit in _BEFORE and language == "en":
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        return f"{sign}{column.unit}{digits}"
    return f"{text} {column.unit}"


def _number(value: float, places: int, language: str) -> str:
    if isinstance(value, int):
        text = f"{value:,}"
    elif value and abs(value) < 10**-places:
        text = f"{value:.4g}"
    else:
        text = f"{value:,.{places}f}"
        text = text.rstrip("0").rstrip(".") if places != 2 or text.endswith(".00") else text
    if language not in _COMMA:
        return text
    thousands = "\u202f" if language in _SPACE else "."
    return text.replace(",", "\x00").replace(".", ",").replace("\x00", thousands)


def markdown_table(computed: ComputedAnswer, language: str) -> str:
    """The first rows."""
    header = [_cell(column.name) for column in computed.columns]
    lines = [header, ["---"] * len(header)]
    for row in computed.rows[:SHOWN_ROWS]:
        cells = zip(row, computed.columns, strict=True)
        lines.append([_cell(figure(value, column, language)) for value, column in cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|") or " "


def csv_text(computed: ComputedAnswer) -> str:
    """What a spreadsheet would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_harmless(column.name) for column in computed.columns])
    writer.writerows([_harmless(value) for value in row] for row in computed.rows)
    return out.getvalue()


def _harmless(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value
