from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError
from rag_engine.evidence.verdict import judge
from rag_engine.generation.phrases import phrase
from rag_engine.steps import fuse
from rag_engine.text.language import question_language
from rag_engine.web.page_ranks import rank_chunks

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Step
    from rag_engine.retrieval.web_results import WebPages
    from rag_engine.steps.fuse import LegTrust
    from rag_engine.types import Hit, Ranking

PHASE = "prompt"
POSITION = 8
STATUS = ""

_DONE = "web"

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Reads pages of the web where a place allows it and the question asks for it or the files do not answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pages: int = Field(default=4, ge=1, le=10)
    """Pages to read."""
    passages: int = Field(default=5, ge=1, le=20)
    """Passages of them to use, never more than a question has of files."""
    embedded: int = Field(default=40, ge=1, le=400)
    """Passages to compare by meaning."""
    seconds: float = Field(default=20, gt=0)
    """Time limit for searching and reading."""
    line: float = Field(default=0.3, ge=0, le=1)
    """Without a language model: the least probability that the pages answer."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(add_pages, settings=settings, ports=ports, trust=fuse.judge_of(ports.embedder))


async def add_pages(inquiry: Inquiry, *, settings: Settings, ports: Ports, trust: LegTrust) -> Inquiry:
    if not _is_wanted(inquiry) or ports.web is None:
        return inquiry
    language = question_language(inquiry.query.text, chosen=inquiry.query.language)
    try:
        async with asyncio.timeout(settings.seconds):
            pages = await ports.web.pages(inquiry.question, language=language, limit=settings.pages)
            rankings = await rank_chunks(
                inquiry.question, pages.chunks, embedder=ports.embedder, embedded=settings.embedded
            )
            hits = await answering_hits(
                inquiry,
                rankings,
                passages=settings.passages,
                line=settings.line,
                trust=trust,
                has_model=ports.model is not None,
            )
    except (RagError, TimeoutError) as error:
        _log.warning("the web was not searched: %s", error or "it took too long")
        notice = phrase("web_unavailable", language=language)
        failed = replace(inquiry, notices=(*inquiry.notices, notice))
        return failed.falling_back("web_unavailable").noting(web={"failed": True})
    return _with_pages(inquiry, pages, hits)


def _is_wanted(inquiry: Inquiry) -> bool:
    query = inquiry.query
    if query.web in ("never", "on_request") or inquiry.route != "search" or _DONE in inquiry.details:
        return False
    return query.web == "asked" or not inquiry.hits


async def answering_hits(
    inquiry: Inquiry,
    rankings: list[Ranking],
    *,
    passages: int,
    line: float,
    trust: LegTrust,
    has_model: bool,
) -> tuple[Hit, ...]:
    fused = await fuse.fuse_rankings(
        inquiry.question, rankings, judge=trust, settings=fuse.Settings(), limit=passages
    )
    if has_model or not fused.hits:
        return fused.hits
    verdict = await asyncio.to_thread(
        judge,
        (inquiry.question,),
        fused.hits,
        rankings,
        familiarity=trust.familiarity,
        contrast=await trust.contrast(),
    )
    return fused.hits if verdict is None or verdict.probability >= line else ()


def _with_pages(inquiry: Inquiry, pages: WebPages, hits: tuple[Hit, ...]) -> Inquiry:
    found, scores = after_files(inquiry, hits)
    return found.noting(web={"pages": list(pages.found), "unread": list(pages.unread), "passages": scores})


def after_files(inquiry: Inquiry, hits: tuple[Hit, ...]) -> tuple[Inquiry, list[dict[str, object]]]:
    """Whatever their scores: the files are the team's own. With ids and scores for the trace."""
    limit = inquiry.query.limit
    own = inquiry.hits[:limit]
    ranked = tuple(replace(hit, rank=len(own) + hit.rank) for hit in hits[:limit])
    scores: list[dict[str, object]] = [
        {"chunk": hit.chunk.id, "score": round(hit.score, 4)} for hit in ranked
    ]
    return replace(inquiry, hits=(*own, *ranked), context=(*(inquiry.context or own), *ranked)), scores
