from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.language.word_lists import is_listed
from rag_engine.text.name_similarity import LONGEST, SHORTEST, is_code, is_misspelt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Search

    Names = tuple[tuple[str, ...], ...]
    Similar = Mapping[tuple[str, ...], Mapping[str, float]]

_SHORTEST_NAME: Final = 4
_MOST: Final = 4


def names(asked: Sequence[tuple[str, tuple[str, ...]]], language: str) -> Names:
    """Their tokens."""
    common = frozenset(FUNCTION_WORDS.get(language, "").split())
    found: dict[tuple[str, ...], None] = {}
    for place, (word, forms) in enumerate(asked):
        codes = tuple(form for form in forms if is_code(form))
        if codes:
            found[(max(codes, key=len),)] = None
        elif place and _is_name(word, language) and word.casefold() not in common:
            found[tuple(form for form in forms if SHORTEST <= len(form) <= LONGEST)] = None
    return tuple(forms for forms in found if forms)[:_MOST]


def _is_name(word: str, language: str) -> bool:
    if len(word) < _SHORTEST_NAME or not word[0].isupper() or not word.replace("-", "").isalpha():
        return False
    return not is_listed(word, language)


def with_similar(search: Search, similar: Similar) -> Search:
    if not similar:
        return search
    weights: dict[str, float] = {}
    for words in similar.values():
        for word, sure in words.items():
            weights[word] = max(sure, weights.get(word, 0.0))
    return replace(search, synonyms=dict.fromkeys(search.knowledge_bases, weights))


def misspelt(similar: Similar) -> dict[str, tuple[str, ...]]:
    found = {
        form: tuple(word for word in words if is_misspelt(form, word))
        for forms, words in similar.items()
        for form in forms
        if form.isalpha()
    }
    return {form: words for form, words in found.items() if words}
