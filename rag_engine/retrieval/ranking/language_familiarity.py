"""By the tokenizer's letters per piece."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SAMPLE = 120
_NO_WORD = "qzxvkjwq"
_SPELLED = 1.0
_ALPHABETIC = 4.0
_IDEOGRAPHIC = 1.5
"""Where a character is a syllable or word."""
_LONGEST_KNOWN = 9.0

_IDEOGRAPHS = lazy(
    lambda: re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
)
_LETTERS = lazy(lambda: re.compile(r"[^\W_]"))
_SIGNS = lazy(lambda: re.compile(r"[^\w\s]"))


def gauge(count_tokens: Callable[[str], int]) -> Callable[[str], float]:
    """Of a text, 0 to 1; cached."""
    frame = count_tokens("")

    @lru_cache(maxsize=4096)
    def familiarity(sample: str) -> float:
        letters = len(_LETTERS.findall(sample))
        if not letters:
            return 1.0
        pieces = max(1, count_tokens(sample) - frame - len(_SIGNS.findall(sample)))
        return _familiarity(letters / pieces, ideographic=len(_IDEOGRAPHS.findall(sample)) / letters)

    return lambda text: familiarity(text[:_SAMPLE])


def word_check(count_tokens: Callable[[str], int]) -> Callable[[str], bool]:
    """The embedder's vocabulary holds no mistyped words."""
    frame = count_tokens("")
    spells = count_tokens(_NO_WORD) - frame > 1
    return lambda word: spells and count_tokens(word) - frame == 1


def mean_familiarity(texts: Sequence[str], familiarity: Callable[[str], float]) -> float:
    return sum(map(familiarity, texts)) / len(texts) if texts else 1.0


def _familiarity(letters_per_piece: float, *, ideographic: float) -> float:
    if letters_per_piece > _LONGEST_KNOWN:
        return 0.0
    full = ideographic * _IDEOGRAPHIC + (1 - ideographic) * _ALPHABETIC
    return min(1.0, max(0.0, (letters_per_piece - _SPELLED) / (full - _SPELLED)))
