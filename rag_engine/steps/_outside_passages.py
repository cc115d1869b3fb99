"""Passages from outside the index, added to those of the team's own files."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from rag_engine.errors import RagError
from rag_engine.evidence.verdict import asked_wordings, judge
from rag_engine.generation.phrases import phrase
from rag_engine.retrieval.ranking.fusion import fuse_further
from rag_engine.steps import fuse
from rag_engine.text.language import question_language
from rag_engine.web.page_ranks import rank_chunks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag_engine.generation.phrases import Phrase
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports
    from rag_engine.steps.fuse import LegTrust
    from rag_engine.types import Chunk, Hit, Ranking

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsidePassages:
    chunks: Sequence[Chunk]
    embedded: int
    """Passages to compare by meaning."""
    trace: dict[str, object]
    weight: float = 0.0
    """Of their ranking beside the files'; 0: after these."""


class OutsideSettings(Protocol):
    @property
    def passages(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def line(self) -> float: ...


async def add_passages(
    inquiry: Inquiry,
    step: Literal["web", "messages"],
    find: Callable[[], Awaitable[OutsidePassages]],
    *,
    settings: OutsideSettings,
    ports: Ports,
    trust: LegTrust,
) -> Inquiry:
    """Every failure becomes a notice of the answer."""
    try:
        async with asyncio.timeout(settings.seconds):
            outside = await find()
            rankings = await rank_chunks(
                inquiry.question, outside.chunks, embedder=ports.embedder, embedded=outside.embedded
            )
            hits = await _answering_hits(inquiry, rankings, settings, trust, ports)
    except (RagError, TimeoutError) as error:
        _log.warning("the step %s failed: %s", step, error or "it took too long")
        language = question_language(inquiry.query.text, chosen=inquiry.query.language)
        reason: Phrase = "web_unavailable" if step == "web" else "messages_unavailable"
        failed = replace(inquiry, notices=(*inquiry.notices, phrase(reason, language=language)))
        return failed.falling_back(reason).noting(**{step: {"failed": True}})
    found, scores = _beside_files(inquiry, hits, outside.weight)
    return found.noting(**{step: {**outside.trace, "passages": scores}})


async def _answering_hits(
    inquiry: Inquiry, rankings: list[Ranking], settings: OutsideSettings, trust: LegTrust, ports: Ports
) -> tuple[Hit, ...]:
    fused = await fuse.fuse_rankings(
        inquiry.question, rankings, judge=trust, settings=fuse.Settings(), limit=settings.passages
    )
    if ports.model is not None or not fused.hits:
        return fused.hits
    verdict = await asyncio.to_thread(
        judge,
        asked_wordings((inquiry.question,), rankings),
        fused.hits,
        familiarity=trust.familiarity,
        contrast=await trust.contrast(),
    )
    return fused.hits if verdict is None or verdict.probability >= settings.line else ()


def _beside_files(
    inquiry: Inquiry, hits: Sequence[Hit], weight: float
) -> tuple[Inquiry, list[dict[str, object]]]:
    limit = inquiry.query.limit
    own, outside = inquiry.hits[:limit], hits[:limit]
    added = {hit.chunk.id for hit in outside}
    fused = fuse_further(own, outside, weight=weight)
    scores: list[dict[str, object]] = [
        {"chunk": hit.chunk.id, "score": round(hit.score, 4), "rank": hit.rank}
        for hit in fused
        if hit.chunk.id in added
    ]
    context = fuse_further(inquiry.context or own, outside, weight=weight)
    return replace(inquiry, hits=fused, context=context), scores
