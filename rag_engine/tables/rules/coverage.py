from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.language.lexicon import concepts
from rag_engine.tables.rules.query import (
    Aggregate,
    AnyFilter,
    ColumnFilter,
    Difference,
    RowList,
    Share,
    TextFilter,
)
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.results.entities import is_party
from rag_engine.tables.rules.results.measures import is_money_column, is_unique
from rag_engine.tables.rules.results.superlatives import extreme

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.query import Filter, TableQuery
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn

_MARKS: Final = frozenset({"note", "noten", "zensur", "zensuren", "schulnote", "schulnoten"})
_POSSESSIVES: Final = frozenset({"whose", "wessen"})


def check_covered(reading: Interpretation, query: TableQuery) -> None:
    """Raises `Unanswered`."""
    shown, used = _shown(query), _used(query)
    for mention in reading.columns:
        is_number = all(column_names.is_quantity(one, reading.question.language) for one in mention.columns)
        if mention.share == 1 and is_number and not mention.is_title and used.isdisjoint(mention.columns):
            name = reading.question.spoken(mention.start, mention.end)
            raise refused("unclear", reading.table, name)
    for sign in reading.signs:
        is_clear = _is_computed(sign, query, reading) and not _is_mark(sign, reading)
        if not (is_clear and _is_shown(sign, reading, shown)):
            name = reading.question.spoken(sign.start, sign.end)
            raise refused("unclear", reading.table, name)


def _shown(query: TableQuery) -> tuple[TypedColumn, ...]:
    match query:
        case RowList():
            return query.columns
        case Aggregate():
            return tuple(group.column for group in query.groups)
        case _:
            return ()


def _used(query: TableQuery) -> frozenset[TypedColumn]:
    filters = query.filters
    match query:
        case RowList():
            ranked = query.ranking.column if query.ranking is not None else None
            own = [*query.columns, *query.summed, *([ranked] if ranked is not None else [])]
        case Aggregate():
            own = [group.column for group in query.groups]
            own += [column for one in query.measures for column in one.columns]
        case Share():
            own, filters = [*query.measure.columns], (*query.part, *filters)
        case Difference():
            sides = (query.first, query.second)
            own = [*query.measure.columns, *(column for side in sides for column in side.columns)]
            filters = (*filters, *(one for side in sides for one in side.filters))
    return frozenset((*own, *_filtered(filters)))


def _filtered(filters: Iterable[Filter]) -> Iterator[TypedColumn]:
    for one in filters:
        match one:
            case AnyFilter():
                for each in one.alternatives:
                    yield from _filtered(each)
            case ColumnFilter():
                yield from (one.column, one.other)
            case _:
                yield one.column


def _functions(query: TableQuery) -> frozenset[str]:
    match query:
        case Aggregate():
            return frozenset(one.function for one in query.measures)
        case Difference() | Share():
            return frozenset({query.measure.function})
        case RowList():
            return frozenset()


def _is_of_one_row(query: TableQuery) -> bool:
    return (
        isinstance(query, RowList)
        and query.ranking is None
        and any(isinstance(one, TextFilter) and is_unique(query.table, one.column) for one in query.filters)
    )


def _is_computed(sign: Sign, query: TableQuery, reading: Interpretation) -> bool:
    made = _functions(query)
    if sign.group == "hints" and sign.name == "money" and _is_of_one_row(query):
        timed = column_names.timed_columns(query.table, reading.question.language)
        return any(is_money_column(column, "") or column in timed for column in _used(query))
    if extreme(sign):
        is_ranked = isinstance(query, Aggregate | RowList) and query.ranking is not None
        return is_ranked or bool(made & {"most", "least"})
    if sign.group == "hints" and sign.name == "money":
        return made != frozenset({"distinct"})
    if sign.group != "operations":
        return True
    match sign.name:
        case "average" | "median":
            return sign.name in made
        case "share":
            return isinstance(query, Share)
        case "difference" | "change" | "ratio":
            return isinstance(query, Difference)
        case _:
            return True


def _is_mark(sign: Sign, reading: Interpretation) -> bool:
    """In Germany the lowest is best."""
    is_best = sign.group == "superlatives" and sign.name.endswith(" score")
    return is_best and any(word.folded in _MARKS for word in reading.question.words)


def _is_shown(sign: Sign, reading: Interpretation, shown: tuple[TypedColumn, ...]) -> bool:
    if sign.group != "asked" or sign.name not in {"who", "where"} or not _is_leading(reading, sign):
        return True
    fits = is_party if sign.name == "who" else _is_place
    return any(fits(reading, column) for column in shown)


def _is_leading(reading: Interpretation, sign: Sign) -> bool:
    question = reading.question
    if question.words[sign.start].folded in _POSSESSIVES:
        return False
    asked = {at for one in reading.signs if one.group == "asked" for at in range(one.start, one.end)}
    return all(at in asked or question.is_filler(question.words[at]) for at in range(sign.start))


def _is_place(reading: Interpretation, column: TypedColumn) -> bool:
    own = column_names.header(column.name, reading.question.language).concepts
    known = concepts()[0]
    return not own or any(known[name].is_place for name in own)
