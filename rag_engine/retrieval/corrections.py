from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from rag_engine.text.analyzer import query_words, with_words, words
from rag_engine.text.chunk_text import searchable_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.types import Hit, Ranking

_READ: Final = 20
"""Hits in which a corrected word is looked for."""
_MOST_SAID: Final = 3


def corrected_words(
    question: str, ranking: Ranking, *, is_word: Callable[[str], bool] = lambda _: False
) -> dict[str, str]:
    """The passages' word for each mistyped one of the question: neither a word nor held by the hits in some form."""
    if not ranking.corrections:
        return {}
    spelled = _spelled(ranking.hits[:_READ])
    found: dict[str, str] = {}
    for word, tokens in query_words(question):
        if not word.isalpha() or any(token in spelled for token in tokens) or is_word(word):
            continue
        likely = (
            spelled[token]
            for typed in tokens
            for token in ranking.corrections.get(typed, ())
            if token in spelled
        )
        if (searched := next(likely, "")) and searched.casefold() != word.casefold():
            found[word] = searched
    return dict(islice(found.items(), _MOST_SAID))


def corrected_question(question: str, corrected: Mapping[str, str]) -> str:
    return with_words(question, corrected)


def sentences(corrected: Mapping[str, str]) -> str:
    return " ".join(
        f"Searched for “{searched}” instead of “{typed}”." for typed, searched in corrected.items()
    )


def _spelled(hits: Sequence[Hit]) -> dict[str, str]:
    spelled: dict[str, str] = {}
    for hit in hits:
        for word, tokens in words(searchable_text(hit.chunk), language=hit.chunk.language):
            for token in tokens if word.isalpha() else ():
                spelled.setdefault(token, word)
    return spelled
