from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from rag_engine.types import Hit, Leg, Provenance, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import ChunkId

Method = Literal["mix", "reciprocal_rank"]

RANK_CONSTANT = 60
"""From Cormack, Clarke and Büttcher (2009)."""


def fuse(
    rankings: Sequence[Ranking], *, shares: Mapping[Leg, float], limit: int, method: Method = "mix"
) -> list[Hit]:
    """`mix` adds scaled scores weighted by `shares`, which rankings of one leg divide; `reciprocal_rank` adds share /
    (60 + rank). Ignores legs without a share.
    """
    in_leg = Counter(ranking.leg for ranking in rankings) if method == "mix" else Counter[Leg]()
    weights = [shares.get(ranking.leg, 0.0) / (in_leg[ranking.leg] or 1) for ranking in rankings]
    return fuse_weighted(rankings, weights, limit=limit, method=method)


def fuse_weighted(
    rankings: Sequence[Ranking], weights: Sequence[float], *, limit: int, method: Method = "mix"
) -> list[Hit]:
    """With one weight per ranking. In a mix, a missing chunk gets the ranking's last score, or 0 if that ranking is
    shorter than the longest. Ties go to the better single rank.
    """
    taking_part = [pair for pair in zip(rankings, weights, strict=True) if pair[1] > 0]
    depth = max((len(ranking.hits) for ranking, _ in taking_part), default=0)
    candidates: dict[ChunkId, _Candidate] = defaultdict(_Candidate)
    unnamed: list[float] = []
    for ranking, share in taking_part:
        hits = _first_places(ranking)
        scores, least = _reciprocal_ranks(hits), 0.0
        if method == "mix":
            scores = scaled(hits, leg=ranking.leg)
            least = scores[-1] if scores and len(ranking.hits) == depth else 0.0
        unnamed.append(share * least)
        for hit, score in zip(hits, scores, strict=True):
            candidate = candidates[hit.chunk.id]
            candidate.parts.append(share * (score - least))
            candidate.found.append((ranking, hit))
    base = math.fsum(unnamed)
    best = sorted(_placed(candidate, base) for candidate in candidates.values())[:limit]
    return [_hit(candidates[chunk], -score, rank) for rank, (score, _, chunk) in enumerate(best, start=1)]


def fuse_further(own: Sequence[Hit], further: Sequence[Hit], *, weight: float) -> tuple[Hit, ...]:
    """By reciprocal ranks, because the scores of the two lists have no common scale; `weight`: at most 1, that of `own`, whose
    order stays. Its hits of rank 0, beside others, have no rank.
    """
    ranked = sorted((hit for hit in own if hit.rank), key=attrgetter("rank"))
    shares = [(1 / (RANK_CONSTANT + place), hit) for place, hit in enumerate(ranked, start=1)]
    shares += [(weight / (RANK_CONSTANT + place), hit) for place, hit in enumerate(further, start=1)]
    ordered = sorted(shares, key=lambda pair: -pair[0])
    ranks = {hit.chunk.id: rank for rank, (_, hit) in enumerate(ordered, start=1)}
    fused = [replace(hit, rank=ranks.get(hit.chunk.id, 0)) for hit in own]
    for hit in further:
        rank = ranks[hit.chunk.id]
        after = [place for place, each in enumerate(fused, start=1) if 0 < each.rank < rank]
        fused.insert(max(after, default=0), replace(hit, rank=rank))
    return tuple(fused)


@dataclass(slots=True)
class _Candidate:
    parts: list[float] = field(default_factory=list[float])
    found: list[tuple[Ranking, Hit]] = field(default_factory=list[tuple[Ranking, Hit]])


def _placed(candidate: _Candidate, base: float) -> tuple[float, int, ChunkId]:
    found = candidate.found
    rank = found[0][1].rank if len(found) == 1 else min(hit.rank for _, hit in found)
    return -(base + math.fsum(candidate.parts)), rank, found[0][1].chunk.id


def _hit(candidate: _Candidate, score: float, rank: int) -> Hit:
    legs = [
        Provenance(
            leg=ranking.leg, rank=hit.rank, score=hit.score, query=ranking.query, expansion=ranking.expansion
        )
        for ranking, hit in candidate.found
    ]
    if len(legs) > 1:
        legs.sort(key=lambda found: (found.leg, found.rank, found.score, found.query, found.expansion or ""))
    return Hit(chunk=candidate.found[0][1].chunk, score=score, rank=rank, legs=tuple(legs))


def _first_places(ranking: Ranking) -> list[Hit]:
    places: dict[ChunkId, Hit] = {}
    for hit in sorted(ranking.hits, key=attrgetter("rank")):
        places.setdefault(hit.chunk.id, hit)
    return list(places.values())


def _reciprocal_ranks(hits: Sequence[Hit]) -> list[float]:
    return [1 / (RANK_CONSTANT + hit.rank) for hit in hits]


def scaled(hits: Sequence[Hit], *, leg: Leg) -> list[float]:
    """The best becomes 1, the floor 0: 0 for BM25, the last hit's score for cosines, which have no zero."""
    if not hits:
        return []
    top = max(hit.score for hit in hits)
    floor = 0.0 if leg == "lexical" else min(hit.score for hit in hits)
    if top <= floor:
        return [1.0] * len(hits)
    return [(hit.score - floor) / (top - floor) for hit in hits]
