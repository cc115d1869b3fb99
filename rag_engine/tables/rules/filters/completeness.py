from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.results import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.types import TypedColumn

_ALL: Final = frozenset({"all", "alle", "aller", "allen", "todos", "todas", "所有", "全部"})


def check_used(
    reading: Interpretation, rest: Sequence[ColumnMention], used: Sequence[ColumnMention | None]
) -> None:
    """A named column without a part would be a condition left out."""
    named = measures.named(reading, rest)
    for mention in rest:
        if mention in used or (mention.is_title and (mention.share < 1 or mention not in named)):
            continue
        if mention not in named and all(_tells_rows(reading, column) for column in mention.columns):
            continue
        if measures.is_row_noun(reading, mention) or mention in measures.units_said(reading, rest):
            continue
        if reading.question.is_loose and _holds_always(reading, mention):
            continue
        if is_all(reading, mention) or any(
            one is not None and set(one.columns) == set(mention.columns) for one in used
        ):
            continue
        raise refused("unclear", reading.table, reading.question.spoken(mention.start, mention.end))


def _tells_rows(reading: Interpretation, column: TypedColumn) -> bool:
    is_name = column.kind == "text" or column_names.header(column.name, reading.question.language).is_code
    return is_name and measures.is_unique(reading.table, column)


def _holds_always(reading: Interpretation, mention: ColumnMention) -> bool:
    words, question = reading.question.words[mention.start : mention.end], reading.question
    headers = {word.folded for one in mention.columns for word in header_words(one.name, question.language)}
    is_verb = question.lexicon.at(words, 0, "loose")[1] in {"loose undated", "loose verbs"}
    if is_verb and words[0].folded not in headers:
        return True
    return mention.end - mention.start == 1 and any(
        column.kind == "date" and column.filled >= reading.table.row_count for column in mention.columns
    )


def is_all(reading: Interpretation, mention: ColumnMention) -> bool:
    words = reading.question.words
    before = [word.folded for word in words[max(mention.start - 2, 0) : mention.start]]
    return not _ALL.isdisjoint(before[-1:]) or "".join(before) in _ALL


def is_near(reading: Interpretation, end: int, start: int) -> bool:
    taken = {at for sign in reading.signs for at in range(sign.start, sign.end)}
    taken |= {at for one in (*reading.values, *reading.titles) for at in range(one.start, one.end)}
    taken |= {
        at
        for column in reading.columns
        for value in reading.values
        if reading.question.is_beside(value.end, column.start)
        for at in range(column.start, column.end)
    }
    question = reading.question
    return all(at in taken or question.is_filler(question.words[at]) for at in range(end, start))
