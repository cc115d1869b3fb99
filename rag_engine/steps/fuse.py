"""Both legs' rankings become one, each weighed by how far it can be trusted with this question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.familiarity import gauge, mean_familiarity
from rag_engine.fusion import Method, fuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Step
    from rag_engine.types import Hit, Leg, Ranking

STATUS = ""

_SAMPLED = 5
"""Best passages of a leg whose language is looked at."""


class Settings(BaseModel):
    """How the legs are mixed.

    `dense_share` between 0 and 1 fixes the dense leg's share; by default it follows how well the embedder knows the language
    of the question and of the passages. `limit` is how many hits go on to be reranked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Method = "mix"
    dense_share: float | None = Field(default=None, ge=0, le=1)
    limit: int = Field(default=100, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """The hits, best first, and the share each leg had in their order."""

    hits: tuple[Hit, ...]
    shares: Mapping[Leg, float]


def build(settings: Settings, ports: Ports) -> Step:
    """A step that turns the inquiry's rankings into its hits."""
    familiarity = gauge(ports.embedder.count_tokens)

    async def fuse_step(inquiry: Inquiry) -> Inquiry:
        limit = max(settings.limit, inquiry.query.limit)
        fused = fuse_rankings(
            inquiry.question, inquiry.rankings, familiarity=familiarity, settings=settings, limit=limit
        )
        inquiry = replace(inquiry, hits=fused.hits)
        return inquiry.noting(shares=dict(fused.shares), candidates=[_candidate(hit) for hit in fused.hits])

    return fuse_step


def fuse_rankings(
    question: str,
    rankings: Sequence[Ranking],
    *,
    familiarity: Callable[[str], float],
    settings: Settings,
    limit: int,
) -> Fused:
    """The fused hits of one question; `familiarity` says how well the embedder knows a text."""
    dense = settings.dense_share
    if dense is None:
        dense = _dense_share(question, rankings, familiarity)
    shares: dict[Leg, float] = {"lexical": 1 - dense, "dense": dense}
    if len({ranking.leg for ranking in rankings}) == 1:
        shares = {rankings[0].leg: 1.0}  # what one leg found alone must not vanish with its share
    return Fused(
        hits=tuple(fuse(rankings, shares=shares, limit=limit, method=settings.method)), shares=shares
    )


def _dense_share(question: str, rankings: Sequence[Ranking], familiarity: Callable[[str], float]) -> float:
    passages = [hit.chunk.text for ranking in rankings for hit in ranking.hits[:_SAMPLED]]
    known = min(familiarity(question), mean_familiarity(passages, familiarity))
    return 0.1 + 0.35 * known


def _candidate(hit: Hit) -> dict[str, object]:
    legs = {leg.leg: {"rank": leg.rank, "score": round(leg.score, 4)} for leg in hit.legs}
    return {"chunk": hit.chunk.id, "score": round(hit.score, 4), "legs": legs}
