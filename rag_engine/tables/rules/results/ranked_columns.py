"""What a superlative ranks by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.interpretation import HINTED
from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions import columns
from rag_engine.tables.rules.mentions.qualities import columns_for
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.titles import implied_rows, titles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn


def ranked_column(
    reading: Interpretation, stated: Conditions, sign: Sign, concept: str, spoken: Sequence[TypedColumn]
) -> TypedColumn:
    language = reading.question.language
    if concept == "date":
        dates = tuple(column for column in spoken if column.kind == "date")
        found = period_filters.date_column(reading, dates)
        if found is not None:
            return found
        year = period_filters.year_column(reading)
        if year is not None:
            return year
    elif concept == "age" and not columns.of_concepts(reading.table, frozenset({"age"}), language):
        year = period_filters.year_column(reading)
        if year is not None:
            return year
        found = None if _is_about_people(reading) else period_filters.date_column(reading, ())
        if found is not None and reading.question.is_loose:
            return found
    else:
        fitting = _within_spoken(columns_for(reading.table, concept, language), spoken)
        fitting = fitting or _under(reading, stated)
        if not fitting and concept == "score":
            fitting = [column for column in spoken if columns.is_quantity(column, language)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise refused("choice", reading.table, _said(reading, sign), [one.name for one in fitting])
    raise refused("column", reading.table, _said(reading, sign), [one.name for one in reading.table.columns])


def _is_about_people(reading: Interpretation) -> bool:
    people = frozenset({"person", "student", "customer", "manager", "seller", "teacher", "author"})
    own = columns.of_concepts(reading.table, people, reading.question.language)
    return bool(implied_rows(reading.table) & people or own)


def _within_spoken(found: Sequence[TypedColumn], spoken: Sequence[TypedColumn]) -> list[TypedColumn]:
    return [column for column in found if column in spoken] or list(found)


def _under(reading: Interpretation, stated: Conditions) -> list[TypedColumn]:
    is_money = any(concepts_at((word,), 0)[1] & HINTED["money"] for word in _title(reading))
    return list(stated.under) if is_money else []


def _title(reading: Interpretation) -> list[QuestionWord]:
    language = reading.question.language
    return [word for text in titles_of(reading.table) for word in header_words(text, language)]


def _said(reading: Interpretation, sign: Sign) -> str:
    return reading.question.spoken(sign.start, sign.end)
