from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.tables.rules import relevance
from rag_engine.tables.rules.assembly import assembled
from rag_engine.tables.rules.interpretation import read
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.language.question_words import words as words_of
from rag_engine.tables.rules.mentions.comparisons import CURRENCIES
from rag_engine.tables.rules.mentions.joins import JoinedTable, joined
from rag_engine.tables.rules.mentions.relations import are_relations
from rag_engine.tables.rules.query import RowList
from rag_engine.tables.rules.refusals import Unanswered
from rag_engine.tables.rules.results.entities import place_columns
from rag_engine.tables.rules.results.measures import is_unique
from rag_engine.tables.rules.results.single_rows import is_one_row
from rag_engine.tables.rules.titles import titles_of
from rag_engine.tables.rules.written_queries import written_query
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from rag_engine.text.language import possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.query import TableQuery
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedColumn, TypedTable

_COMPUTING = frozenset(
    {
        "other",
        "exists",
        "sum",
        "median",
        "count",
        "average",
        "most",
        "least",
        "share",
        "difference",
        "change",
        "ratio",
    }
)
_AGGREGATING = ("sum", "average", "median", "most", "least", "share", "difference", "change")
_BEFORE_NAMES = frozenset({"aus", "in", "von", "fur", "bei", "vom", "im", "mit"})
_BEFORE_THINGS = frozenset({"for", "on", "fur", "para", "en", "auf"})
_BEFORE_PLACES = frozenset({"from", "in", "aus", "en"})
_MOST_SHOWN = 12
_MOST_LISTED = 50
_ENOUGH = 3.0
_SOME = 2.0
_OF_TITLE = 1.5
_ORDINARY = QueryRefusal(missing="question")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    reading: Interpretation
    result: WrittenQuery | QueryRefusal


def chosen(question: Question, tables: Sequence[TypedTable]) -> WrittenQuery | QueryRefusal:
    """Over one table, else over two that share a key."""
    said = relevance.asked_words(question)
    near = [one for one in tables if relevance.may_have_evidence(said, one, question.language)]
    readings = [reading for table in near if (reading := read(question, table)).evidence]
    found = _of_one(readings)
    return found if isinstance(found, WrittenQuery) else _of_two(question, readings) or found


def _of_two(question: Question, readings: Sequence[Interpretation]) -> WrittenQuery | QueryRefusal | None:
    if len(readings) < 2:
        return None
    pairs = joined([one.table for one in readings], question.language)
    attempts = [_attempt(reading) for pair in pairs if (reading := read(question, pair)).evidence]
    written = [one for one in attempts if isinstance(one.result, WrittenQuery) and _reads_both(one.reading)]
    whole = [one for one in written if not _lacking(one)]
    found = _best(whole) if whole else None
    if isinstance(found, WrittenQuery):
        return found
    lacking = next((one.reading.table for one in written if _lacking(one)), None)
    if not isinstance(lacking, JoinedTable):
        return None
    name, titles = ", ".join(lacking.lacking[:_MOST_SHOWN]), (lacking.first.title, lacking.second.title)
    return QueryRefusal(missing="partner", name=name, available=titles, table=lacking.first.sql_name)


def _lacking(one: _Attempt) -> bool:
    return isinstance(one.reading.table, JoinedTable) and bool(one.reading.table.lacking)


def _reads_both(reading: Interpretation) -> bool:
    table = reading.table
    named = [column for one in reading.columns for column in one.columns]
    named += [column for value in reading.values for column, _ in value.choices]
    return isinstance(table, JoinedTable) and len({table.is_first(column) for column in named}) == 2


def _of_one(readings: Sequence[Interpretation]) -> WrittenQuery | QueryRefusal:
    attempts = [_attempt(reading) for reading in readings]
    written = [one for one in attempts if isinstance(one.result, WrittenQuery)]
    refused = [
        (one.reading, one.result)
        for one in attempts
        if isinstance(one.result, QueryRefusal) and one.result.missing != "question"
    ]
    if any(one[0].is_titled for one in refused):
        written = [one for one in written if one.reading.is_direct]
    if written:
        best = max(one.reading.evidence + _OF_TITLE * one.reading.is_titled for one in written)
        unclear = [
            one
            for one in refused
            if (one[0].columns or one[0].values)
            and one[0].evidence > (2 * best if one[0].leftovers else best)
        ]
        if not unclear:
            return _best(written) if _is_named(written, attempts) else _which(attempts)
        refused = unclear
    if not refused:
        return _ORDINARY
    _, result = best = max(refused, key=_closeness)
    return result if _is_about(best[0], result) else _ORDINARY


def _is_named(written: Sequence[_Attempt], attempts: Sequence[_Attempt]) -> bool:
    best = max(written, key=lambda one: one.reading.evidence).reading
    others = [one for one in attempts if one.reading.evidence >= best.evidence]
    return len(others) == 1 or bool(best.columns or best.values or best.titles or best.periods)


def _which(attempts: Sequence[_Attempt]) -> QueryRefusal:
    names = dict.fromkeys(_place(one.reading.table) for one in attempts)
    return QueryRefusal(missing="choice", available=tuple(names))


def _closeness(one: tuple[Interpretation, QueryRefusal]) -> tuple[int, float]:
    return -_unknown(one[0]), one[0].evidence


def _attempt(reading: Interpretation) -> _Attempt:
    try:
        query = assembled(reading)
    except Unanswered as end:
        result: WrittenQuery | QueryRefusal = end.refusal
        if end.refusal.missing == "question":
            result = _unclear(reading)
        if reading.leftovers:
            result = _unknown_words(reading)
    else:
        if reading.leftovers and not _is_said_without(reading, query):
            result = _unknown_words(reading)
        else:
            result = written_query(reading, query)
    return _Attempt(reading=reading, result=result)


def _is_said_without(reading: Interpretation, query: TableQuery) -> bool:
    if not reading.question.is_loose or isinstance(reading.table, JoinedTable):
        return False
    is_figure = not isinstance(query, RowList) or query.ranking is not None
    return is_figure and not is_one_row(reading, query.filters) and are_relations(reading)


def _unclear(reading: Interpretation) -> QueryRefusal:
    if not _computes(reading):
        return _ORDINARY
    return QueryRefusal(missing="unclear", name=reading.question.text, table=reading.table.sql_name)


def _best(written: Sequence[_Attempt]) -> WrittenQuery | QueryRefusal:
    ranks = [
        (not one.reading.leftovers, one.reading.specific, _literal(one), _is_in_language(one))
        for one in written
    ]
    best = [one for one, rank in zip(written, ranks, strict=True) if rank == max(ranks)]
    if len(best) == 1:
        return best[0].result
    names = tuple(dict.fromkeys(_place(one.reading.table) for one in best))
    note = best[0].reading.question.lexicon.sentences["alike"].format(titles=", ".join(names))
    language = best[0].reading.question.language
    readings = tuple(
        replace(one.result, notes=(*one.result.notes, note), language=language)
        for one in best
        if isinstance(one.result, WrittenQuery)
    )
    return QueryRefusal(missing="choice", available=names, readings=readings)


def _is_in_language(attempt: _Attempt) -> bool:
    table, language = attempt.reading.table, attempt.reading.question.language
    if not _names_anything(attempt.reading):
        return False
    named = ", ".join(column.name for column in table.columns)
    if language != "zh" and any(word.is_han for word in words_of(named, language)):
        return False
    likely = possible(named)
    return language in likely if likely else True


def _names_anything(reading: Interpretation) -> bool:
    return bool(reading.values or reading.titles or any(map(reading.is_specific, reading.columns)))


def _literal(attempt: _Attempt) -> int:
    reading = attempt.reading
    table = reading.table
    named = [*titles_of(table), *(column.name for column in table.columns)]
    written = {word.folded for text in named for word in header_words(text, reading.question.language)}
    said = (*reading.titles, *filter(reading.is_specific, reading.columns))
    words = reading.question.words
    return sum(words[at].folded in written for one in said for at in range(one.start, one.end))


def _place(table: TypedTable) -> str:
    return f"{table.title}: {table.caption}" if table.caption else table.title


def _unknown(reading: Interpretation) -> int:
    return sum(end - start for start, end in reading.leftovers)


def _unknown_words(reading: Interpretation) -> QueryRefusal:
    start, end = reading.leftovers[0]
    table = reading.table
    said = {word.folded for word in reading.question.words[start:end]}
    if said & CURRENCIES:
        units = dict.fromkeys(column.unit for column in table.columns if column.unit)
        name = reading.question.spoken(start, end)
        return QueryRefusal(missing="unit", name=name, available=tuple(units), table=table.sql_name)
    if (slot := _slot(reading, start, end)) is not None:
        name = reading.question.spoken(start, end)
        shown = slot.values[:_MOST_SHOWN] if len(slot.values) <= _MOST_LISTED else ()
        return QueryRefusal(missing="value", name=name, available=shown, table=table.sql_name)
    if _is_name(reading, start):
        places = _values_near(reading, start)
        shown = places[0].values[:_MOST_SHOWN] if len(places) == 1 else ()
        name = reading.question.spoken(start, end)
        return QueryRefusal(missing="value", name=name, available=shown, table=table.sql_name)
    name = reading.question.spoken(start, end)
    if _is_what_for(reading, start, end):
        shown = tuple(value for column in _categories(reading) for value in column.values)
        return QueryRefusal(missing="value", name=name, available=shown[:_MOST_SHOWN], table=table.sql_name)
    columns = tuple(column.name for column in table.columns)
    return QueryRefusal(missing="column", name=name, available=columns, table=table.sql_name)


def _slot(reading: Interpretation, start: int, end: int) -> TypedColumn | None:
    for mention in reading.columns:
        beside = (
            reading.question.is_beside(end, mention.start) if end <= mention.start else mention.end == start
        )
        column, *more = mention.columns
        if beside and not more and column.kind == "text" and _takes(reading, column, start):
            return column
    return None


def _takes(reading: Interpretation, column: TypedColumn, start: int) -> bool:
    return not is_unique(reading.table, column) or (
        start > 0 and reading.question.words[start].text[0].isupper()
    )


def _is_what_for(reading: Interpretation, start: int, end: int) -> bool:
    words = reading.question.words
    leads = start > 0 and words[start - 1].folded in _BEFORE_THINGS
    leads = leads or (words[start].is_han and end < len(words) and words[end].folded == "的")
    measured = any(
        column.kind == "number" and mention.share == 1
        for mention in reading.columns
        for column in mention.columns
    )
    measured = measured or any(sign.group == "hints" for sign in reading.signs)
    return leads and measured and len(reading.leftovers) == 1 and bool(_categories(reading))


def _categories(reading: Interpretation) -> list[TypedColumn]:
    return [
        column
        for column in reading.table.columns
        if column.kind == "text"
        and column.has_all_values
        and len(column.values) <= _MOST_LISTED
        and not is_unique(reading.table, column)
    ]


def _is_name(reading: Interpretation, start: int) -> bool:
    words = reading.question.words
    if not start or not words[start].text[0].isupper():
        return False
    return reading.question.language != "de" or words[start - 1].folded in _BEFORE_NAMES


def _values_near(reading: Interpretation, start: int) -> list[TypedColumn]:
    if reading.question.words[start - 1].folded in _BEFORE_PLACES:
        return place_columns(reading)
    texts = [column for column in reading.table.columns if column.kind == "text"]
    return texts if len(texts) == 1 else []


def _is_about(reading: Interpretation, result: QueryRefusal) -> bool:
    if result.missing in {"period", "value"} and _is_only_missing(reading, result):
        return True
    if result.missing == "column" and asks_for_cell(reading):
        return True
    if not _computes(reading):
        return False
    if result.missing in {"period", "unit"} and not reading.leftovers:
        return True
    if (
        reading.leftovers
        and _names_a_row(reading)
        and not reading.has(*_AGGREGATING)
        and not _is_counted(reading)
    ):
        return False
    if reading.evidence >= _SOME and _is_aggregated(reading):
        return True
    return reading.evidence >= _ENOUGH and _unknown(reading) <= reading.evidence


def asks_for_cell(reading: Interpretation) -> bool:
    """ "the notice period of Summit Travel"."""
    if len(reading.leftovers) != 1 or reading.columns or not _names_a_row(reading):
        return False
    start, _ = reading.leftovers[0]
    return any(
        (sign.name == "which" or sign.name == "much") and reading.question.is_beside(sign.end, start)
        for sign in reading.signs
    )


def _names_a_row(reading: Interpretation) -> bool:
    exact = [value for value in reading.values if value.exact]
    if len({column.sql_name for value in exact for column, _ in value.choices}) > 1 and len(exact) > 1:
        return True
    return any(is_unique(reading.table, column) for value in exact for column, _ in value.choices[:1])


def _is_only_missing(reading: Interpretation, result: QueryRefusal) -> bool:
    unknown = len(reading.leftovers)
    if unknown > (result.missing == "value"):
        return False
    exact = any(value.exact for value in reading.values)
    named = any(
        column.kind == "number" and (mention.share == 1 or reading.periods)
        for mention in reading.columns
        for column in mention.columns
    )
    titled = bool(reading.titles and reading.periods)
    if result.missing == "value":
        if any(_is_what_for(reading, *span) for span in reading.leftovers):
            return bool(reading.values or reading.periods)
        return (named or titled) and any(_slot(reading, *span) for span in reading.leftovers)
    return exact and (named or titled)


def _is_aggregated(reading: Interpretation) -> bool:
    ends = {sign.end for sign in reading.signs if sign.name in _AGGREGATING[:2]}
    return any(start in ends for start, _ in reading.leftovers) and len(reading.leftovers) == 1


def _is_counted(reading: Interpretation) -> bool:
    ends = {sign.end for sign in reading.signs if sign.name == "count"}
    return any(start in ends for start, _ in reading.leftovers)


def _computes(reading: Interpretation) -> bool:
    return any(
        sign.group == "superlatives" or (sign.group == "operations" and sign.name in _COMPUTING)
        for sign in reading.signs
    )
