"""Searches by words (lexical) and meaning (dense) in one call."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import EmbedderUnavailable, Unavailable
from rag_engine.text.analyzer import query_tokens
from rag_engine.types import Leg, Query, Ranking, Search

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, Index, Ports, Step
    from rag_engine.types import Vector

PHASE = "search"
POSITION = 20
STATUS = "Searching…"

PART_MISSING = (
    "Part of the search index did not answer, so something may be missing here; ask again in a moment."
)

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Searches the index by words and by meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidates: int = Field(default=100, ge=1, le=1000)
    """Hits of each search."""
    timeout: float = Field(default=10.0, gt=0)
    """Time limit for embedding the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    rankings: tuple[Ranking, ...]
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def build(settings: Settings, ports: Ports) -> Step:
    """A step that fills the inquiry's rankings."""

    async def retrieve(inquiry: Inquiry) -> Inquiry:
        found = await search_legs(
            inquiry.question, inquiry.query, embedder=ports.embedder, index=ports.index, settings=settings
        )
        inquiry = replace(inquiry, rankings=found.rankings, notices=(*inquiry.notices, *found.notices))
        for name in found.fallbacks:
            inquiry = inquiry.falling_back(name)
        return inquiry.noting(found={ranking.leg: len(ranking.hits) for ranking in found.rankings})

    return retrieve


async def search_legs(
    question: str, query: Query, *, embedder: Embedder, index: Index, settings: Settings
) -> Found:
    """Searches the legs of `query` for `question` in one round trip.

    If the embedder fails, the lexical leg alone is used, unless the query wants only the dense one; index errors are raised.
    """
    searches: list[Search] = []
    fallbacks: list[str] = []

    def search(leg: Leg, *, tokens: tuple[str, ...] = (), vector: Vector | None = None) -> Search:
        return Search(
            leg=leg,
            knowledge_bases=query.knowledge_bases,
            limit=max(settings.candidates, query.limit),
            tokens=tokens,
            vector=vector,
        )

    if "lexical" in query.legs and (tokens := await asyncio.to_thread(query_tokens, question)):
        searches.append(search("lexical", tokens=tokens))
    if "dense" in query.legs:
        try:
            searches.append(
                search("dense", vector=await _embed(question, embedder, seconds=settings.timeout))
            )
        except Unavailable as error:
            if not searches:
                raise
            _log.warning("the question could not be embedded, searching by words alone: %s", error)
            fallbacks.append("dense_unavailable")
    rankings = await index.search(searches) if searches else []
    incomplete = [f"{ranking.leg}_incomplete" for ranking in rankings if not ranking.complete]
    return Found(
        rankings=tuple(rankings),
        fallbacks=(*fallbacks, *incomplete),
        notices=(PART_MISSING,) if incomplete else (),
    )


async def _embed(question: str, embedder: Embedder, *, seconds: float) -> Vector:
    try:
        async with asyncio.timeout(seconds):
            return (await embedder.embed([question], side="query"))[0]
    except TimeoutError as error:
        raise EmbedderUnavailable(f"The embedding model took longer than {seconds:g} s.") from error
