from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.filters.conditions import period_alternatives, text_filters
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.query import Difference, Measure, Share, Side, TextFilter
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.results import measures
from rag_engine.tables.rules.titles import is_money, names_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Filter, Function
    from rag_engine.tables.types import TypedColumn

_COPULAS = frozenset(
    {
        "are",
        "were",
        "is",
        "was",
        "sind",
        "waren",
        "ist",
        "war",
        "son",
        "eran",
        "es",
        "era",
        "sont",
        "etaient",
        "est",
        "etait",
        "是",
    }
)
_PAIR = 2


def share(reading: Interpretation, stated: Conditions) -> Share:
    """Dates are conditions of the whole, the other is the part."""
    _check_plain(reading)
    whole, values = _around_verb(reading, stated)
    part: Sequence[Filter] = values or stated.others
    if len(part) != 1 or (values and stated.others):
        raise refused("question", reading.table)
    return Share(
        table=reading.table,
        measure=_measure_of_share(reading, stated),
        part=tuple(part),
        filters=(*whole, *period_alternatives(stated.periods)),
    )


def _around_verb(reading: Interpretation, stated: Conditions) -> tuple[list[Filter], list[Filter]]:
    verbs = [at for at, word in enumerate(reading.question.words) if word.folded in _COPULAS]
    before = tuple(one for one in stated.values if verbs and one.mention.start < verbs[-1])
    after = tuple(one for one in stated.values if one not in before)
    if before and not after and any(one.start > verbs[-1] for one in reading.periods):
        raise refused("question", reading.table)
    if not (before and after) or {one.column for one in before} & {one.column for one in after}:
        return [], text_filters(stated.values)
    return text_filters(before), text_filters(after)


def _measure_of_share(reading: Interpretation, stated: Conditions) -> Measure:
    language = reading.question.language
    numeric = measures.named(reading, stated.rest)
    nouns = [one for one in stated.rest if one not in numeric]
    if any(sign.group == "hints" for sign in reading.signs) or numeric:
        if any(not one.is_title for one in nouns) or len(numeric) > 1:
            raise refused("question", reading.table)
        found = measures.measured(reading, stated, numeric)[0][0]
        if not all(column_names.adds_up(column, language) for column in found):
            raise refused("choice", reading.table, "", [column.name for column in found])
        return Measure(function="sum", columns=found)
    if any(is_money(reading, one) for one in (*reading.titles, *nouns)):
        found = measures.measured(reading, stated, ())[0][0]
        return Measure(function="sum", columns=found)
    counted = all(
        one.is_title
        or any(measures.is_unique(reading.table, column) for column in one.columns)
        or any(value.column in one.columns for value in stated.values)
        for one in nouns
    )
    has_numbers = any(column_names.adds_up(column, language) for column in reading.table.columns)
    if not counted or (not nouns and has_numbers and not _counts_rows(reading)):
        raise refused("question", reading.table)
    return Measure(function="count")


def _counts_rows(reading: Interpretation) -> bool:
    return any(names_rows(reading, title.start, title.end) for title in reading.titles)


def difference(reading: Interpretation, stated: Conditions) -> Difference:
    _check_plain(reading)
    chosen = reading.question
    values = stated.values
    column = {value.column.sql_name for value in values}
    pairs = {name: [one for one in values if one.column.sql_name == name] for name in column}
    pair = [found for found in pairs.values() if len(found) == _PAIR]
    periods = list(zip(stated.periods, reading.periods, strict=True))
    if len(pair) == 1 and len(stated.periods) <= 1:
        sides = [
            Side(name=chosen.spoken(one.mention.start, one.mention.end), filters=tuple(text_filters((one,))))
            for one in pair[0]
        ]
        rest = [one for one in values if one not in pair[0]]
        filters = (*text_filters(tuple(rest)), *period_alternatives(stated.periods), *stated.others)
        return _between(reading, stated, sides, filters)
    if len(periods) == _PAIR and not pair:
        if reading.has("change"):
            periods.sort(key=lambda one: (one[1].period.bounds, sorted(one[1].period.months)), reverse=True)
        sides = [
            Side(name=chosen.spoken(one.start, one.end), filters=placed.filters, columns=placed.columns)
            for placed, one in periods
        ]
        return _between(reading, stated, sides, (*text_filters(values), *stated.others))
    return _of_columns(reading, stated)


def _of_columns(reading: Interpretation, stated: Conditions) -> Difference:
    numeric = measures.named(reading, stated.rest)
    if len(numeric) != _PAIR or reading.has("change"):
        raise refused("question", reading.table)
    _check_rest(reading, stated.rest, numeric)
    found = measures.measured(reading, stated, numeric)
    if len(found) != _PAIR:
        raise refused("question", reading.table)
    sides = [Side(name=" / ".join(column.name for column in each), columns=each) for each, _ in found]
    measure = Measure(function="average" if reading.has("average") else "sum", columns=found[0][0])
    return Difference(
        table=reading.table, measure=measure, first=sides[0], second=sides[1], filters=stated.filters
    )


def _between(
    reading: Interpretation, stated: Conditions, sides: Sequence[Side], filters: Sequence[Filter]
) -> Difference:
    numeric = measures.named(reading, stated.rest)
    _check_rest(reading, stated.rest, numeric)
    if all(side.columns for side in sides):
        if {len(side.columns) for side in sides} != {1} and not reading.has("sum", "much"):
            raise refused("question", reading.table)
        if numeric and not all(column in numeric[0].columns for side in sides for column in side.columns):
            raise refused("question", reading.table)
        measure = Measure(function="sum", columns=sides[0].columns)
    else:
        found = measures.measured(reading, stated, numeric)
        if len(found) != 1:
            raise refused("question", reading.table)
        measure = Measure(function=_function(reading, sides, found[0][0]), columns=found[0][0])
    return Difference(
        table=reading.table, measure=measure, first=sides[0], second=sides[1], filters=tuple(filters)
    )


def _function(reading: Interpretation, sides: Sequence[Side], found: Sequence[TypedColumn]) -> Function:
    if reading.has("average"):
        return "average"
    language = reading.question.language
    adds = all(column_names.adds_up(column, language) for column in found)
    if not adds and not all(_is_one_row(reading, side) for side in sides):
        raise refused("choice", reading.table, "", [column.name for column in found])
    return "sum"


def _is_one_row(reading: Interpretation, side: Side) -> bool:
    return any(
        isinstance(one, TextFilter) and measures.is_unique(reading.table, one.column) and len(one.texts) == 1
        for one in side.filters
    )


def _check_rest(
    reading: Interpretation, rest: Sequence[ColumnMention], used: Sequence[ColumnMention]
) -> None:
    for one in rest:
        if one not in used and not one.is_title:
            raise refused("question", reading.table)


def _check_plain(reading: Interpretation) -> None:
    odd = any(sign.group in {"groups", "superlatives"} for sign in reading.signs)
    if odd or reading.has("median", "most", "least", "count", "different"):
        raise refused("question", reading.table)
