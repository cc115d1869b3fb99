from __future__ import annotations

from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.text.analyzer import query_tokens, query_words, tokens, with_words, words
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.language import detect, question_language
from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.language.word_lists import is_listed
from rag_engine.text.name_similarity import is_same_name
from rag_engine.text.spelling import edits, is_slip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rag_engine.types import Hit, Ranking

_KNOWN: Final = frozenset({"en", "zh", "ja", "ko", "th", "lo", "my", "km", ""})
"""Languages whose mistyped words are English, which `is_word` knows: others are split into characters."""
_FAR: Final = 4
_READ: Final = 20
_MOST_SAID: Final = 3
_SHORTEST: Final = 4
_LONGEST: Final = 30
_MOST: Final = 4
_MOST_WORDS: Final = 40
_HOLDING: Final = 5
_FIRST_UNSPACED: Final = "\u0e00"
_RESPELLED_WEIGHT: Final = 0.25


def corrected_words(
    question: str, ranking: Ranking, *, is_word: Callable[[str], bool] = lambda _: False
) -> dict[str, str]:
    """The passages' word for each mistyped one."""
    if not ranking.corrections:
        return {}
    asked = detect(question)
    # A word of one language is no mistyped word of another.
    of_language = [hit for hit in ranking.hits[:_READ] if not asked or hit.chunk.language in ("", asked)]
    spelled = _spelled(of_language, asked)
    common = FUNCTION_WORDS.get(question_language(question), "").split()
    found: dict[str, str] = {}
    for word, forms in query_words(question):
        if not word.isalpha() or any(token in spelled for token in forms):
            continue
        is_known = is_word(word) or word.casefold() in common or is_listed(word, asked)
        near = dict.fromkeys(token for typed in forms for token in ranking.corrections.get(typed, ()))
        likely = [
            written
            for token in near
            for written, language in spelled.get(token, {}).items()
            if (is_same_name(word, written) if is_known else language in _KNOWN or is_slip(word, written))
        ]
        searched = min(likely, key=partial(_distance, word), default="")
        if searched and searched.casefold() != word.casefold():
            found[word] = searched
    return dict(islice(found.items(), _MOST_SAID))


def corrected_question(question: str, corrected: Mapping[str, str]) -> str:
    return with_words(question, corrected)


def sentences(corrected: Mapping[str, str]) -> str:
    return " ".join(
        f"Searched for “{searched}” instead of “{typed}”." for typed, searched in corrected.items()
    )


def listed_tokens(asked: Sequence[tuple[str, Sequence[str]]], language: str) -> frozenset[str]:
    """Of words that the question's language has: no other word is meant."""
    return frozenset(token for word, forms in asked if is_listed(word, language) for token in forms)


def _spelled(hits: Sequence[Hit], asked: str) -> dict[str, dict[str, str]]:
    spelled: dict[str, dict[str, str]] = {}
    for hit in hits:
        for word, forms in words(searchable_text(hit.chunk), language=hit.chunk.language):
            for token in forms if word.isalpha() else ():
                spelled.setdefault(token, {}).setdefault(word, asked or hit.chunk.language)
    return spelled


def _distance(typed: str, written: str) -> int:
    return edits(typed.casefold(), written.casefold(), most=_FAR)


def respellings(question: str, is_word: Callable[[str], bool]) -> tuple[tuple[str, str], ...]:
    """Typed and respelled, for words that `is_word` does not know."""
    listed = [word if forms else "" for word, forms in words(question, language="")[:_MOST_WORDS]]
    unknown = {word for word in listed if _is_plain(word) and not is_word(word)}
    if not unknown:
        return ()
    apart = dict(_apart(listed, unknown, is_word))
    together = dict(_together(listed, unknown - apart.keys()))
    return tuple((apart | together).items())[:_MOST]


def similar_tokens(found: Sequence[tuple[str, str]]) -> Mapping[str, float]:
    return {token: _RESPELLED_WEIGHT for _, written in found for token in query_tokens(written)}


def held_respellings(found: Sequence[tuple[str, str]], rankings: Sequence[Ranking]) -> list[tuple[str, str]]:
    """Those that one of the best passages holds."""
    if not found:
        return []
    best = [hit.chunk for ranking in rankings for hit in ranking.hits[:_HOLDING]]
    held = [frozenset(tokens(searchable_text(chunk), language=chunk.language)) for chunk in best]
    return [
        pair
        for pair in found
        if any(
            all(any(form in own for form in query_tokens(word)) for word in pair[1].split()) for own in held
        )
    ]


def respelled(question: str, found: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(question.replace(typed, written) for typed, written in found if typed in question)


def _apart(
    listed: Sequence[str], unknown: set[str], is_word: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    for word in listed:
        if word in unknown:
            ends = range(_SHORTEST, len(word) - _SHORTEST + 1)
            halves = [(word[:end], word[end:]) for end in ends if is_word(word[:end]) and is_word(word[end:])]
            if halves:
                yield word, " ".join(max(halves, key=lambda half: min(map(len, half))))


def _together(listed: Sequence[str], unknown: set[str]) -> Iterator[tuple[str, str]]:
    for first, second in pairwise(listed):
        if _is_plain(first) and _is_plain(second) and {first, second} & unknown:
            # A capital inside would make two words of it again.
            yield f"{first} {second}", first + second.lower()


def _is_plain(word: str) -> bool:
    return word.isalpha() and word[0] < _FIRST_UNSPACED and _SHORTEST <= len(word) <= _LONGEST
