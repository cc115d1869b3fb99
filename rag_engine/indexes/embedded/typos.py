"""Words of a question that no chunk has: the nearest words that some chunk has.

Candidates begin with the same letter and differ by one edit, or two from eight letters on (insert, delete, substitute, swap).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.spelling import MOST_CORRECTED, MOST_CORRECTIONS, correctable, has_sibling, most_edits

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

_MOST_LOOKED_UP = 12


def corrections(
    connection: sqlite3.Connection,
    frequencies: Mapping[str, int],
    look_up: Callable[[Sequence[str]], Mapping[str, int]],
) -> dict[str, list[str]]:
    """For each token that occurs nowhere the words it was probably meant to be, if any.

    A token that shares its beginning with one that does occur is left alone: it is another form of the same word.
    """
    present = [token for token, frequency in frequencies.items() if frequency]
    missing = [
        token
        for token in correctable(frequencies)
        if not frequencies[token] and not has_sibling(token, present)
    ]
    return {token: _nearest(connection, token, look_up) for token in missing[:MOST_CORRECTED]}


def _nearest(
    connection: sqlite3.Connection, token: str, look_up: Callable[[Sequence[str]], Mapping[str, int]]
) -> list[str]:
    most = most_edits(token)
    letters = set(token)
    near: list[tuple[int, str]] = []
    for (word,) in connection.execute(
        "SELECT t FROM word WHERE t >= ? AND t < ? AND length(t) BETWEEN ? AND ?",
        (token[0], chr(ord(token[0]) + 1), len(token) - most, len(token) + most),
    ):
        if len(letters.symmetric_difference(word)) <= 2 * most:
            distance = edits(token, word, most=most)
            if distance <= most:
                near.append((distance, word))
    near.sort()
    frequencies = look_up([word for _, word in near[:_MOST_LOOKED_UP]])
    best = min((distance for distance, word in near if frequencies.get(word)), default=0)
    found = [word for distance, word in near if distance == best and frequencies.get(word)]
    return sorted(found, key=lambda word: (-frequencies[word], word))[:MOST_CORRECTIONS]


def edits(one: str, other: str, *, most: int) -> int:
    """How many insertions, deletions, substitutions and swaps of neighbours make one of the other; `most` + 1 if more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, against in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return min(last[-1], most + 1)
