"""A reading and its query as SQL, with what people have to know of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.tables.rules.language.question_words import words as words_of
from rag_engine.tables.rules.mentions.columns import mentioned
from rag_engine.tables.rules.mentions.joins import JoinedTable
from rag_engine.tables.rules.query import RangeFilter, RowList
from rag_engine.tables.rules.select import select
from rag_engine.tables.types import WrittenQuery

if TYPE_CHECKING:
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.query import TableQuery
    from rag_engine.tables.types import TypedColumn


def written_query(reading: Interpretation, query: TableQuery) -> WrittenQuery:
    table, sentences = reading.table, reading.question.lexicon.sentences
    sql = select(_with_asked_beside(reading, query), reading.question.lexicon)
    notes = [sentences["dated"].format(column=column.name) for column in _assumed_dates(reading, query)]
    unread = ", ".join(reading.question.spoken(*span) for span in reading.leftovers)
    if not isinstance(table, JoinedTable):
        return WrittenQuery(sql=sql, tables=(table.sql_name,), notes=tuple(notes), unread=unread)
    joined_by = {"first": table.first.title, "second": table.second.title, "column": table.key.name}
    notes.append(sentences["joined"].format(**joined_by))
    names = table.first.sql_name, table.second.sql_name
    return WrittenQuery(sql=sql, tables=names, notes=tuple(notes), unread=unread)


def _with_asked_beside(reading: Interpretation, query: TableQuery) -> TableQuery:
    if not reading.question.aside or not isinstance(query, RowList):
        return query
    language = reading.question.language
    said = words_of(reading.question.aside, language)
    found = mentioned(
        said,
        [True] * len(said),
        reading.table,
        language,
        reading.question.is_common,
        reading.question.is_hint,
    )
    named = [column for one in found if one.share == 1 for column in one.columns]
    return replace(query, columns=tuple(dict.fromkeys((*query.columns, *named))))


def _assumed_dates(reading: Interpretation, query: TableQuery) -> list[TypedColumn]:
    named = {column for mention in reading.columns for column in mention.columns}
    dates = [column for column in reading.table.columns if column.kind == "date"]
    ranges = [one.column for one in query.filters if isinstance(one, RangeFilter)]
    return [one for one in dict.fromkeys(ranges) if len(dates) > 1 and one in dates and one not in named]
