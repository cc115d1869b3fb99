"""What a question asks of one table, from the meanings of its words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.coverage import check_covered
from rag_engine.tables.rules.filters.comparison_filters import currency_column
from rag_engine.tables.rules.filters.completeness import check_used
from rag_engine.tables.rules.filters.conditions import conditions
from rag_engine.tables.rules.headers import column_names, qualities
from rag_engine.tables.rules.headers.units import unit_of
from rag_engine.tables.rules.language.question_words import folded
from rag_engine.tables.rules.mentions.joins import JoinedTable
from rag_engine.tables.rules.query import FOLDING, Aggregate, Grouping, Measure, RowList, TextFilter
from rag_engine.tables.rules.refusals import no_column, refused
from rag_engine.tables.rules.results import measures
from rag_engine.tables.rules.results.contrasts import difference, share
from rag_engine.tables.rules.results.counts import counted
from rag_engine.tables.rules.results.entities import group_columns
from rag_engine.tables.rules.results.extremes import extremes, places, ranked_in_place
from rag_engine.tables.rules.results.lookups import lookup
from rag_engine.tables.rules.results.products import product
from rag_engine.tables.rules.results.single_rows import is_one_row
from rag_engine.tables.rules.results.superlatives import distinct_extremes

if TYPE_CHECKING:
    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.query import Function, TableQuery
    from rag_engine.tables.types import TypedColumn


_FIRST_NAMES: Final = frozenset(
    {"first name", "firstname", "forename", "given name", "vorname", "nombre", "prenom"}
)
_LAST_NAMES: Final = frozenset({"last name", "lastname", "surname", "family name", "nachname", "familienname", "apellido", "apellidos", "nom"})  # fmt: skip


def assembled(reading: Interpretation) -> TableQuery:
    """Raises `Unanswered`."""
    query = _with_full_names(reading, _by_currency(reading, _assembled(reading)))
    check_covered(reading, query)
    table = reading.table
    if isinstance(table, JoinedTable) and not all(map(table.is_first, _measured_columns(query))):
        raise refused("question", table)
    return query


def _with_full_names(reading: Interpretation, query: TableQuery) -> TableQuery:
    firsts = [column for column in reading.table.columns if folded(column.name) in _FIRST_NAMES]
    lasts = [column for column in reading.table.columns if folded(column.name) in _LAST_NAMES]
    if not isinstance(query, RowList) or len(firsts) != 1 or len(lasts) != 1:
        return query
    both = (firsts[0], lasts[0])
    if not set(both) & set(query.columns):
        return query
    place = min(query.columns.index(one) for one in both if one in query.columns)
    others = [one for one in query.columns if one not in both]
    return replace(query, columns=(*others[:place], *both, *others[place:]))


def _by_currency(reading: Interpretation, query: TableQuery) -> TableQuery:
    """They are never added up or compared."""
    currency = currency_column(reading.table)
    if currency is None or any(column.unit for column in _measured_columns(query)):
        return query
    if not _measured_columns(query) or any(
        isinstance(one, TextFilter) and one.column == currency and len(one.texts) == 1 and not one.negated
        for one in query.filters
    ):
        return query
    if isinstance(query, Aggregate) and query.ranking is None:
        groups = dict.fromkeys((*query.groups, Grouping(column=currency)))
        return replace(query, groups=tuple(groups))
    raise refused("unit", reading.table, "", currency.values)


def _measured_columns(query: TableQuery) -> tuple[TypedColumn, ...]:
    match query:
        case Aggregate():
            found = [one for one in query.measures if one.function != "distinct"]
            return tuple(column for one in found for column in one.columns)
        case RowList():
            ranked = query.ranking.column if query.ranking is not None else None
            return (ranked,) if ranked is not None and ranked.kind == "number" else query.summed
        case _:
            return query.measure.columns


def _assembled(reading: Interpretation) -> TableQuery:
    stated = conditions(reading)
    if reading.has("other"):
        raise refused("question", reading.table)
    if unmet := qualities.unmet(reading):
        raise no_column(reading.table, unmet)
    if (worth := product(reading, stated)) is not None:
        return worth
    ranked = distinct_extremes(reading)
    if stated.numbers and not ranked:
        raise refused("question", reading.table)
    if reading.has("difference", "change", "ratio"):
        return replace(difference(reading, stated), is_ratio=reading.has("ratio"))
    if reading.has("share"):
        return share(reading, stated)
    if ranked:
        return ranked_in_place(reading, extremes(reading, stated, ranked))
    if places(reading):
        raise refused("question", reading.table)
    if reading.has("count"):
        return _counted(reading, stated)
    if reading.has(*FOLDING):
        return _folded(reading, stated)
    if reading.has("much"):
        return _much(reading, stated)
    found = lookup(reading, stated)
    return replace(found, counted=True) if reading.has("exists") and isinstance(found, RowList) else found


def _counted(reading: Interpretation, stated: Conditions) -> TableQuery:
    found = counted(reading, stated)
    if _counts_one_row(reading, found):
        raise refused("question", reading.table)
    return found


def _counts_one_row(reading: Interpretation, query: TableQuery) -> bool:
    is_count = isinstance(query, Aggregate) and all(one.function == "count" for one in query.measures)
    return is_count and is_one_row(reading, query.filters) and not _names_counted(reading)


def _names_counted(reading: Interpretation) -> bool:
    question = reading.question
    ends = [sign.end for sign in reading.signs if sign.name == "count"]
    things = (*reading.titles, *reading.columns)
    return any(
        question.lexicon.at(question.words, end, "nouns")[1]
        or any(question.is_beside(end, one.start) for one in things)
        for end in ends
        if end < len(question.words)
    )


def _folded(reading: Interpretation, stated: Conditions) -> TableQuery:
    groups, rest = group_columns(reading, stated.rest)
    found = measures.measured(reading, stated, rest)
    functions: list[Function] = [name for name in FOLDING if reading.has(name)]
    if functions == ["average"] and all(_is_row(reading, group) for group in groups):
        groups = ()
    made = tuple(Measure(function=name, columns=each) for each, _ in found for name in functions)
    if any(one.function == "median" and len(one.columns) > 1 for one in made):
        raise refused("question", reading.table)
    check_used(reading, rest, [mention for _, mention in found])
    return Aggregate(table=reading.table, measures=made, filters=stated.filters, groups=groups)


def _is_row(reading: Interpretation, group: Grouping) -> bool:
    return measures.is_unique(reading.table, group.column) and not group.unit


def _much(reading: Interpretation, stated: Conditions) -> TableQuery:
    groups, rest = group_columns(reading, stated.rest)
    if not measures.named(reading, rest) and _is_how_much_of_a_thing(reading):
        made = Measure(function="sum", columns=(_quantity(reading),))
        check_used(reading, rest, [])
        return Aggregate(table=reading.table, measures=(made,), filters=stated.filters, groups=groups)
    found = measures.measured(reading, stated, rest)
    is_summed = not is_one_row(reading, stated.filters) or len(found) == 1
    if is_summed and all(measures.adds_up(reading, one) for each, _ in found for one in each):
        check_used(reading, rest, [mention for _, mention in found])
        made = tuple(Measure(function="sum", columns=each) for each, _ in found)
        return Aggregate(table=reading.table, measures=made, filters=stated.filters, groups=groups)
    if groups:
        raise refused("question", reading.table)
    return lookup(reading, stated, tuple(column for each, _ in found for column in each))


def _is_how_much_of_a_thing(reading: Interpretation) -> bool:
    ends = [sign.end for sign in reading.signs if sign.name == "much" and sign.group == "operations"]
    hinted = any(sign.group == "hints" or measures.asks_for_money(reading, sign) for sign in reading.signs)
    return not hinted and any(value.start in ends for value in reading.values)


def _quantity(reading: Interpretation) -> TypedColumn:
    language = reading.question.language
    found = [column for column in reading.table.columns if column_names.adds_up(column, language)]
    amounts = [
        column
        for column in found
        if column_names.header(column.name, language).concepts & {"quantity", "stock", "weight"}
        or unit_of(column) in {"g", "kg", "t", "l", "kWh", "MWh"}
    ]
    if len(amounts) == 1:
        return amounts[0]
    raise refused("choice", reading.table, "", [column.name for column in amounts or found])
