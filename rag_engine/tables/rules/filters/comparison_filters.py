from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.qualities import columns_for, may_have
from rag_engine.tables.rules.headers.units import CURRENCIES, UNITS, factor, scale_of, unit_of
from rag_engine.tables.rules.language.question_words import folded
from rag_engine.tables.rules.query import ColumnFilter, RangeFilter, TextFilter
from rag_engine.tables.rules.refusals import no_column, refused
from rag_engine.tables.rules.results import measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.mentions.comparisons import Comparison
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.types import TypedColumn, TypedTable


def currency_column(table: TypedTable) -> TypedColumn | None:
    """If they differ."""
    found = [
        column
        for column in table.columns
        if column.kind == "text"
        and len(column.values) > 1
        and all(UNITS.get(folded(text)) in CURRENCIES for text in column.values)
    ]
    return found[0] if found else None


def _of_currency(reading: Interpretation, comparison: Comparison, column: TypedColumn) -> Iterator[Filter]:
    currencies = currency_column(reading.table)
    if comparison.unit not in CURRENCIES or unit_of(column) or currencies is None:
        return
    texts = tuple(text for text in currencies.values if UNITS[folded(text)] == comparison.unit)
    if not texts:
        raise refused("unit", reading.table, comparison.unit, currencies.values)
    yield TextFilter(column=currencies, texts=texts)


def compared(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    for contrast in reading.contrasts:
        (column,), (other,) = (one.columns for one in contrast.sides)
        used.extend(one for one in reading.columns if {column, other} & {*one.columns})
        yield ColumnFilter(column=column, operator=contrast.operator, other=other)
    for comparison in reading.comparisons:
        built = period_filters.year_column(reading) if _is_year(comparison) else None
        if built is not None:
            low, high = comparison.high, comparison.low
            yield RangeFilter(column=built, low=low, high=high, includes_low=False)
            continue
        column = _compared_column(reading, comparison, used)
        yield from _of_currency(reading, comparison, column)
        yield RangeFilter(
            column=column,
            low=_in_unit(comparison.low, comparison, column),
            high=_in_unit(comparison.high, comparison, column),
            includes_low=comparison.includes_low,
            includes_high=comparison.includes_high,
        )


def _is_year(comparison: Comparison) -> bool:
    said = comparison.low or comparison.high or 0
    return comparison.concept == "age" and not comparison.unit and 1900 <= said <= 2099


def _in_unit(value: float | None, comparison: Comparison, column: TypedColumn) -> float | None:
    if value is None:
        return None
    scale = scale_of(column)
    made = value / scale if scale > 1 and value >= scale else value
    made *= factor(comparison.unit, unit_of(column)) or 1.0
    return int(made) if made == int(made) else round(made, 9)


def _compared_column(
    reading: Interpretation, comparison: Comparison, used: list[ColumnMention]
) -> TypedColumn:
    language = reading.question.language
    if comparison.concept:
        numeric = _of_unit(comparison, columns_for(reading.table, comparison.concept, language))
        if len(numeric) == 1:
            _check_unit(reading, comparison, numeric[0])
            return numeric[0]
        if numeric:
            said = reading.question.spoken(comparison.start, comparison.end)
            raise refused("choice", reading.table, said, [column.name for column in numeric])
        raise no_column(reading.table, reading.question.spoken(comparison.start, comparison.end))
    for mention in reading.columns:
        before = reading.question.is_beside(mention.end, comparison.start)
        after = reading.question.is_beside(comparison.end, mention.start)
        if not before and not after:
            continue
        numeric = [column for column in mention.columns if column_names.is_quantity(column, language)]
        if len(numeric) == 1:
            _check_unit(reading, comparison, numeric[0])
            used.append(mention)
            return numeric[0]
        if after and not comparison.unit and language != "zh":
            raise refused("question", reading.table)
    possible = [column for column in reading.table.columns if column_names.is_quantity(column, language)]
    possible = _of_unit(comparison, possible)
    hinted = measures.fitting_hints(reading, possible)
    possible = hinted if hinted else possible
    named = {column.sql_name for mention in reading.columns for column in mention.columns}
    spoken = [column for column in possible if column.sql_name in named]
    chosen = spoken if len(spoken) == 1 else possible
    if len(chosen) > 1 and comparison.unit in CURRENCIES:
        chosen = [column for column in chosen if column_names.adds_up(column, language)] or chosen
    if len(chosen) != 1:
        names = [column.name for column in chosen]
        said = reading.question.spoken(comparison.start, comparison.end)
        raise refused("choice", reading.table, said, names) if names else no_column(reading.table, said)
    _check_unit(reading, comparison, chosen[0])
    return chosen[0]


def _of_unit(comparison: Comparison, possible: Sequence[TypedColumn]) -> list[TypedColumn]:
    if not comparison.unit:
        return list(possible)
    same = [column for column in possible if unit_of(column) == comparison.unit]
    alike = [column for column in possible if unit_of(column) and factor(comparison.unit, unit_of(column))]
    return (
        same
        or alike
        or [column for column in possible if not unit_of(column) and may_have(comparison.unit, column)]
    )


def _check_unit(reading: Interpretation, comparison: Comparison, column: TypedColumn) -> None:
    if factor(comparison.unit, unit_of(column)) is None or not may_have(comparison.unit, column):
        raise refused("unit", reading.table, comparison.unit, [unit_of(column) or column.name])
