"""The whole row that a question names, where its cell is asked for in words that are not understood."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules import relevance
from rag_engine.tables.rules.filters.conditions import conditions
from rag_engine.tables.rules.interpretation import read
from rag_engine.tables.rules.query import RowList, TextFilter
from rag_engine.tables.rules.refusals import Unanswered
from rag_engine.tables.rules.results.single_rows import is_one_row
from rag_engine.tables.rules.select import select
from rag_engine.tables.types import QueryRefusal, WrittenQuery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.cell_values import ValueMention
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedColumn, TypedTable

_MOST_ROWS: Final = 3
_OVER_ROWS: Final = (
    *("sum", "average", "median", "share", "difference", "change", "ratio", "other", "exists", "different"),
    *("most", "least"),
)
_LINKS: Final = ("not", "or", "pair", "pending", "missing", "than")
_EXCEPT: Final = frozenset(
    {"but", "except", "besides", "than", "others", "ausser", "excepto", "salvo", "sauf", "除"}
)
_FEWEST_CONDITIONS: Final = 2
_FEWEST_ROWS: Final = 2


def named_row(question: Question, tables: Sequence[TypedTable]) -> WrittenQuery | QueryRefusal | None:
    """All its cells; of several tables those that are named."""
    said = relevance.asked_words(question)
    near = [one for one in tables if relevance.may_have_evidence(said, one, question.language)]
    found = [
        (reading, query)
        for table in near
        if _is_for_cells(reading := read(question, table)) and (query := _query(reading)) is not None
    ]
    most = max((reading.evidence for reading, _ in found), default=0.0)
    best = [(reading, query) for reading, query in found if reading.evidence == most]
    if len(best) == 1:
        return _written(*best[0])
    named = [
        _written(reading, replace(query, columns=tuple(dict.fromkeys((*_filtered(query), *_named(reading))))))
        for reading, query in best
        if _named(reading)
    ]
    places = dict.fromkeys(f"{reading.table.title}: {reading.table.caption}" for reading, _ in best)
    return (
        QueryRefusal(missing="choice", available=tuple(places), readings=tuple(named))
        if len(named) > 1
        else None
    )


def _named(reading: Interpretation) -> list[TypedColumn]:
    return [column for one in reading.columns for column in one.columns]


def _filtered(query: RowList) -> list[TypedColumn]:
    return [one.column for one in query.filters if isinstance(one, TextFilter)]


def _is_for_cells(reading: Interpretation) -> bool:
    if reading.table.row_count < _FEWEST_ROWS or not reading.values:
        return False
    if any(word.folded in _EXCEPT for word in reading.question.words):
        return False
    if reading.comparisons or reading.contrasts or reading.has(*_LINKS, group="links"):
        return False
    ranks = any(sign.group in {"superlatives", "ordinals", "groups"} for sign in reading.signs)
    return not ranks and not reading.has(*_OVER_ROWS)


def _query(reading: Interpretation) -> RowList | None:
    try:
        stated = conditions(reading)
    except Unanswered:
        return None
    texts = [one for one in stated.filters if isinstance(one, TextFilter)]
    is_key = is_one_row(reading, texts)
    if not texts or any(one.negated for one in texts) or not _are_whole(reading):
        return None
    if not is_key and (reading.has("count") or len(stated.filters) < _FEWEST_CONDITIONS):
        return None
    columns = reading.table.columns
    if stated.under:
        columns = tuple(dict.fromkeys((*(one.column for one in texts), *stated.under)))
    return RowList(table=reading.table, columns=columns, filters=stated.filters)


def _written(reading: Interpretation, query: RowList) -> WrittenQuery:
    return WrittenQuery(
        sql=select(query, reading.question.lexicon),
        tables=(reading.table.sql_name,),
        most_rows=1 if is_one_row(reading, query.filters) else _MOST_ROWS,
        unread=", ".join(_unread(reading)),
        language=reading.question.language,
    )


def _unread(reading: Interpretation) -> Iterator[str]:
    question = reading.question
    if reading.leftovers:
        yield from (question.spoken(*span) for span in reading.leftovers)
        return
    taken = {
        at
        for one in (*reading.values, *reading.columns, *reading.titles, *reading.periods)
        for at in range(one.start, one.end)
    }
    at = 0
    while at < len(question.words):
        end, meaning = question.lexicon.at(
            question.words, at, "qualities", "hints", "loose", "filler", "asked"
        )
        if meaning.startswith(("qualities", "hints", "loose undated", "loose verbs")) and at not in taken:
            yield question.spoken(at, end)
        at = max(end, at + 1)


def _are_whole(reading: Interpretation) -> bool:
    """ "Clara Wegner" is no "Clara Vogt", and an unknown name none of the table's."""
    words = reading.question.words
    unread = {at for start, end in reading.leftovers for at in range(start, end)}
    names = {at for at in unread if at and words[at].text[0].isupper() and reading.question.language != "de"}
    numbers = {at for at in unread if words[at].is_number}
    behind = {
        at for at in unread if words[at].text[0].isupper() and any(one.end == at for one in reading.values)
    }
    beside = {at for one in reading.values if not one.exact for at in (one.start - 1, one.end)}
    return not names and not behind and not numbers and not (beside & unread and _is_partial(reading.values))


def _is_partial(values: Sequence[ValueMention]) -> bool:
    return any(not one.exact for one in values)
