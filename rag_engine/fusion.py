"""Pure: several rankings of one question become one, with provenance."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rag_engine.types import Chunk, Hit, Leg, Provenance, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import ChunkId

Method = Literal["mix", "reciprocal_rank"]

RANK_CONSTANT = 60
"""Of reciprocal rank fusion: Cormack, Clarke and Büttcher 2009."""


def fuse(
    rankings: Sequence[Ranking], *, shares: Mapping[Leg, float], limit: int, method: Method = "mix"
) -> list[Hit]:
    """One ranking out of several, best first; it depends on neither the order of `rankings` nor chance.

    `mix` adds up the scaled scores in the proportion of `shares`, `reciprocal_rank` adds up share / (60 + rank). A leg
    with a share of 0, or with none, takes no part. In a mix, several rankings of one leg divide its share.
    Ties go to the better single rank, then to the smaller chunk id.
    """
    taking_part = [ranking for ranking in rankings if shares.get(ranking.leg, 0.0) > 0]
    in_leg = Counter(ranking.leg for ranking in taking_part)
    candidates: dict[ChunkId, _Candidate] = {}
    for ranking in taking_part:
        hits = _first_places(ranking)
        weights = _reciprocal_ranks(hits) if method == "reciprocal_rank" else scaled(hits, leg=ranking.leg)
        share = shares[ranking.leg] / (1 if method == "reciprocal_rank" else in_leg[ranking.leg])
        for hit, weight in zip(hits, weights, strict=True):
            candidate = candidates.setdefault(hit.chunk.id, _Candidate(chunk=hit.chunk))
            candidate.parts.append(share * weight)
            candidate.legs.append(Provenance(leg=ranking.leg, rank=hit.rank, score=hit.score))
    best = sorted(candidates.values(), key=_order)[:limit]
    return [_hit(candidate, rank) for rank, candidate in enumerate(best, start=1)]


@dataclass(slots=True, kw_only=True)
class _Candidate:
    chunk: Chunk
    parts: list[float] = field(default_factory=list[float])
    legs: list[Provenance] = field(default_factory=list[Provenance])

    def score(self) -> float:
        # fsum is exact, so that the order in which rankings come cannot show in the last digit.
        return math.fsum(self.parts)


def _order(candidate: _Candidate) -> tuple[float, int, str]:
    return -candidate.score(), min(leg.rank for leg in candidate.legs), candidate.chunk.id


def _hit(candidate: _Candidate, rank: int) -> Hit:
    legs = sorted(candidate.legs, key=lambda leg: (leg.leg, leg.rank, leg.score))
    return Hit(chunk=candidate.chunk, score=candidate.score(), rank=rank, legs=tuple(legs))


def _first_places(ranking: Ranking) -> list[Hit]:
    """The hits by rank, a chunk that is named twice at its better rank only."""
    places: dict[ChunkId, Hit] = {}
    for hit in sorted(ranking.hits, key=lambda hit: hit.rank):
        places.setdefault(hit.chunk.id, hit)
    return list(places.values())


def _reciprocal_ranks(hits: Sequence[Hit]) -> list[float]:
    return [1 / (RANK_CONSTANT + hit.rank) for hit in hits]


def scaled(hits: Sequence[Hit], *, leg: Leg) -> list[float]:
    """Each hit's score between 0 and 1: the best of the ranking is 1, the floor of its leg 0."""
    if not hits:
        return []
    top = max(hit.score for hit in hits)
    floor = min(hit.score for hit in hits)
    if top <= floor:
        return [1.0] * len(hits)
    return [(hit.score - floor) / (top - floor) for hit in hits]
