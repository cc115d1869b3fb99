"""By words alone, for a question without a sum or count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.interpretation import Question, read
from rag_engine.tables.rules.language.lexicon import lexicon
from rag_engine.tables.rules.language.question_words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.types import TypedTable

_MOST_WORDS: Final = 80
_RANKING: Final = frozenset({"most", "least"})
_ASKED: Final = frozenset({"when", "where", "who"})


def names_cells(question: str, tables: Sequence[TypedTable], languages: Iterable[str]) -> bool:
    """It names a column and a value or period, or three of these, or ranks rows."""
    for language in languages:
        found = words(question, language)
        if not 1 < len(found) <= _MOST_WORDS:
            return False
        asked = Question(text=question, language=language, lexicon=lexicon(language), words=found)
        if any(_names(read(asked, table)) for table in tables):
            return True
    return False


def _names(reading: Interpretation) -> bool:
    unknown = sum(end - start for start, end in reading.leftovers)
    columns = len(reading.columns) + reading.has(*_ASKED, group="asked")
    exact = sum(value.exact for value in reading.values)
    values = exact + len(reading.periods)
    known = columns + values + len(reading.titles)
    if not reading.is_direct or unknown >= known:
        return False
    if any(
        sign.group == "superlatives" or (sign.group == "operations" and sign.name in _RANKING)
        for sign in reading.signs
    ):
        return bool(known)
    # Not all values of a column are kept.
    return bool(columns and (values or reading.numbers)) or (exact > 0 and values > 2)
