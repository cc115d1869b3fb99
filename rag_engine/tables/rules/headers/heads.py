from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import LINKS, header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedColumn

_HEAD_FIRST: Final = frozenset({"es", "fr"})
_PREPOSITIONS: Final = frozenset({"on", "at", "by", "since", "until", "from", "to", "am", "bis", "seit"})
"""At the end: "Ordered on"."""


def names_head(said: Sequence[QuestionWord], column: TypedColumn, language: str) -> bool:
    read = header(column.name, language)
    places = sorted(read.required)
    places = [at for at in places if read.words[at].folded not in _PREPOSITIONS] or places
    links = [at for at, word in enumerate(read.words) if word.folded in LINKS and at > places[0]]
    before = [at for at in places if not links or at < links[0]]
    head = read.words[before[0] if language in _HEAD_FIRST else before[-1]]
    return any(not head.forms.isdisjoint(word.forms) for word in said)
