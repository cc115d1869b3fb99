"""One edit in words of at least four letters, two from eight on. Leaves alone words that begin like a found one: they
are inflected.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

SHARE = 0.7
"""Relative to a typed word."""
SHORTEST = 4
MOST_CORRECTED = 6
MOST_CORRECTIONS = 3

_LONGEST = 24
_TWO_EDITS_FROM = 8
_SHARED_STEM = 0.6
_TWO_LETTERS_FROM = 10
_LAST_LETTER_FROM = 8
_VOWEL_FROM = 7
_ONE = np.uint64(1)
_VOWELS = frozenset("aeiouyаеиоуыэюяіє")


def correctable(tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if SHORTEST <= len(token) <= _LONGEST and token.isalpha()]


def most_edits(word: str) -> int:
    return 2 if len(word) >= _TWO_EDITS_FROM else 1


def has_sibling(word: str, present: Iterable[str]) -> bool:
    stem = word[: max(3, int(_SHARED_STEM * len(word)))]
    return any(other.startswith(stem) for other in present)


def corrections(
    frequencies: Mapping[str, int],
    *,
    near: Callable[[str], Mapping[int, Sequence[str]]],
    look_up: Callable[[Sequence[str]], Mapping[str, int]],
    literal: Collection[str] = (),
) -> dict[str, list[str]]:
    """`near`: words near a token by the number of edits; `look_up`: how many visible chunks hold each."""
    return {token: _nearest(token, near(token), look_up) for token in to_correct(frequencies, literal)}


def to_correct(frequencies: Mapping[str, int], literal: Collection[str] = ()) -> list[str]:
    present = [token for token, frequency in frequencies.items() if frequency]
    missing = [
        token
        for token in correctable(frequencies)
        if not frequencies[token] and token not in literal and not has_sibling(token, present)
    ]
    return missing[:MOST_CORRECTED]


def _nearest(
    typed: str, near: Mapping[int, Sequence[str]], look_up: Callable[[Sequence[str]], Mapping[str, int]]
) -> list[str]:
    for edits in sorted(near):
        seen = look_up(near[edits])
        if found := [word for word in near[edits] if seen[word]]:
            return sorted(found, key=lambda word: (not _has_its_letters(typed, word), -seen[word], word))[
                :MOST_CORRECTIONS
            ]
    return []


def is_slip(typed: str, written: str) -> bool:
    """Strict: another ending or vowel makes another word."""
    typed, written = typed.casefold(), written.casefold()
    most = 2 if len(typed) >= _TWO_LETTERS_FROM else 1
    bare, other = _without_accents(typed), _without_accents(written)
    if bare == other:
        return True
    if typed[:1] != written[:1] or edits(typed, written, most=most) > most:
        return False
    own, theirs = _unlike_parts(bare, other)
    start = len(bare) - len(own)
    if bare[:start] == other[:start] and own != theirs[::-1]:
        return not own and len(theirs) == 1 and start >= _LAST_LETTER_FROM
    return len(typed) >= _VOWEL_FROM or not (own in _VOWELS and theirs in _VOWELS)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )


def _has_its_letters(typed: str, word: str) -> bool:
    return sorted(typed) == sorted(word) or _single(typed) == _single(word)


def _single(word: str) -> list[str]:
    return [letter for letter, _ in groupby(word)]


def edits(one: str, other: str, *, most: int) -> int:
    """With swaps of neighbours; `most` + 1 if more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    one, other = _unlike_parts(one, other)
    if not one or not other:
        return min(len(one) + len(other), most + 1)
    if most <= 1:
        is_one_edit = len(one) == len(other) == 1 or (len(one) == 2 and one == other[::-1])
        return min(1 if is_one_edit else 2, most + 1)
    return _edits_in_band(one, other, most)


def edits_of_each(typed: str, words: Sequence[str]) -> list[int]:
    """As `edits` of `typed`, at most 64 letters, and each word, without a bound (Hyyrö 2003, one bit per letter)."""
    if not typed or not words:
        return [len(word) + len(typed) for word in words]
    lengths = np.array([len(word) for word in words])
    codes = np.array(words).view(np.uint32).reshape(len(words), -1)
    found = np.full(len(words), len(typed))
    last = np.uint64(len(typed) - 1)
    rising, falling = np.full(len(words), np.uint64(2**64 - 1)), np.zeros(len(words), dtype=np.uint64)
    same, diagonal = np.zeros_like(falling), np.zeros_like(falling)
    for place, before in enumerate(_places(typed, codes.T)):
        swapped = ((~diagonal & before) << _ONE) & same
        diagonal = swapped | (((before & rising) + rising) ^ rising) | before | falling
        same = before
        more, fewer = falling | ~(diagonal | rising), diagonal & rising
        inside = place < lengths
        found += inside * (more >> last & _ONE).astype(np.int64)
        found -= inside * (fewer >> last & _ONE).astype(np.int64)
        more = more << _ONE | _ONE
        rising, falling = (fewer << _ONE) | ~(diagonal | more), more & diagonal
    return found.tolist()


def _places(typed: str, columns: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Of each letter in `typed`: the bits of its places."""
    places = np.zeros(columns.shape, dtype=np.uint64)
    for letter in set(typed):
        bits = sum(1 << place for place, other in enumerate(typed) if other == letter)
        places[columns == ord(letter)] = bits
    return places


def _unlike_parts(one: str, other: str) -> tuple[str, str]:
    shared = min(len(one), len(other))
    start = 0
    while start < shared and one[start] == other[start]:
        start += 1
    end = 0
    while end < shared - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _edits_in_band(one: str, other: str, most: int) -> int:
    far = most + 1
    before: list[int] = []
    last = [min(j, far) for j in range(len(other) + 1)]
    for i, letter in enumerate(one, start=1):
        row = [far] * (len(other) + 1)
        row[0] = min(i, far)
        least = row[0]
        for j in range(max(1, i - most), min(len(other), i + most) + 1):
            against = other[j - 1]
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            row[j] = cost
            least = min(least, cost)
        if least > most:
            return far
        before, last = last, row
    return min(last[-1], far)
