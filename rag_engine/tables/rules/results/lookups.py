from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.filters.completeness import is_all
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.query import (
    FOLDING,
    Aggregate,
    ColumnFilter,
    Measure,
    RangeFilter,
    RowList,
    TextFilter,
)
from rag_engine.tables.rules.refusals import Unanswered, refused
from rag_engine.tables.rules.results import measures
from rag_engine.tables.rules.results.entities import (
    group_columns,
    people_columns,
    person_columns,
    place_columns,
)
from rag_engine.tables.rules.results.single_rows import is_one_row, names_code, names_rows_of
from rag_engine.tables.rules.titles import is_money, names_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Filter, TableQuery
    from rag_engine.tables.types import TypedColumn


def lookup(reading: Interpretation, stated: Conditions, found: Sequence[TypedColumn] = ()) -> TableQuery:
    """`found`: asked for although no word names them. Raises `Unanswered`."""
    groups, _ = group_columns(reading, stated.rest)
    if groups and not found:
        return _grouped(reading, stated)
    filters = stated.filters
    is_one = is_one_row(reading, filters)
    asked = list(
        dict.fromkeys((*found, *_asked(reading, stated), *_of_question_word(reading, stated, is_one=is_one)))
    )
    if is_one and reading.question.is_loose and not asked and names_code(reading):
        asked = list(reading.table.columns)
    if asked and reading.has("which", group="asked") and set(asked) <= _known_already(reading, filters):
        raise refused("question", reading.table)
    if not asked and filters and any(sign.group == "hints" for sign in reading.signs):
        ((hinted, _), *_) = measures.measured(reading, stated, ())
        asked = list(hinted)
    if not asked and filters and not is_one and _asks_for_rows(reading):
        asked = list(measures.shown_names(reading))
    if not (asked or _titled(reading)) or (not filters and not _lists(reading)):
        raise refused("question", reading.table)
    is_listed = any(measures.is_row_noun(reading, one) for one in stated.rest)
    if not stated.values and not stated.others and filters and not is_listed and _adds_up(reading, asked):
        measure = Measure(function="sum", columns=tuple(asked))
        return Aggregate(table=reading.table, measures=(measure,), filters=filters)
    asked = asked or _titled(reading)
    label = measures.shown_names(reading)
    shown = tuple(dict.fromkeys((*label, *_filtered(filters), *asked)))
    if not filters:
        return RowList(table=reading.table, columns=tuple(asked), distinct=True)
    every = {column for one in stated.rest if is_all(reading, one) for column in one.columns}
    named = {column for one in stated.rest if one.is_title for column in one.columns if column.kind == "text"}
    added = [column for column in asked if column.kind != "date" and column not in every | named]
    is_listed = is_listed and not every
    adds = _adds_up(reading, added) and not is_listed and not (is_one and len(added) == 1)
    summed = tuple(added) if adds else ()
    return RowList(table=reading.table, columns=shown, filters=filters, summed=summed)


def _known_already(reading: Interpretation, filters: Sequence[Filter]) -> set[TypedColumn]:
    verbs = {
        column
        for one in reading.columns
        for column in one.columns
        if one.end - one.start == 1
        and one.start
        and reading.question.words[one.start - 1].folded not in _DETERMINERS
        if column.kind == "text" and measures.is_unique(reading.table, column)
    }
    is_what = any(
        sign.name == "which" and reading.question.words[sign.start].folded == "what" for sign in reading.signs
    )
    return {*verbs, *_filtered(filters)} if is_what and len(filters) > 1 else set()


_DETERMINERS = frozenset({"the", "which", "what", "all", "a", "of"})


def _asks_for_rows(reading: Interpretation) -> bool:
    return any(
        sign.group == "asked"
        and sign.name in {"which", "list"}
        and reading.question.is_beside(sign.end, one.start)
        for sign in reading.signs
        for one in (*(one for one in reading.columns if one.share), *reading.values)
    )


def _titled(reading: Interpretation) -> list[TypedColumn]:
    named = any(
        sign.name in {"which", "list", "exists"}
        and any(reading.question.is_beside(sign.end, title.start) for title in reading.titles)
        for sign in reading.signs
    )
    named = named or any(not title.start for title in reading.titles)
    named = named or (reading.question.is_loose and names_rows_of(reading))
    return list(reading.table.columns) if named else []


def _grouped(reading: Interpretation, stated: Conditions) -> TableQuery:
    groups, rest = group_columns(reading, stated.rest)
    if rest and not reading.has(*FOLDING) and all(_is_row(reading, one) for one in rest):
        made = (Measure(function="count"),)
        return Aggregate(table=reading.table, measures=made, filters=stated.filters, groups=groups)
    counted = (Measure(function="count"),) if not rest and _names_rows(reading) else ()
    try:
        found = measures.measured(reading, stated, rest)
    except Unanswered:
        if not counted:
            raise
        return Aggregate(table=reading.table, measures=counted, filters=stated.filters, groups=groups)
    if any(one not in [mention for _, mention in found] and not one.is_title for one in rest):
        raise refused("question", reading.table)
    adds = all(measures.adds_up(reading, column) for each, _ in found for column in each)
    if not adds and counted:
        return Aggregate(table=reading.table, measures=counted, filters=stated.filters, groups=groups)
    if not adds:
        raise refused("question", reading.table)
    made = counted + tuple(Measure(function="sum", columns=each) for each, _ in found)
    return Aggregate(table=reading.table, measures=made, filters=stated.filters, groups=groups)


def _names_rows(reading: Interpretation) -> bool:
    if reading.has(*FOLDING, "much") or any(sign.group == "hints" for sign in reading.signs):
        return False
    return any(
        names_rows(reading, one.start, one.end) and not is_money(reading, one) for one in reading.titles
    )


def _is_row(reading: Interpretation, mention: ColumnMention) -> bool:
    return measures.is_row_noun(reading, mention) or all(
        column.kind == "text" and measures.is_unique(reading.table, column) for column in mention.columns
    )


def _asked(reading: Interpretation, stated: Conditions) -> Iterator[TypedColumn]:
    has_numbers = bool(measures.named(reading, stated.rest))
    for mention in stated.rest:
        narrowed = [column for column in mention.columns if not stated.under or column in stated.under]
        timed = column_names.timed_columns(reading.table, reading.question.language)
        if stated.under and narrowed:
            yield from narrowed
        elif len(mention.columns) == 1:
            yield mention.columns[0]
        elif mention.is_title:
            yield from measures.label_columns(reading.table, reading.question.language)
        else:
            if not all(column in timed for column in mention.columns):
                said = reading.question.spoken(mention.start, mention.end)
                raise refused("choice", reading.table, said, [column.name for column in mention.columns])
            yield from mention.columns
    if stated.under and not has_numbers:
        yield from stated.under


def _of_question_word(reading: Interpretation, stated: Conditions, *, is_one: bool) -> Iterator[TypedColumn]:
    named = {column.sql_name for mention in stated.rest for column in mention.columns}
    for name, found in (
        ("who", person_columns),
        ("where", place_columns),
        ("when", _dates),
    ):
        if not reading.has(name, group="asked"):
            continue
        possible = found(reading)
        if named & {column.sql_name for column in possible} or (name == "when" and _names_date(stated)):
            continue
        filtered = {column.sql_name for column in _filtered(stated.filters)}
        possible = [column for column in possible if column.sql_name not in filtered]
        if is_one and name == "who":
            possible = list(dict.fromkeys((*possible, *people_columns(reading))))
            possible = [column for column in possible if column.sql_name not in filtered]
        if len(possible) == 1 or (is_one and possible):
            yield from possible
        elif is_one and reading.question.is_loose and names_code(reading):
            yield from reading.table.columns
        elif name != "who" or not named:
            raise refused("question", reading.table)


def _names_date(stated: Conditions) -> bool:
    return any(column.kind == "date" for mention in stated.rest for column in mention.columns)


def _dates(reading: Interpretation) -> list[TypedColumn]:
    found = period_filters.date_column(reading, ())
    named = [column for column in reading.table.columns if column.kind == "date"]
    return [found] if found is not None else named


def _lists(reading: Interpretation) -> bool:
    return any(
        sign.group == "asked"
        and sign.name in {"which", "list"}
        and any(
            reading.question.is_beside(sign.end, mention.start)
            for mention in reading.columns
            if mention.share == 1
        )
        for sign in reading.signs
    )


def _filtered(filters: Sequence[Filter]) -> list[TypedColumn]:
    found = [one.column for one in filters if isinstance(one, TextFilter | RangeFilter | ColumnFilter)]
    return [*found, *(one.other for one in filters if isinstance(one, ColumnFilter))]


def _adds_up(reading: Interpretation, asked: Sequence[TypedColumn]) -> bool:
    language = reading.question.language
    timed = column_names.timed_columns(reading.table, language)
    is_one = len(asked) == 1 or all(column in timed for column in asked)
    return bool(asked) and is_one and all(column_names.adds_up(column, language) for column in asked)
