from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Reranker, Step

PHASE = "search"
POSITION = 40
STATUS = "Choosing the best passages…"

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Reorders the hits by a reranker."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = False
    """By default true if a reranker is set."""
    limit: int = Field(default=50, ge=1)
    """Hits to rerank."""
    timeout: float = Field(default=20.0, gt=0)
    """Time limit for all hits."""
    min_score: float = Field(default=0.0, ge=0, le=1)
    """Hits with a lower score of the reranker, from 0 to 1, are dropped. Fused scores are never compared with it."""


def build(settings: Settings, ports: Ports) -> Step:
    async def rerank(inquiry: Inquiry) -> Inquiry:
        if settings.enabled and ports.reranker is not None and inquiry.hits:
            inquiry = await _reranked(inquiry, ports.reranker, settings)
        limit = inquiry.query.limit
        return replace(inquiry, hits=inquiry.hits[:limit], further=inquiry.hits[limit:])

    return rerank


async def _reranked(inquiry: Inquiry, reranker: Reranker, settings: Settings) -> Inquiry:
    candidates = inquiry.hits[: settings.limit]
    try:
        async with asyncio.timeout(settings.timeout):
            # `min_score` drops by score, so all candidates are scored.
            hits = await reranker.rerank(inquiry.question, candidates, limit=len(candidates))
    except (RagError, TimeoutError) as error:
        _log.warning("reranking failed, keeping the fused order: %s", error or "it took too long")
        return inquiry.falling_back("rerank_failed")
    kept = tuple(hit for hit in hits if hit.score >= settings.min_score)
    scores = [{"chunk": hit.chunk.id, "score": round(hit.score, 4)} for hit in hits]
    return replace(inquiry, hits=kept).noting(reranked=scores, below_min_score=len(hits) - len(kept))
