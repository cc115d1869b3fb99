from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.filters.completeness import check_used
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.qualities import SIZES, columns_for
from rag_engine.tables.rules.query import FOLDING, Aggregate, Grouping, Measure, RowList, Superlative
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.results import measures
from rag_engine.tables.rules.results.counted_extremes import (
    BARE,
    counts,
    counts_events,
    grouped_ranking,
    most_events,
    most_rows,
)
from rag_engine.tables.rules.results.entities import asked_entity, group_columns, joined_entity
from rag_engine.tables.rules.results.ranked_columns import ranked_column
from rag_engine.tables.rules.results.superlatives import extreme
from rag_engine.tables.rules.titles import is_money

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Function, TableQuery
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn

_Measured: TypeAlias = "tuple[tuple[TypedColumn, ...], ColumnMention | None]"


def extremes(reading: Interpretation, stated: Conditions, signs: Sequence[Sign]) -> TableQuery:
    groups, rest = group_columns(reading, stated.rest)
    if len(signs) > 1:
        return _both_extremes(reading, stated, signs, groups, rest)
    (sign,) = signs
    entity, rest = asked_entity(reading, sign, rest)
    limit = _limit(reading, sign, stated)
    if entity is not None:
        rest = tuple(one for one in rest if set(one.columns) != {entity.column})
    if entity is not None and (second := joined_entity(reading, entity, rest)) is not None:
        return _ranked_pair(reading, stated, sign, (entity, second[0]), second[1], limit)
    if sign.name.endswith(" frequency") or (
        entity is not None and counts_events(reading, sign, entity, rest)
    ):
        return most_events(reading, stated, sign, entity, rest, limit)
    if sign.group == "superlatives":
        return _superlative(reading, stated, sign, entity, rest, limit)
    if reading.has("count") or (entity and counts(reading, stated, sign, entity, rest)):
        return most_rows(reading, stated, sign, entity, rest, limit)
    each, mention = _ranked_by(reading, stated, sign, rest)
    check_used(reading, rest, [mention])
    if entity is None:
        column, *more = each
        if more:
            raise refused("choice", reading.table, "", [one.name for one in each])
        if folding(reading):
            raise refused("question", reading.table)
        if limit > 1 or places(reading) or (_asks_for_row(reading, rest) and not groups):
            shown = (*measures.shown_names(reading), column)
            return _ranked_rows(reading, stated, shown, column, sign, limit)
        made = Measure(function=extreme(sign) or "most", columns=each)
        return Aggregate(table=reading.table, measures=(made,), filters=stated.filters, groups=groups)
    if groups:
        raise refused("question", reading.table)
    return _ranked(reading, stated, sign, entity, each, limit)


def _ranked_by(
    reading: Interpretation, stated: Conditions, sign: Sign, rest: Sequence[ColumnMention]
) -> _Measured:
    found = _by_size(reading, stated, sign, rest) or measures.measured(reading, stated, rest)
    each, mention = found[0] if len(found) == 1 else _nearest(reading, sign, found)
    if (
        mention is None
        and _is_of_a_thing(reading, sign)
        and any(measures.is_money_column(column, reading.question.language) for column in each)
    ):
        raise refused("choice", reading.table, "", [column.name for column in each])
    return each, mention


def places(reading: Interpretation) -> list[Sign]:
    return [sign for sign in reading.signs if sign.group == "ordinals"]


def ranked_in_place(reading: Interpretation, query: TableQuery) -> TableQuery:
    """ "The second highest"."""
    stated = places(reading)
    if not stated:
        return query
    if len(stated) > 1 or not isinstance(query, Aggregate | RowList) or query.ranking is None:
        raise refused("question", reading.table)
    ranked = [sign for sign in reading.signs if extreme(sign)]
    named = {at for one in (*reading.columns, *reading.titles) for at in range(one.start, one.end)}
    between = range(stated[0].end, ranked[0].start)
    question = reading.question
    is_led = stated[0].end <= ranked[0].start and all(
        at in named or question.is_filler(question.words[at]) for at in between
    )
    if query.ranking.limit > 1 or not is_led:
        raise refused("question", reading.table)
    return replace(query, ranking=replace(query.ranking, nth=int(stated[0].name)))


def _by_size(
    reading: Interpretation, stated: Conditions, sign: Sign, rest: Sequence[ColumnMention]
) -> list[_Measured]:
    if (
        measures.named(reading, rest)
        or stated.under
        or reading.question.words[sign.end - 1].folded not in SIZES
    ):
        return []
    found = columns_for(reading.table, "size", reading.question.language)
    if len(found) > 1:
        raise refused(
            "choice",
            reading.table,
            reading.question.spoken(sign.start, sign.end),
            [column.name for column in found],
        )
    return [(found, None)] if found else []


def _is_of_a_thing(reading: Interpretation, sign: Sign) -> bool:
    question = reading.question
    is_bare = question.words[sign.end - 1].folded in BARE
    hinted = any(one.group == "hints" for one in reading.signs)
    is_noun = (
        question.lexicon.at(question.words, sign.end, "nouns")[0] > sign.end
        if sign.end < len(question.words)
        else False
    )
    return (
        is_bare
        and not hinted
        and (is_noun or any(question.is_beside(sign.end, one.start) for one in reading.values))
    )


def _asks_for_row(reading: Interpretation, rest: Sequence[ColumnMention]) -> bool:
    labels = measures.label_columns(reading.table, reading.question.language)
    if any(one.share == 1 and one.columns == labels for one in rest):
        return True
    if any(measures.is_row_noun(reading, one) for one in rest):
        return True
    return any(
        sign.group == "asked"
        and sign.name == "which"
        and (
            (reading.question.is_loose and reading.question.words[sign.start].folded != "what")
            or any(reading.question.is_beside(sign.end, title.start) for title in reading.titles)
        )
        for sign in reading.signs
    )


def _ranked(
    reading: Interpretation,
    stated: Conditions,
    sign: Sign,
    entity: Grouping,
    each: tuple[TypedColumn, ...],
    limit: int,
) -> TableQuery:
    function = folding(reading)
    is_row = measures.is_unique(reading.table, entity.column) and not entity.unit
    adds = all(column_names.adds_up(column, reading.question.language) for column in each)
    (column, *more) = each
    if function == "median" and more:
        raise refused("question", reading.table)
    if not function and not adds and not is_row and _is_sum_of_rows(reading, sign):
        raise refused("question", reading.table)
    about_rows = function not in {"average", "median"} and (is_row or _is_about_a_row(reading, sign))
    if (about_rows and not more) or (not function and not adds):
        if entity.unit or more:
            raise refused("question", reading.table)
        label = measures.with_names(reading.table, entity.column, reading.question.language)
        shown = tuple(dict.fromkeys((*label, column)))
        return _ranked_rows(reading, stated, shown, column, sign, limit)
    measure = Measure(function=function or "sum", columns=each)
    return grouped_ranking(reading, stated, sign, entity, measure, limit)


def _is_sum_of_rows(reading: Interpretation, sign: Sign) -> bool:
    return reading.question.words[sign.end - 1].folded in BARE and any(
        one.group == "hints" for one in reading.signs
    )


def _ranked_pair(
    reading: Interpretation,
    stated: Conditions,
    sign: Sign,
    entities: tuple[Grouping, Grouping],
    rest: Sequence[ColumnMention],
    limit: int,
) -> TableQuery:
    found = measures.measured(reading, stated, rest)
    if len(found) != 1 or sign.group == "superlatives":
        raise refused("question", reading.table)
    each, mention = found[0]
    check_used(reading, rest, [mention])
    function = folding(reading)
    if not function and not all(column_names.adds_up(column, reading.question.language) for column in each):
        raise refused("question", reading.table)
    return Aggregate(
        table=reading.table,
        measures=(Measure(function=function or "sum", columns=each),),
        filters=stated.filters,
        groups=entities,
        ranking=Superlative(extreme=extreme(sign), limit=limit),
    )


def _is_about_a_row(reading: Interpretation, sign: Sign) -> bool:
    question = reading.question
    beside = question.words[max(sign.start - 1, 0) : sign.start] + question.words[sign.end : sign.end + 1]
    if any(question.lexicon.has(word, "single") for word in beside):
        return True
    return _names_a_row(reading, sign) or any(
        mention.start == sign.end
        and any(
            measures.is_unique(reading.table, column)
            and not column_names.is_quantity(column, reading.question.language)
            for column in mention.columns
        )
        for mention in reading.columns
    )


def _is_behind_values(reading: Interpretation, end: int, start: int) -> bool:
    taken = {at for value in reading.values for at in range(value.start, value.end)}
    return end <= start and all(at in taken for at in range(end, start))


def _names_a_row(reading: Interpretation, sign: Sign) -> bool:
    is_behind = reading.question.language in {"es", "fr"} and sign.end - sign.start > 1
    return any(
        (_is_behind_values(reading, sign.end, title.start) or (is_behind and title.end == sign.start))
        and not is_money(reading, title)
        and not any(
            reading.question.is_beside(title.end, one.start)
            for one in measures.named(reading, reading.columns)
        )
        for title in reading.titles
    )


def _ranked_rows(
    reading: Interpretation,
    stated: Conditions,
    shown: tuple[TypedColumn, ...],
    by: TypedColumn,
    sign: Sign,
    limit: int,
) -> RowList:
    ranking = Superlative(extreme=extreme(sign), limit=limit, column=by)
    return RowList(table=reading.table, columns=shown, filters=stated.filters, ranking=ranking)


def _superlative(
    reading: Interpretation,
    stated: Conditions,
    sign: Sign,
    entity: Grouping | None,
    rest: Sequence[ColumnMention],
    limit: int,
) -> TableQuery:
    language = reading.question.language
    concept = sign.name.partition(" ")[2]
    spoken = [column for one in rest for column in one.columns]
    if entity is not None and entity.column.kind == "date" and entity.column not in spoken:
        spoken.append(entity.column)
    by = ranked_column(reading, stated, sign, concept, spoken)
    if concept in {"age", "duration"} and (by.kind == "date" or by == period_filters.year_column(reading)):
        sign = replace(sign, name="least date" if extreme(sign) == "most" else "most date")
    asked = [column for mention in rest for column in mention.columns if column != by]
    if any(len(mention.columns) > 1 for mention in rest):
        raise refused("question", reading.table)
    if entity is not None and entity.unit:
        raise refused("question", reading.table)
    if reading.has("count"):
        raise refused("question", reading.table)
    if (function := folding(reading)) is not None:
        named = [one for one in rest if by not in one.columns and not (one.is_title and one.share < 1)]
        if (
            entity is None
            or named
            or by.kind != "number"
            or (function == "sum" and not column_names.adds_up(by, language))
        ):
            raise refused("question", reading.table)
        return grouped_ranking(
            reading, stated, sign, entity, Measure(function=function, columns=(by,)), limit
        )
    label = measures.shown_names(reading)
    if entity is not None and entity.column != by:
        label = measures.with_names(reading.table, entity.column, language)
    shown = tuple(dict.fromkeys((*label, *asked, by)))
    return _ranked_rows(reading, stated, shown, by, sign, limit)


def _both_extremes(
    reading: Interpretation,
    stated: Conditions,
    extremes: Sequence[Sign],
    groups: tuple[Grouping, ...],
    rest: Sequence[ColumnMention],
) -> TableQuery:
    plain = all(sign.group == "operations" for sign in extremes)
    found = measures.measured(reading, stated, rest)
    if (
        not plain
        or stated.numbers
        or len(found) != 1
        or len(found[0][0]) != 1
        or (reading.has("which", "who", group="asked") and _names_entity(reading, rest))
    ):
        raise refused("question", reading.table)
    check_used(reading, rest, [found[0][1]])
    functions: list[Function] = [extreme(sign) or "most" for sign in extremes]
    made = tuple(Measure(function=name, columns=found[0][0]) for name in dict.fromkeys(functions))
    return Aggregate(table=reading.table, measures=made, filters=stated.filters, groups=groups)


def _names_entity(reading: Interpretation, rest: Sequence[ColumnMention]) -> bool:
    return any(column.kind == "text" for mention in rest for column in mention.columns)


def folding(reading: Interpretation) -> Function | None:
    return next((name for name in FOLDING if reading.has(name)), None)


def _nearest(reading: Interpretation, sign: Sign, found: Sequence[_Measured]) -> _Measured:
    behind = [one for one in found if one[1] is not None and one[1].start >= sign.end]
    if len(behind) != 1:
        raise refused("choice", reading.table, "", [column.name for each, _ in found for column in each])
    return behind[0]


def _limit(reading: Interpretation, sign: Sign, stated: Conditions) -> int:
    beside = [
        number
        for number in stated.numbers
        if reading.question.is_beside(sign.end, number.start)
        or reading.question.is_beside(number.end, sign.start)
        or any(
            reading.question.is_beside(number.end, one.start)
            for one in (*reading.columns, *reading.titles, *reading.values)
        )
    ]
    if (
        len(beside) != len(stated.numbers)
        or len(beside) > 1
        or any(one.value != int(one.value) for one in beside)
    ):
        raise refused("question", reading.table)
    return int(beside[0].value) if beside else 1
