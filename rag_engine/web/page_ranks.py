from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.errors import Unavailable
from rag_engine.retrieval.ranking import bm25
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Hit, Provenance, Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ports import Embedder
    from rag_engine.types import Chunk, Leg


async def rank_chunks(
    question: str, chunks: Sequence[Chunk], *, embedder: Embedder, embedded: int
) -> list[Ranking]:
    """Only the `embedded` best by words: embedding whole pages takes seconds."""
    scores = await asyncio.to_thread(_word_scores, question, chunks)
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


def _word_scores(question: str, chunks: Sequence[Chunk]) -> list[float]:
    asked = set(query_tokens(question))
    counts = [Counter(tokens(searchable_text(chunk), language=chunk.language)) for chunk in chunks]
    lengths = np.array([count.total() for count in counts])
    average = float(lengths.mean()) if lengths.any() else 1.0
    scores = np.zeros(len(chunks))
    for token in sorted(asked):
        found = np.array([count[token] for count in counts])
        weight = bm25.term_weight(int(np.count_nonzero(found)), len(chunks))
        scores += bm25.gain(weight, found, lengths, average)
    return scores.tolist()


def _ranking(leg: Leg, scored: Sequence[tuple[float, Chunk]]) -> Ranking:
    ordered = sorted(scored, key=lambda pair: (-pair[0], pair[1].id))
    hits = tuple(
        Hit(chunk=chunk, score=score, rank=rank, legs=(Provenance(leg=leg, rank=rank, score=score),))
        for rank, (score, chunk) in enumerate(ordered, start=1)
    )
    return Ranking(leg=leg, hits=hits)
