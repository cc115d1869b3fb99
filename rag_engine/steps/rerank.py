"""A second, slower look at the best fused hits, when a reranker is set up; cuts to the number of hits that is wanted."""

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

STATUS = ""

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """`limit` is how many fused hits are looked at; `timeout` is seconds for all of it.

    Hits that score below `min_score` (0 to 1) are dropped. A fused score is never compared with it: only a reranker's
    score means the same for every question.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = False
    limit: int = Field(default=50, ge=1)
    timeout: float = Field(default=20.0, gt=0)
    min_score: float = Field(default=0.0, ge=0, le=1)


def build(settings: Settings, ports: Ports) -> Step:
    """A step that leaves at most the query's limit of hits, reranked when that is enabled and works."""

    async def rerank(inquiry: Inquiry) -> Inquiry:
        if settings.enabled and ports.reranker is not None and inquiry.hits:
            inquiry = await _reranked(inquiry, ports.reranker, settings)
        return replace(inquiry, hits=inquiry.hits[: inquiry.query.limit])

    return rerank


async def _reranked(inquiry: Inquiry, reranker: Reranker, settings: Settings) -> Inquiry:
    candidates = inquiry.hits[: settings.limit]
    try:
        async with asyncio.timeout(settings.timeout):
            # All candidates are asked back: what is dropped is decided by `min_score` here, not by position there.
            hits = await reranker.rerank(inquiry.question, candidates, limit=len(candidates))
    except (RagError, TimeoutError) as error:
        _log.warning("reranking failed, keeping the fused order: %s", error or "it took too long")
        return inquiry.falling_back("rerank_failed")
    kept = tuple(hit for hit in hits if hit.score >= settings.min_score)
    scores = [{"chunk": hit.chunk.id, "score": round(hit.score, 4)} for hit in hits]
    return replace(inquiry, hits=kept).noting(reranked=scores, below_min_score=len(hits) - len(kept))
