"""Term frequencies saturated as in BM25 when a chunk is written, for Elasticsearch to rank by without statistics of its own.

BM25 compares a chunk's length with the average of the searched knowledge bases, which is known only when they are searched. Here
it is a fixed one; the engine computes the exact scores of the hits.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

K1, B = 1.2, 0.75
"""Parameters of BM25."""

FIELD = "frequencies"
_ASSUMED_AVERAGE = 100.0
"""Tokens of a chunk."""
_DIGITS = 4
"""Lucene keeps fewer."""


def saturated(count: int, length: int, average: float) -> float:
    """What a term counts that occurs `count` times in a chunk of `length` tokens, from 0 to 1."""
    return count / (count + K1 * (1 - B + B * length / average))


def frequencies(tokens: Sequence[str]) -> dict[str, float]:
    return {
        term: max(round(saturated(count, len(tokens), _ASSUMED_AVERAGE), _DIGITS), 10**-_DIGITS)
        for term, count in Counter(tokens).items()
    }
