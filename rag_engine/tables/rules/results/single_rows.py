from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.query import TextFilter
from rag_engine.tables.rules.results import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.query import Filter


def names_code(reading: Interpretation) -> bool:
    words = reading.question.words
    return any(
        character.isdigit()
        for one in reading.values
        for word in words[one.start : one.end]
        for character in word.text
    )


def names_rows_of(reading: Interpretation) -> bool:
    labels = measures.naming_columns(reading.table, reading.question.language)
    return bool(reading.titles) or any(
        one.is_title or measures.is_row_noun(reading, one) or set(one.columns) <= set(labels)
        for one in reading.columns
    )


def is_one_row(reading: Interpretation, filters: Sequence[Filter]) -> bool:
    return any(
        isinstance(one, TextFilter)
        and len(one.texts) == 1
        and not one.negated
        and measures.is_unique(reading.table, one.column)
        for one in filters
    )
