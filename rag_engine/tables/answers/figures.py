from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.values import truth
from rag_engine.text.language.months import month_of_year

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.types import ComputedAnswer, ResultColumn, Value

_COMMA: Final = frozenset({"de", "es", "fr", "it", "nl", "pt", "ru"})
_SPACE: Final = frozenset({"fr", "ru"})
_BEFORE: Final = frozenset({"$", "£", "¥", "₹", "€"})
_MONEY: Final = frozenset({"€", "$", "£", "EUR", "USD", "GBP", "CHF"})
_PLACES: Final = 4
_CENT_PLACES: Final = 2
_MONTH: Final = re.compile(r"[12]\d{3}-(?:0[1-9]|1[0-2])(?:-01)?")
_CENTS: Final = re.compile(r"\d[.,]\d\d(?!\d)")
_YEAR_AND_MONTH: Final = len("2025-03")
_FOLDS: Final = re.compile(r"\b(?:count|sum|total|min|max|avg)\s*\(", re.IGNORECASE)
SHOWN_ROWS: Final = 20


def shown_rows(computed: ComputedAnswer, language: str) -> list[list[str]]:
    return readable_rows(computed, language)[:SHOWN_ROWS]


def readable_rows(computed: ComputedAnswer, language: str) -> list[list[str]]:
    rows = computed.rows
    is_month = [
        _holds_months(column, [row[at] for row in rows]) for at, column in enumerate(computed.columns)
    ]
    cents = [_shows_cents(computed, column) for column in computed.columns]
    words = [_truth_words(computed, column) for column in computed.columns]
    places = [_common_places([row[at] for row in rows]) for at in range(len(computed.columns))]
    return [
        [
            _month(value, language)
            if named and value
            else known.get(value) or figure(value, column, language, cents=has_cents, least=least)
            for value, column, named, has_cents, known, least in zip(
                row, computed.columns, is_month, cents, words, places, strict=True
            )
        ]
        for row in rows
    ]


def _common_places(values: Sequence[Value]) -> int:
    numbers = [value for value in values if isinstance(value, float)]
    shown = [_number(value, _PLACES, "en").partition(".")[2] for value in numbers]
    most = max(map(len, shown), default=0)
    return most if most <= _CENT_PLACES else 0


def _truth_words(computed: ComputedAnswer, column: ResultColumn) -> dict[Value, str]:
    if _FOLDS.search(computed.sql):
        return {}
    return {
        int(meant): text
        for source in computed.sources
        for own in source.table.columns
        if own.name == column.name and own.kind == "boolean"
        for text in reversed(own.values)
        if (meant := truth(text)) is not None
    }


def _shows_cents(computed: ComputedAnswer, column: ResultColumn) -> bool:
    return any(
        _CENTS.search(row[at])
        for source in computed.sources
        for at, own in enumerate(source.table.columns)
        if own.name and own.name in column.name
        for row in source.texts
        if at < len(row)
    )


def _holds_months(column: ResultColumn, values: Sequence[Value]) -> bool:
    texts = [value for value in values if value is not None]
    if not texts or not all(isinstance(text, str) and _MONTH.fullmatch(text) for text in texts):
        return False
    is_named = any("month" in names for names in _concepts(column.name))
    return is_named or all(len(str(text)) == _YEAR_AND_MONTH for text in texts)


def _concepts(name: str) -> Iterator[frozenset[str]]:
    words = header_words(name, "")
    return (concepts_at(words, at)[1] for at in range(len(words)))


def _month(value: Value, language: str) -> str:
    year, month = str(value)[:_YEAR_AND_MONTH].split("-")
    return month_of_year(int(year), int(month), language)


def figure(value: Value, column: ResultColumn, language: str, *, cents: bool = False, least: int = 0) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    has_cents = column.unit in _MONEY or (cents and not isinstance(value, int) and value == round(value, 2))
    text = _number(value, _CENT_PLACES if has_cents else _PLACES, language, least=least)
    if not column.unit:
        # A year has no separators.
        first = 1000 if any("year" in names for names in _concepts(column.name)) else 1900
        is_year = isinstance(value, int) and first <= value <= 2100
        return str(value) if is_year else text
    if column.unit in _BEFORE and language == "en":
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        return f"{sign}{column.unit}{digits}"
    return f"{text} {column.unit}"


def _number(value: float, places: int, language: str, *, least: int = 0) -> str:
    if least:
        text = f"{value:,.{_CENT_PLACES if places == _CENT_PLACES else least}f}"
    elif isinstance(value, int):
        text = f"{value:,}"
    elif value and abs(value) < 10**-places:
        text = f"{value:.4g}"
    else:
        text = f"{value:,.{places}f}"
        text = text.rstrip("0").rstrip(".") if places != _CENT_PLACES or text.endswith(".00") else text
    if language not in _COMMA:
        return text
    thousands = "\u202f" if language in _SPACE else "."
    return text.replace(",", "\x00").replace(".", ",").replace("\x00", thousands)


def markdown_table(computed: ComputedAnswer, language: str) -> str:
    """The first rows."""
    header = [_cell(column.name) for column in computed.columns]
    lines = [header, ["---:" if _is_numeric(computed, at) else "---" for at in range(len(header))]]
    lines += [[_cell(cell) for cell in cells] for cells in shown_rows(computed, language)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_numeric(computed: ComputedAnswer, at: int) -> bool:
    values = [row[at] for row in computed.rows if row[at] is not None]
    is_number = bool(values) and all(isinstance(value, int | float) for value in values)
    return is_number and not _truth_words(computed, computed.columns[at])


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
