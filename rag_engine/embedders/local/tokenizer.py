from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
from tokenizers import Tokenizer

from rag_engine.embedders._vectors import well_formed

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MAX_TOKENS: Final = 256
_SPECIAL_TOKENS: Final = 2
_SEPARATOR: Final = 102

_WORDS: Final = re.compile(r"[^ \t\n\r]+")
_LONGEST_KEPT_WORD: Final = 32
_MOST_KEPT_WORDS: Final = 50_000

_FIRST_WINDOW: Final = 4_096
_LONGEST_WORD: Final = 100
"""Longer words become one unknown piece."""


class WordPieces:
    """Ids of the window, counts of whole texts. Thread-safe."""

    __slots__ = ("_counts", "_tokenizer")

    def __init__(self, file: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(file))
        # The published file asks for 128 pieces.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._counts: dict[str, int] = {}

    def ids(self, text: str) -> NDArray[np.int64]:
        """At most `MAX_TOKENS`. Of a long text only the start is tokenized, plus one word that later text could
        change.
        """
        text = well_formed(text)
        window = _FIRST_WINDOW
        while True:
            ids = self._tokenizer.encode(text[:window]).ids
            if window >= len(text) or len(ids) >= MAX_TOKENS + _LONGEST_WORD:
                break
            window *= 4
        if len(ids) > MAX_TOKENS:
            ids = [*ids[: MAX_TOKENS - 1], _SEPARATOR]
        return np.array(ids, np.int64)

    def count(self, text: str) -> int:
        counts = self._counts
        total = _SPECIAL_TOKENS
        for word in _WORDS.findall(text):
            known = counts.get(word)
            total += self._count_word(word) if known is None else known
        return total

    def _count_word(self, word: str) -> int:
        count = len(self._tokenizer.encode(well_formed(word), add_special_tokens=False))
        if len(word) <= _LONGEST_KEPT_WORD:
            if len(self._counts) >= _MOST_KEPT_WORDS:
                self._counts.clear()
            self._counts[word] = count
        return count
