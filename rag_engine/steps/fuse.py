"""Fuses the lexical and dense rankings, weighted by trust in each for the question.

The dense weight per unit of cosine is exp(1.2 + 1.7 familiarity - 3.2 coverage): familiarity (0 to 1) is how well the
embedder knows the language, by how finely its tokenizer splits the texts; coverage (0 to 1) is the share of the question's
words in the best lexical hits, low across languages. Cosines are scaled by the embedder's contrast (the distance of
unrelated texts).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.retrieval.ranking.coverage import best_coverage
from rag_engine.retrieval.ranking.fusion import Method, fuse, fuse_weighted
from rag_engine.retrieval.ranking.language_familiarity import gauge, mean_familiarity
from rag_engine.retrieval.ranking.score_scale import contrast_meter, meaning_meter
from rag_engine.text.chunk_text import searchable_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, Ports, Step
    from rag_engine.types import Hit, Leg, Ranking

PHASE = "search"
POSITION = 30
STATUS = ""

_SAMPLED = 2
_COVERING = 2

# Tuned on SciFact and half of XQuAD; flat around these values.
_BIAS, _PER_FAMILIARITY, _PER_COVERAGE = 1.2, 1.7, -3.2
_LEAST_TRUST = 0.1
_MOST_SPREAD = 4.0
_LEAST_SHARE = 0.02
"""A leg's unique hits come last but are not lost."""


class Settings(BaseModel):
    """Mixes the rankings of words (lexical) and of meaning (dense)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Method = "mix"
    """How the rankings are mixed."""
    dense_share: float | None = Field(default=None, ge=0, le=1)
    """Fixed share of the dense ranking, from 0 to 1; by default fitted to each question."""
    familiarity: float | None = Field(default=None, ge=0, le=1)
    """How well the embedder knows the language, from 0 to 1; by default estimated from its tokenizer, which underrates models
    that split a known language finely.
    """
    limit: int = Field(default=50, ge=1)
    """Hits passed on to the reranker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    hits: tuple[Hit, ...]
    shares: Mapping[Leg, float]
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegTrust:
    familiarity: Callable[[str], float]
    contrast: Callable[[], Awaitable[float]]
    knows_meaning: Callable[[], Awaitable[bool]]


def judge_of(embedder: Embedder) -> LegTrust:
    contrast = contrast_meter(embedder)
    return LegTrust(
        familiarity=gauge(embedder.count_tokens),
        contrast=contrast,
        knows_meaning=meaning_meter(embedder, contrast),
    )


def build(settings: Settings, ports: Ports) -> Step:
    judge = judge_of(ports.embedder)

    async def fuse_step(inquiry: Inquiry) -> Inquiry:
        limit = max(settings.limit, inquiry.query.limit)
        fused = await fuse_rankings(
            inquiry.question, inquiry.rankings, judge=judge, settings=settings, limit=limit
        )
        return replace(inquiry, hits=fused.hits).noting(
            shares=_rounded(fused.shares),
            evidence=_rounded(fused.evidence),
            candidates=[_candidate(hit) for hit in fused.hits],
        )

    return fuse_step


async def fuse_rankings(
    question: str, rankings: Sequence[Ranking], *, judge: LegTrust, settings: Settings, limit: int
) -> Fused:
    made_up = [ranking for ranking in rankings if ranking.is_hypothetical]
    rankings = [ranking for ranking in rankings if not ranking.is_hypothetical]
    queries = list(dict.fromkeys(ranking.query for ranking in rankings))
    weighed: dict[str, tuple[Mapping[Leg, float], Mapping[str, float]]] = {}
    for query in queries:
        own = [ranking for ranking in rankings if ranking.query == query]
        weighed[query] = await _shares(query or question, own, judge, settings)
    nothing: tuple[Mapping[Leg, float], Mapping[str, float]] = ({}, {})
    shares, evidence = weighed.get("") or next(iter(weighed.values()), nothing)
    if len(queries) <= 1 and not made_up:
        hits = fuse(rankings, shares=shares, limit=limit, method=settings.method)
        return Fused(hits=tuple(hits), shares=shares, evidence=evidence)
    prior = {ranking.query: ranking.weight for ranking in rankings}
    own_weights = {query: prior[query] * _trust(weighed[query][1]) for query in queries}
    total = math.fsum(own_weights.values())
    weights = [
        weighed[ranking.query][0].get(ranking.leg, 0.0) * own_weights[ranking.query] / total
        for ranking in rankings
    ]
    # What is made up has no words to trust.
    most = max(_dense_weights(rankings, weights), default=0.0)
    weights += [
        ranking.weight * (1.0 if ranking.leg == "lexical" else most * _relative_spread(ranking, rankings))
        for ranking in made_up
    ]
    hits = fuse_weighted([*rankings, *made_up], weights, limit=limit, method=settings.method)
    return Fused(hits=tuple(hits), shares=shares, evidence=evidence)


def _relative_spread(made_up: Ranking, rankings: Sequence[Ranking]) -> float:
    own = next((each for each in rankings if each.leg == "dense" and each.query == made_up.query), None)
    if made_up.expansion is None or own is None or not (spread := _spread(own)):
        return 1.0
    return min(_spread(made_up) / spread, _MOST_SPREAD)


def _spread(ranking: Ranking) -> float:
    scores = [hit.score for hit in ranking.hits]
    return max(scores) - min(scores) if scores else 0.0


def _dense_weights(rankings: Sequence[Ranking], weights: Sequence[float]) -> list[float]:
    pairs = zip(rankings, weights, strict=True)
    return [weight for ranking, weight in pairs if ranking.leg == "dense"]


async def _shares(
    question: str, rankings: Sequence[Ranking], judge: LegTrust, settings: Settings
) -> tuple[Mapping[Leg, float], Mapping[str, float]]:
    legs: set[Leg] = {ranking.leg for ranking in rankings if ranking.hits}
    if len(legs) < 2 or settings.method != "mix":
        return dict.fromkeys(legs, 1.0), {}
    dense, evidence = settings.dense_share, dict[str, float]()
    if dense is None:
        evidence = await _evidence(question, rankings, judge, settings)
        dense = min(max(_dense_share(evidence), _LEAST_SHARE), 1 - _LEAST_SHARE)
    return {"lexical": 1 - dense, "dense": dense}, evidence


async def _evidence(
    question: str, rankings: Sequence[Ranking], judge: LegTrust, settings: Settings
) -> dict[str, float]:
    passages = [searchable_text(hit.chunk) for ranking in rankings for hit in ranking.hits[:_SAMPLED]]
    known = settings.familiarity
    if known is None:
        known = min(judge.familiarity(question), mean_familiarity(passages, judge.familiarity))
    lexical = [
        hit.chunk for ranking in rankings if ranking.leg == "lexical" for hit in ranking.hits[:_COVERING]
    ]
    cosines = [hit.score for ranking in rankings if ranking.leg == "dense" for hit in ranking.hits]
    spread = (max(cosines) - min(cosines)) / await judge.contrast()
    return {"familiarity": known, "coverage": best_coverage(question, lexical), "spread": spread}


def _trust(evidence: Mapping[str, float]) -> float:
    if not evidence:
        return _LEAST_TRUST
    return _LEAST_TRUST + evidence["coverage"] + min(evidence["spread"], 1.0) * evidence["familiarity"]


def _dense_share(evidence: Mapping[str, float]) -> float:
    exponent = _BIAS + _PER_FAMILIARITY * evidence["familiarity"] + _PER_COVERAGE * evidence["coverage"]
    weight = math.exp(exponent) * evidence["spread"]
    return weight / (1 + weight)


def _rounded(values: Mapping[str, float] | Mapping[Leg, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def _candidate(hit: Hit) -> dict[str, object]:
    legs: dict[str, object] = {}
    for leg in hit.legs:
        name = leg.expansion or leg.leg
        name = f"{name}: {leg.query}" if leg.query else name
        legs[name] = {"rank": leg.rank, "score": round(leg.score, 4)}
    return {"chunk": hit.chunk.id, "score": round(hit.score, 4), "legs": legs}
