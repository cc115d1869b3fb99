"""The column that an adjective is about: "longest", "heavier than"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.units import CURRENCIES, unit_of

if TYPE_CHECKING:
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.types import TypedColumn, TypedTable

_MEANT: Final = {
    "price": (
        frozenset({"price"}),
        frozenset({"cost", "rent", "budget"}),
        frozenset({"amount", "tax", "revenue"}),
    ),
    "duration": (frozenset({"duration", "length", "hours", "pages", "distance"}),),
    "size": (frozenset({"size", "population", "capacity"}),),
    "pay": (frozenset({"pay"}),),
    "sales": (frozenset({"revenue", "quantity"}),),
    "quantity": (frozenset({"quantity"}),),
    "money": (frozenset({"price", "revenue", "amount", "cost", "budget", "rent", "tax"}),),
}
"""The later ones if there is none of the earlier."""
UNITS_OF: Final = {
    "price": CURRENCIES,
    "money": CURRENCIES,
    "duration": frozenset({"min", "h", "day", "week"}),
    "weight": frozenset({"g", "kg", "t"}),
    "height": frozenset({"m", "cm"}),
    "distance": frozenset({"km"}),
    "size": frozenset({"m²", "km²"}),
    "age": frozenset({"year"}),
}

_NO_MONEY: Final = frozenset({"quantity", "stock", "hours", "duration", "weight", "height", "distance", "size", "age", "population", "capacity", "attendance", "person", "pages", "score", "year", "speed", "temperature", "length"})  # fmt: skip

SIZES: Final = frozenset(
    {"largest", "biggest", "smallest", "grande", "pequeno", "pequena", "大", "小"}
    | {f"{stem}{end}" for stem in ("großt", "grosst", "kleinst") for end in ("e", "en", "er", "es")}
)


def concepts_of(quality: str) -> frozenset[str]:
    return frozenset[str]().union(*_MEANT.get(quality, (frozenset({quality}),)))


def may_have(unit: str, column: TypedColumn) -> bool:
    own = column_names.header(column.name, "").concepts
    return unit not in CURRENCIES or bool(unit_of(column)) or not own or not own <= _NO_MONEY


def unmet(reading: Interpretation) -> str:
    """ "How old" without an age."""
    question = reading.question
    if reading.columns or reading.titles or any(sign.group == "hints" for sign in reading.signs):
        return ""
    for at in range(len(question.words)):
        end, meaning = question.lexicon.at(question.words, at, "qualities")
        name = meaning.removeprefix("qualities ")
        if name and not columns_for(reading.table, name, question.language):
            return question.spoken(at, end)
    return ""


def columns_for(table: TypedTable, quality: str, language: str) -> tuple[TypedColumn, ...]:
    """Several if it may be about each of them."""
    numbers = [column for column in table.columns if column_names.is_quantity(column, language)]
    if quality in {"price", "money"}:
        numbers = [column for column in numbers if unit_of(column) != "%"]
    of_unit = [column for column in numbers if unit_of(column) in UNITS_OF.get(quality, ())]
    *first, last = _MEANT.get(quality, (frozenset({quality}),))
    for names in first:
        if found := tuple(column for column in numbers if _means(column, names, language)):
            return found
    found = [column for column in numbers if _means(column, last, language)]
    if quality == "price":
        return tuple(column for column in numbers if column in found or column in of_unit)
    return tuple(found or of_unit)


def _means(column: TypedColumn, names: frozenset[str], language: str) -> bool:
    return bool(names & column_names.header(column.name, language).concepts)
