"""Tokens and pairs that a passage shares with a claim, weighted by rarity."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.text.analyzer import tokens
from rag_engine.text.language import detect
from rag_engine.text.language.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAIR_SHARE: Final = 0.3
UNSEEN: Final = 0.7
"""Relative to a token in a single passage."""
EMPTY: Final = 0.1
"""Weight of a function word, relative to others of the same frequency."""
_IDEOGRAPHIC: Final = "的 了 是 在 和 有 与 于 为 不 也 就 都 而 及 或 这 那 他 她 它 其 被 将 对 中 上 の は が を に で と も た し て る"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingSimilarity:
    tokens: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    empty: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, *, language: str = "") -> WordingSimilarity:
        """`language` is detected if empty."""
        language = language or detect(text)
        found = tokens(text, language=language)
        single = frozenset(found)
        return cls(tokens=single, pairs=frozenset(pairwise(found)), empty=single & _function_tokens(language))


def joined(wordings: Iterable[WordingSimilarity]) -> WordingSimilarity:
    listed = list(wordings)
    return WordingSimilarity(
        tokens=frozenset[str]().union(*(wording.tokens for wording in listed)),
        pairs=frozenset[tuple[str, str]]().union(*(wording.pairs for wording in listed)),
    )


@lru_cache(maxsize=32)
def _function_tokens(language: str) -> frozenset[str]:
    words = _IDEOGRAPHIC if language in ("zh", "ja") else FUNCTION_WORDS.get(language, "")
    return frozenset(tokens(words, language=language))


class Weights:
    def __init__(self, passages: Sequence[WordingSimilarity]) -> None:
        self._count = len(passages)
        self._frequency = Counter(token for passage in passages for token in passage.tokens)
        self._unseen = UNSEEN * self._weight(1)

    def _weight(self, frequency: int) -> float:
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))

    def of(self, token: str) -> float:
        frequency = self._frequency[token]
        return self._weight(frequency) if frequency else self._unseen

    def overlap(self, claim: WordingSimilarity, passage: WordingSimilarity) -> float:
        """Share of the claim's weight, 0 to 1."""
        single = _share(
            ((token, self.of(token) * (EMPTY if token in claim.empty else 1)) for token in claim.tokens),
            passage.tokens,
        )
        if not claim.pairs:
            return single
        double = _share(
            (
                (pair, max(self.of(token) * (EMPTY if token in claim.empty else 1) for token in pair))
                for pair in claim.pairs
            ),
            passage.pairs,
        )
        return (1 - PAIR_SHARE) * single + PAIR_SHARE * double


def _share(weighted: Iterable[tuple[object, float]], among: frozenset[object]) -> float:
    shared = total = 0.0
    for item, weight in weighted:
        total += weight
        shared += weight if item in among else 0.0
    return shared / total if total else 0.0
