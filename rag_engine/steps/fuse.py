"""Both legs' rankings become one, each weighed by how far it can be trusted with this question.

The dense leg's weight for each unit of cosine is exp(1.2 + 1.7 familiarity - 3.2 coverage), where

- familiarity (0 to 1) is how well the embedder knows the language of the question and of the passages found, told from how its
  tokenizer cuts them up: a language it spells out letter by letter, its vectors do not know;
- coverage (0 to 1) is how many of the question's words the best lexical hits hold: words say little where few of them match, as
  in a question asked in another language than the passages'.

The weight is for cosines as they are, in units of the embedder's contrast (the distance at which it puts unrelated texts). Stretching
every ranking of cosines to 0..1, as is usual, makes a question that nothing answers look as clear as one answered to the letter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.contrast import contrast_meter
from rag_engine.coverage import best_coverage
from rag_engine.familiarity import gauge, mean_familiarity
from rag_engine.fusion import Method, fuse
from rag_engine.searchable import searchable_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, Ports, Step
    from rag_engine.types import Hit, Leg, Ranking

STATUS = ""

_SAMPLED = 2
"""Best passages of each leg whose language is looked at."""
_COVERING = 2
"""Best lexical passages of which one may cover the question."""

# Tuned on 809 claims of SciFact's training part, half of the questions of XQuAD in English, Spanish, Chinese and between English
# and Spanish, and on invented languages (English in cipher); flat around these values.
_BIAS, _PER_FAMILIARITY, _PER_COVERAGE = 1.2, 1.7, -3.2
_LEAST_SHARE = 0.02
"""What a leg has at least: what it alone found comes last, but it comes."""


class Settings(BaseModel):
    """How the legs are mixed.

    `dense_share` fixes the dense leg's share of the mix instead of fitting it to each question. `familiarity` does the same for
    how well the embedder knows the language: for models whose tokenizer spells out a language that they know, as BERT's does
    with Chinese. `limit` is how many hits go on to be reranked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Method = "mix"
    dense_share: float | None = Field(default=None, ge=0, le=1)
    familiarity: float | None = Field(default=None, ge=0, le=1)
    limit: int = Field(default=50, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """The hits, best first, with what decided their order, ready for the trace."""

    hits: tuple[Hit, ...]
    shares: Mapping[Leg, float]
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What is known of an embedder: how well it knows a text's language, and the scale of its cosines."""

    familiarity: Callable[[str], float]
    contrast: Callable[[], Awaitable[float]]


def judge_of(embedder: Embedder) -> Judge:
    """The judge of an embedder; it remembers what it has measured."""
    return Judge(familiarity=gauge(embedder.count_tokens), contrast=contrast_meter(embedder))


def build(settings: Settings, ports: Ports) -> Step:
    """A step that turns the inquiry's rankings into its hits."""
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
    question: str, rankings: Sequence[Ranking], *, judge: Judge, settings: Settings, limit: int
) -> Fused:
    """The fused hits of one question."""
    legs: set[Leg] = {ranking.leg for ranking in rankings if ranking.hits}
    shares: Mapping[Leg, float] = dict.fromkeys(legs, 1.0)
    evidence: Mapping[str, float] = {}
    if len(legs) > 1 and settings.method == "mix":
        dense = settings.dense_share
        if dense is None:
            evidence = await _evidence(question, rankings, judge, settings)
            dense = min(max(_dense_share(evidence), _LEAST_SHARE), 1 - _LEAST_SHARE)
        shares = {"lexical": 1 - dense, "dense": dense}
    hits = fuse(rankings, shares=shares, limit=limit, method=settings.method)
    return Fused(hits=tuple(hits), shares=shares, evidence=evidence)


async def _evidence(
    question: str, rankings: Sequence[Ranking], judge: Judge, settings: Settings
) -> dict[str, float]:
    """What the dense share is made of, by name."""
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


def _dense_share(evidence: Mapping[str, float]) -> float:
    """The share that gives a cosine its weight, once `fuse` has stretched the cosines of the ranking to 0..1."""
    exponent = _BIAS + _PER_FAMILIARITY * evidence["familiarity"] + _PER_COVERAGE * evidence["coverage"]
    weight = math.exp(exponent) * evidence["spread"]
    return weight / (1 + weight)


def _rounded(values: Mapping[str, float] | Mapping[Leg, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def _candidate(hit: Hit) -> dict[str, object]:
    legs = {leg.leg: {"rank": leg.rank, "score": round(leg.score, 4)} for leg in hit.legs}
    return {"chunk": hit.chunk.id, "score": round(hit.score, 4), "legs": legs}
