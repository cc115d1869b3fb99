"""For a question without a sum or count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules import relevance
from rag_engine.tables.rules.choice import asks_for_cell
from rag_engine.tables.rules.interpretation import read
from rag_engine.tables.rules.language.lexicon import lexicon
from rag_engine.tables.rules.language.question_words import words
from rag_engine.tables.rules.question import Question
from rag_engine.text.language import question_language

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedTable

_MOST_WORDS: Final = 80
_RANKING: Final = frozenset({"most", "least"})
_ASKED: Final = frozenset({"when", "where", "who"})


def names_cells(
    question: str, tables: Sequence[TypedTable], languages: Iterable[str], *, or_row: bool = False
) -> bool:
    """`or_row`: a row is enough."""
    for language in languages:
        found = words(question, language)
        if not 1 < len(found) <= _MOST_WORDS:
            return False
        asked = Question(text=question, language=language, lexicon=lexicon(language), words=found)
        said = relevance.asked_words(asked)
        may_name = relevance.may_name_row if or_row else relevance.may_name_cells
        readings = (read(asked, table) for table in tables if may_name(said, table, language))
        if any(names_cell(one) or (or_row and asks_for_cell(one)) for one in readings):
            return True
    return False


def is_nowhere(name: str, texts: Iterable[str]) -> bool:
    """No text has all its words."""
    language = question_language(name)
    said = [word.forms for word in words(name, language)]
    return bool(said) and not any(_has_all(words(text, language), said) for text in texts)


def _has_all(found: Sequence[QuestionWord], said: Sequence[frozenset[str]]) -> bool:
    known = {form for word in found for form in word.forms}
    return not any(forms.isdisjoint(known) for forms in said)


def names_cell(reading: Interpretation) -> bool:
    unknown = sum(end - start for start, end in reading.leftovers)
    columns = len(reading.columns) + reading.has(*_ASKED, group="asked")
    exact = sum(value.exact for value in reading.values)
    compared = sum(side not in reading.columns for one in reading.contrasts for side in one.sides)
    values = exact + len(reading.periods) + compared
    known = columns + values + len(reading.titles)
    if not reading.is_direct or unknown >= known:
        return False
    if any(
        sign.group == "links" and sign.name == "missing" and reading.question.is_beside(sign.end, one.start)
        for sign in reading.signs
        for one in reading.columns
    ):
        return columns > 1 or bool(reading.titles)
    if any(
        sign.group == "superlatives" or (sign.group == "operations" and sign.name in _RANKING)
        for sign in reading.signs
    ):
        return bool(known)
    # Not all values of a column are kept.
    return bool(columns and (values or reading.numbers)) or (exact > 0 and values > 2)
