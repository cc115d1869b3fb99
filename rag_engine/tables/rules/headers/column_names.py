"""What a header says of its column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.units import CURRENCIES, UNITS, unit_of, unit_of_header
from rag_engine.tables.rules.language.lexicon import concepts, concepts_at
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions import periods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.mentions.time_spans import Period
    from rag_engine.tables.types import TypedColumn, TypedTable

LINKS: Final = frozenset(
    [
        "of",
        "the",
        "in",
        "de",
        "del",
        "la",
        "el",
        "los",
        "las",
        "der",
        "die",
        "das",
        "des",
        "per",
        "pro",
        "je",
        "por",
        "a",
        "an",
        "von",
        "的",
        "&",
        "and",
        "und",
        "y",
        "du",
        "le",
        "les",
        "d",
        "l",
    ]
)
CODES: Final = frozenset(
    [
        "id",
        "ids",
        "no",
        "nr",
        "number",
        "nummer",
        "num",
        "numero",
        "n",
        "code",
        "codigo",
        "key",
        "sku",
        "zip",
        "plz",
        "postcode",
        "rank",
        "#",
        "号",
        "phone",
    ]
)
_COUNTED: Final = frozenset(["of", "der", "von", "de"])
_UNITS: Final = frozenset(
    ["€", "$", "£", "¥", "%", "eur", "usd", "gbp", "chf", "euro", "euros", "percent", "元", "万"]
)
_A_YEAR: Final = re.compile(
    r"\bp\. ?a\.|/ ?(?:year|yr|Jahr|año|an)\b|\b(?:annual|yearly|jährlich|anual|annuel)", re.IGNORECASE
)
_RATIO: Final = re.compile(r"(?:\bper|/|\bpro|\bpor|\bpar) ?\d")
_BRACKETS: Final = re.compile(r"[(\[（].*?[)\]）]")
_LIMITS: Final = frozenset(
    {"min", "minimum", "reorder", "target", "limit", "max", "maximum", "threshold", "goal", "quota", "budget", "budgeted", "planned", "plan"}
    | {"mindest", "minimal", "maximal", "soll", "ziel", "grenze", "grenzwert", "meldebestand", "geplant"}
    | {"minimo", "minima", "maximo", "objetivo", "limite", "meta", "presupuesto", "previsto"}
    | {"seuil", "objectif", "prevu", "maximal"}
)  # fmt: skip
_OF_UNITS: Final = {
    unit: frozenset({concept})
    for concept, units in {
        "temperature": ("°C", "°F"),
        "energy": ("kWh", "MWh"),
        "weight": ("kg", "g", "t"),
        "distance": ("km", "mi"),
    }.items()
    for unit in units
}
_OF_MONEY: Final = frozenset({"cost"})
UNSPECIFIC_MONEY: Final = frozenset({"revenue", "cost", "amount"})
ALL_MONEY: Final = UNSPECIFIC_MONEY | {"budget", "profit", "tax", "rent", "donation"}
PIECES: Final = frozenset({"quantity", "stock", "attendance", "person", "capacity"})
_PER_TIME: Final = ALL_MONEY | {"price", "pay", "hours", "use", "distance"}
TIMES: Final = frozenset({"year", "month", "quarter"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    words: tuple[QuestionWord, ...]
    required: frozenset[int]
    """Not of units, links and its period."""
    concepts: frozenset[str]
    period: Period | None
    is_code: bool


@lru_cache(maxsize=8_192)
def header(name: str, language: str) -> Header:
    found = header_words(name, language)
    inside = [match.span() for match in _BRACKETS.finditer(name)]
    spans = periods.within(found)
    timed = {at for start, end, _ in spans for at in range(start, end)}
    named = [
        at
        for at, word in enumerate(found)
        if at not in timed and word.folded not in LINKS | _UNITS and not _is_within(word, inside)
    ]
    codes = [at for at in named if found[at].folded in CODES]
    is_code = bool(codes) and not any(
        at + 1 < len(found) and found[at + 1].folded in _COUNTED for at in codes
    )
    plain = [at for at in named if not (is_code and at in codes)]
    return Header(
        words=found,
        required=frozenset(plain or named),
        concepts=_meant(name, found),
        period=spans[0][2] if len(spans) == 1 else None,
        is_code=is_code,
    )


def _meant(name: str, found: tuple[QuestionWord, ...]) -> frozenset[str]:
    names = _concepts(found) - _OF_MONEY if any(map(_is_time, found)) else _concepts(found)
    names |= _OF_UNITS.get(unit_of_header(name), frozenset[str]())
    return names | {"year"} if _A_YEAR.search(name) else names


def adds_up(column: TypedColumn, language: str) -> bool:
    """Whether a sum of it means anything."""
    known = concepts()[0]
    read = header(column.name, language)
    return (
        is_quantity(column, language)
        and column.unit not in {"%", "‰"}
        and all(known[name].adds_up for name in read.concepts)
        and "%" not in column.name
        and not _RATIO.search(column.name)
    )


def is_quantity(column: TypedColumn, language: str) -> bool:
    """No code, year, month or rank."""
    read = header(column.name, language)
    is_time = bool(read.concepts & TIMES) and read.period is None and not read.concepts & _PER_TIME
    is_time = is_time and unit_of(column) not in CURRENCIES
    return column.kind == "number" and not read.is_code and not is_time


def timed_columns(table: TypedTable, language: str) -> tuple[TypedColumn, ...]:
    """At least two under months, quarters or years."""
    found = tuple(
        column
        for column in table.columns
        if column.kind == "number" and header(column.name, language).period is not None
    )
    return found if len(found) > 1 else ()


def is_limit(name: str, language: str) -> bool:
    """Such as "Minimum stock"."""
    return any(word.folded in _LIMITS for word in header_words(name, language))


def bracketed(name: str, language: str) -> set[str]:
    inside = [match.span() for match in _BRACKETS.finditer(name)]
    return {word.folded for word in header(name, language).words if _is_within(word, inside)}


def _concepts(found: tuple[QuestionWord, ...]) -> frozenset[str]:
    names: set[str] = set()
    at = 0
    while at < len(found):
        end, meant_here = concepts_at(found, at)
        names |= meant_here
        at = max(end, at + 1)
    return frozenset(names - {"quantity"} or names)


def _is_time(word: QuestionWord) -> bool:
    return UNITS.get(word.folded) in {"min", "h"}


def _is_within(word: QuestionWord, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < word.start < end for start, end in spans)
