"""Pure: how well an embedder knows the language of a text, told from how its own tokenizer cuts the text up.

A tokenizer is learned from the text its model was trained on. What the model has read much of comes in whole words and long
pieces; what it has not is spelled out letter by letter, or a whole run of letters becomes one unknown piece. So letters per
piece tell the two apart in any language, with no table of languages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SAMPLE = 120
"""Characters of a text that are looked at: a sentence or two tell the language."""
_SPELLED = 1.0
"""Letters per piece of a text that is spelled out: the tokenizer knows nothing but the letters."""
_ALPHABETIC = 4.0
"""Letters per piece of English in an English vocabulary, and of most languages in a multilingual one of 250,000 pieces."""
_IDEOGRAPHIC = 1.5
"""The same for scripts in which a character is a syllable or a word."""
_LONGEST_KNOWN = 9.0
"""More letters per piece than any language has: such runs are one unknown piece each."""

_IDEOGRAPHS = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LETTERS = re.compile(r"[^\W_]")
_SIGNS = re.compile(r"[^\w\s]")


def gauge(count_tokens: Callable[[str], int]) -> Callable[[str], float]:
    """A function from a text to how well the embedder of that tokenizer knows it: 0 not at all, 1 as well as any.

    What was measured is remembered, so that asking for the same passages again costs nothing.
    """
    frame = count_tokens("")

    @lru_cache(maxsize=4096)
    def familiarity(sample: str) -> float:
        letters = len(_LETTERS.findall(sample))
        if not letters:
            return 1.0
        pieces = max(1, count_tokens(sample) - frame - len(_SIGNS.findall(sample)))
        return _familiarity(letters / pieces, ideographic=len(_IDEOGRAPHS.findall(sample)) / letters)

    return lambda text: familiarity(text[:_SAMPLE])


def mean_familiarity(texts: Sequence[str], familiarity: Callable[[str], float]) -> float:
    """The mean over several texts, 1 for none."""
    return sum(map(familiarity, texts)) / len(texts) if texts else 1.0


def _familiarity(letters_per_piece: float, *, ideographic: float) -> float:
    if letters_per_piece > _LONGEST_KNOWN:
        return 0.0
    full = ideographic * _IDEOGRAPHIC + (1 - ideographic) * _ALPHABETIC
    return min(1.0, max(0.0, (letters_per_piece - _SPELLED) / (full - _SPELLED)))
