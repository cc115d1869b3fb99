"""What a superlative ranks by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.qualities import columns_for
from rag_engine.tables.rules.interpretation import HINTED
from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions import columns
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.titles import implied_rows, titles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn


_TENURE: Final = frozenset(
    {"been", "employed", "served", "beschaftigt", "angestellt", "dabei", "lleva", "llevan"}
)


def ranked_column(
    reading: Interpretation, stated: Conditions, sign: Sign, concept: str, spoken: Sequence[TypedColumn]
) -> TypedColumn:
    if concept == "date":
        found = _date(reading, spoken)
    elif concept == "age":
        found = _age(reading, stated, sign, spoken)
    elif concept == "duration":
        found = _of_tenure(reading) or _measure(reading, stated, sign, concept, spoken)
    else:
        found = _measure(reading, stated, sign, concept, spoken)
    if found is not None:
        return found
    raise refused("column", reading.table, _said(reading, sign), [one.name for one in reading.table.columns])


def _date(reading: Interpretation, spoken: Sequence[TypedColumn]) -> TypedColumn | None:
    dates = tuple(column for column in spoken if column.kind == "date")
    return period_filters.date_column(reading, dates) or period_filters.year_column(reading)


def _age(
    reading: Interpretation, stated: Conditions, sign: Sign, spoken: Sequence[TypedColumn]
) -> TypedColumn | None:
    dates = [column for column in spoken if column.kind == "date"]
    if len(dates) == 1:
        return dates[0]
    if (born := _birth(reading)) is not None:
        return born
    if columns.of_concepts(reading.table, frozenset({"age"}), reading.question.language):
        return _measure(reading, stated, sign, "age", spoken)
    found = period_filters.year_column(reading)
    if found is None and reading.question.is_loose and not _is_about_people(reading):
        found = period_filters.date_column(reading, ())
    return found


def _measure(
    reading: Interpretation, stated: Conditions, sign: Sign, concept: str, spoken: Sequence[TypedColumn]
) -> TypedColumn | None:
    language = reading.question.language
    fitting = _within_spoken(columns_for(reading.table, concept, language), spoken)
    fitting = fitting or _under(reading, stated)
    if concept == "price" and not spoken and (whole := _amounts(reading)):
        fitting = whole
    if not fitting and concept == "score":
        fitting = [column for column in spoken if column_names.is_quantity(column, language)]
    if len(fitting) > 1:
        raise refused("choice", reading.table, _said(reading, sign), [one.name for one in fitting])
    return fitting[0] if fitting else None


def _amounts(reading: Interpretation) -> list[TypedColumn]:
    language = reading.question.language
    goods = frozenset({"product", "name", "kind", "category"})
    said = {
        name
        for one in (*reading.columns, *reading.titles)
        for name in concepts_at(reading.question.words, one.start)[1]
    }
    pieces = columns.of_concepts(reading.table, column_names.PIECES, language)
    found = [
        column
        for column in reading.table.columns
        if column_names.adds_up(column, language)
        and "amount" in column_names.header(column.name, language).concepts
    ]
    return found if pieces and not said & goods and len(found) == 1 else []


def _birth(reading: Interpretation) -> TypedColumn | None:
    found = columns.of_concepts(reading.table, frozenset({"birth"}), reading.question.language)
    return found[0] if len(found) == 1 and found[0].kind == "date" else None


def _of_tenure(reading: Interpretation) -> TypedColumn | None:
    if not reading.has("who", "which", group="asked") or _TENURE.isdisjoint(
        one.folded for one in reading.question.words
    ):
        return None
    started = columns.of_concepts(reading.table, frozenset({"started"}), reading.question.language)
    return started[0] if len(started) == 1 and started[0].kind == "date" else None


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
