from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.text.spelling import edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHORTEST: Final = 3
LONGEST: Final = 32
MOST: Final = 4

_SINGLE: Final = str.maketrans(
    {"æ": "a", "œ": "o", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "t", "ı": "i"}
)
_DIGRAPHS: Final = (("ae", "a"), ("oe", "o"), ("ue", "u"))
_LOOKALIKES: Final = str.maketrans("oil", "011")
_ONE_EDIT, _TWO_EDITS, _THREE_EDITS = 4, 6, 11
_SHORTEST_GROUPS: Final = 5
_LONG: Final = 8
_LEAST_SHARED: Final = 0.3
_LEAST: Final = 0.7
_LEAST_PART: Final = 0.5
_OF_PART: Final = 0.8
_LEAST_RELATIVE: Final = 0.8


@lru_cache(maxsize=4_096)
def plain(word: str) -> str:
    """Without accents."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(_SINGLE)


def is_code(token: str) -> bool:
    """No number."""
    if not SHORTEST <= len(token) <= LONGEST or not any(map(str.isdigit, token)):
        return False
    return any(map(str.isalpha, token)) or (
        len(token) >= _SHORTEST_GROUPS and ("-" in token or token.count(".") > 1)
    )


def most_edits(name: str) -> int:
    return sum(len(name) >= length for length in (_ONE_EDIT, _TWO_EDITS, _THREE_EDITS))


def is_same_name(one: str, other: str) -> bool:
    return _comparable(one.casefold()) == _comparable(other.casefold())


def is_misspelt(typed: str, written: str) -> bool:
    most = 2 if len(typed) >= _LONG else 1
    return is_same_name(typed, written) or edits(typed, written, most=most) <= most


def similarity(typed: str, written: str) -> float:
    """0 to 1: by edits or as a beginning."""
    typed, written = _comparable(typed), _comparable(written)
    if not typed or not written:
        return 0.0
    if typed == written:
        return 1.0
    if any(map(str.isdigit, typed)) != any(map(str.isdigit, written)):
        return 0.0
    most = most_edits(typed)
    distance = edits(typed, written, most=most)
    found = (
        1 - distance / len(typed) if distance <= most and _shared(typed, written) >= _LEAST_SHARED else 0.0
    )
    share = len(typed) / len(written)
    if len(typed) >= SHORTEST and share >= _LEAST_PART and written.startswith(typed):
        found = max(found, _OF_PART + (1 - _OF_PART) * share)
    return found if found >= _LEAST else 0.0


def similar_words(forms: Iterable[str], words: Iterable[str]) -> dict[str, float]:
    """Most similar first."""
    forms = tuple(forms)
    rated = {word: max(similarity(form, word) for form in forms) for word in words}
    return dict(
        sorted(((word, sure) for word, sure in rated.items() if sure), key=lambda pair: (-pair[1], pair[0]))
    )


def lacking(names: Iterable[tuple[str, ...]], seen: Mapping[str, int]) -> list[tuple[str, ...]]:
    return [forms for forms in names if not any(seen[form] for form in forms)]


def replacements(near: Mapping[str, float], seen: Mapping[str, int]) -> dict[str, float]:
    """`near`: most similar first."""
    visible = {word: sure for word, sure in near.items() if seen[word]}
    best = max(visible.values(), default=0.0)
    kept = [(word, sure) for word, sure in visible.items() if sure >= _LEAST_RELATIVE * best]
    return dict(kept[:MOST])


@lru_cache(maxsize=16_384)
def _comparable(word: str) -> str:
    word = plain(word)
    for digraph, letter in _DIGRAPHS:
        word = word.replace(digraph, letter)
    return word.translate(_LOOKALIKES) if any(map(str.isdigit, word)) else word


def _shared(one: str, other: str) -> float:
    """Dice's coefficient of pairs."""
    own, theirs = _pairs(one), _pairs(other)
    return 2 * (own & theirs).total() / (own.total() + theirs.total())


def _pairs(word: str) -> Counter[str]:
    padded = f" {word} "
    return Counter(padded[start : start + 2] for start in range(len(padded) - 1))
