"""SQL without a model, by the words of the question, headers and values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.tables.rules.choice import chosen
from rag_engine.tables.rules.identifiers import with_identifiers
from rag_engine.tables.rules.language.lexicon import LANGUAGES, lexicon
from rag_engine.tables.rules.language.question_words import words
from rag_engine.tables.rules.named_rows import named_row
from rag_engine.tables.rules.question import Question
from rag_engine.tables.rules.subject import names_cells
from rag_engine.tables.rules.wordings.asides import without_asides
from rag_engine.tables.rules.wordings.spellings import Wording, plain, with_year_ranges
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from rag_engine.text.language import detect, possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.types import TypedTable

_MOST_WORDS = 80
_OVER_ROWS = frozenset({"sum", "average", "median", "share", "difference", "other"})
_OF_SEVERAL = frozenset({"count", "most", "least"})


def write(question: str, tables: Sequence[TypedTable]) -> WrittenQuery | QueryRefusal:
    """Every word has its part in it; linking ones are skipped."""
    usable = with_identifiers(_usable(tables))
    languages = _languages(question)
    found = _written(question, usable, languages)
    if isinstance(found, WrittenQuery) or found.readings:
        return found
    for language in languages[:1]:
        for shorter in without_asides(question, usable, language):
            written = _written(shorter, usable, languages, aside=question)
            if isinstance(written, WrittenQuery):
                return written
    return _named_row(question, usable, languages) or found


def _written(
    question: str, tables: Sequence[TypedTable], languages: Sequence[str], *, aside: str = ""
) -> WrittenQuery | QueryRefusal:
    first: QueryRefusal | None = None
    for is_loose in (False, True):
        for language in languages:
            asked, said = _question(question, tables, language, is_loose=is_loose)
            if asked is None:
                return first or QueryRefusal(missing="question")
            written = chosen(replace(asked, aside=aside), tables)
            if not isinstance(written, QueryRefusal):
                notes = (
                    asked.lexicon.sentences["taken"].format(word=word, value=cell)
                    for word, cell in said.taken
                )
                return replace(written, notes=(*written.notes, *notes), language=language)
            if first is None or first.missing == "question" or "choice" == written.missing != first.missing:
                first = written
        if first is not None and first.missing == "choice":
            return first
    return first or QueryRefusal(missing="question")


def _named_row(
    question: str, tables: Sequence[TypedTable], languages: Sequence[str]
) -> WrittenQuery | QueryRefusal | None:
    for language in languages:
        asked, _ = _question(question, tables, language, is_loose=True)
        row = named_row(asked, tables) if asked is not None else None
        if row is not None:
            return row
    return None


def _question(
    question: str, tables: Sequence[TypedTable], language: str, *, is_loose: bool
) -> tuple[Question | None, Wording]:
    spelled = with_year_ranges(question, tables, language)
    said = plain(spelled, tables, language) if is_loose else Wording(text=spelled)
    found = words(said.text, language)
    if not 1 < len(found) <= _MOST_WORDS:
        return None, said
    known = lexicon(language)
    return Question(text=said.text, language=language, lexicon=known, words=found, is_loose=is_loose), said


def answers(question: str, tables: Sequence[TypedTable]) -> bool:
    """With rows or a figure, if they hold any."""
    return not isinstance(write(question, tables), QueryRefusal)


def asks_for_figure(question: str, *, of_one_row: bool = False) -> bool:
    """One row may hold a number of things."""
    for language in _languages(question):
        found, known = words(question, language), lexicon(language)
        names = {known.at(found, at, "operations")[1].removeprefix("operations ") for at in range(len(found))}
        if names & _OVER_ROWS or (names & _OF_SEVERAL and not of_one_row):
            return True
    return False


def is_about(question: str, tables: Sequence[TypedTable], *, or_row: bool = False) -> bool:
    """It names a cell or ranks rows."""
    usable = with_identifiers(_usable(tables))
    return names_cells(question, usable, _languages(question), or_row=or_row)


def _usable(tables: Sequence[TypedTable]) -> list[TypedTable]:
    return [table for table in tables if table.columns and not table.too_large]


def _languages(question: str) -> tuple[str, ...]:
    certain = detect(question)
    if certain:
        return (certain,) if certain in LANGUAGES else ()
    likely = [language for language in possible(question) if language in LANGUAGES]
    return tuple(dict.fromkeys((*likely, *LANGUAGES)))
