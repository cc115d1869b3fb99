"""Ranks the chunks of a few pages for a question, by words and by meaning, as an index would."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from rag_engine.errors import Unavailable
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Hit, Provenance, Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ports import Embedder
    from rag_engine.types import Chunk, Leg

_K1: Final = 1.2
_B: Final = 0.75


async def rank_chunks(
    question: str, chunks: Sequence[Chunk], *, embedder: Embedder, embedded: int
) -> list[Ranking]:
    """The dense ranking holds the `embedded` best by words: embedding whole pages takes seconds."""
    scores = await asyncio.to_thread(bm25, question, chunks)
    lexical = _ranking(
        "lexical", [(score, chunk) for score, chunk in zip(scores, chunks, strict=True) if score > 0]
    )
    found = [hit.chunk for hit in lexical.hits]
    seen = {chunk.id for chunk in found}
    likely = [*found, *(chunk for chunk in chunks if chunk.id not in seen)][:embedded]
    try:
        asked = (await embedder.embed([question], side="query"))[0]
        vectors = await embedder.embed([searchable_text(chunk) for chunk in likely], side="passage")
    except Unavailable:
        return [lexical]
    cosines = [float(score) for score in vectors @ asked]
    return [lexical, _ranking("dense", list(zip(cosines, likely, strict=True)))]


def bm25(question: str, chunks: Sequence[Chunk]) -> list[float]:
    """Lucene's BM25 over these chunks alone."""
    asked = set(query_tokens(question))
    counts = [Counter(tokens(searchable_text(chunk), language=chunk.language)) for chunk in chunks]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    scores = [0.0] * len(chunks)
    for token in asked:
        holding = [number for number, count in enumerate(counts) if token in count]
        idf = math.log(1 + (len(chunks) - len(holding) + 0.5) / (len(holding) + 0.5))
        for number in holding:
            frequency = counts[number][token]
            norm = _K1 * (1 - _B + _B * lengths[number] / (mean or 1.0))
            scores[number] += idf * frequency / (frequency + norm)
    return scores


def _ranking(leg: Leg, scored: Sequence[tuple[float, Chunk]]) -> Ranking:
    ordered = sorted(scored, key=lambda pair: (-pair[0], pair[1].id))
    hits = tuple(
        Hit(chunk=chunk, score=score, rank=rank, legs=(Provenance(leg=leg, rank=rank, score=score),))
        for rank, (score, chunk) in enumerate(ordered, start=1)
    )
    return Ranking(leg=leg, hits=hits)
