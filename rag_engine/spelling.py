"""Which words of a question may be corrected, and what a correction counts for: the rules that both indexes keep to.

Words of four letters and more, one edit, or two from eight letters on. A word that shares its beginning with one that does
occur is left alone: it is another form of the same word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARE = 0.7
"""What a corrected word counts for, against one that was typed."""
SHORTEST = 4
"""Letters of a word that is corrected: shorter ones cannot be told from others."""
MOST_CORRECTED = 6
"""Words of one question."""
MOST_CORRECTIONS = 3
"""Of one word."""

_LONGEST = 24
_TWO_EDITS_FROM = 8
_SHARED_STEM = 0.6


def correctable(tokens: Iterable[str]) -> list[str]:
    """The tokens that are words, and not too short to be told from others."""
    return [token for token in tokens if SHORTEST <= len(token) <= _LONGEST and token.isalpha()]


def most_edits(word: str) -> int:
    """How far a correction may be from the word."""
    return 2 if len(word) >= _TWO_EDITS_FROM else 1


def has_sibling(word: str, present: Iterable[str]) -> bool:
    """Whether one of the words that do occur begins as this one does."""
    stem = word[: max(3, int(_SHARED_STEM * len(word)))]
    return any(other.startswith(stem) for other in present)
