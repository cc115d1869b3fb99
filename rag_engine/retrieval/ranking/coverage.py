from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rag_engine.text.analyzer import tokens
from rag_engine.text.chunk_text import searchable_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk


def coverage(question: str, chunk: Chunk) -> float:
    asked = _question_tokens(question, chunk.language)
    if not asked:
        return 0.0
    return len(asked.intersection(tokens(searchable_text(chunk), language=chunk.language))) / len(asked)


def best_coverage(question: str, chunks: Sequence[Chunk]) -> float:
    return max((coverage(question, chunk) for chunk in chunks), default=0.0)


@lru_cache(maxsize=64)
def _question_tokens(question: str, language: str) -> frozenset[str]:
    return frozenset(tokens(question, language=language))
