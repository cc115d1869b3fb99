"""Passages that mention entities of a question, and those that share another entity with these.

An entity weighs by its rarity. A passage scores the sum of its entities' weights and passes it on through its other
entities, divided among their passages (docs/decisions.md).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.graph.names import keys_in
from rag_engine.graph.types import entity_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.graph.types import EntityId, EntityMention, GraphReader, PassageNumber
    from rag_engine.types import DocumentId, KnowledgeBaseId

_SUBJECT: Final = 10.0
_MOST_IDS: Final = 6_000
_MOST_SHARE: Final = 0.05
"""Of the passages: more frequent entities tell nothing."""
_FEW: Final = 20
_RARE: Final = 4
_MOST_FIRST: Final = 50
_MOST_SHARING: Final = 50
_MOST_NEIGHBOURS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRanking:
    """`entities`: the names of the question that the graph knows."""

    scores: Mapping[PassageNumber, float]
    entities: tuple[str, ...] = ()


async def rank_passages(
    question: str, graph: GraphReader, knowledge_bases: Collection[KnowledgeBaseId]
) -> GraphRanking:
    """The best score is 1, less if the rarest entity is common; nothing if the question names no entity here."""
    asked = keys_in(question)[: _MOST_IDS // max(len(knowledge_bases), 1)]
    ids = {entity_id(base, key): key for base in sorted(knowledge_bases) for key in asked}
    size = await graph.size(knowledge_bases)
    most = max(_FEW, int(size * _MOST_SHARE))
    found = await graph.frequencies(ids, most=most + 1)
    names = _longest({ids[entity] for entity in found})
    frequency: dict[str, int] = defaultdict(int)
    for entity, count in found.items():
        frequency[ids[entity]] += count
    weights = {
        entity: _rarity(size, frequency[key])
        for entity, key in ids.items()
        if entity in found and key in names and frequency[key] <= most
    }
    if not weights:
        return GraphRanking(scores={})
    entities = tuple(sorted({ids[entity] for entity in weights}))
    first = _first(await _with_aliases(weights, graph), weights)
    second = await _second(first, weights, size, graph)
    scores: dict[PassageNumber, float] = defaultdict(float)
    for part in (first, second):
        top = max(part.values(), default=1.0)
        for passage, score in part.items():
            scores[passage] += score / top
    rarest = min(frequency[ids[entity]] for entity in weights if entity in ids)
    top = max(scores.values(), default=1.0) * max(1.0, rarest / _RARE)
    return GraphRanking(
        scores={passage: score / top for passage, score in scores.items()},
        entities=entities,
    )


def _rarity(size: int, frequency: int) -> float:
    return math.log(1 + size / frequency)


def _longest(keys: Collection[str]) -> set[str]:
    kept: list[str] = []
    for key in sorted(keys, key=lambda key: (-len(key), key)):
        if not any(f" {key} " in f" {longer} " for longer in kept):
            kept.append(key)
    return set(kept)


async def _with_aliases(weights: dict[EntityId, float], graph: GraphReader) -> list[EntityMention]:
    mentions = list(await graph.mentions(weights))
    aliases = await graph.aliases(weights)
    if not aliases:
        return mentions
    others = await graph.mentions({alias.other for alias in aliases} - weights.keys())
    places = await graph.places({mention.passage for mention in others})
    where: dict[EntityId, set[DocumentId | None]] = defaultdict(set)
    weight: dict[EntityId, float] = {}
    for alias in aliases:
        where[alias.other].add(alias.document)
        weight[alias.other] = max(weight.get(alias.other, 0.0), weights[alias.entity])
    fitting = [
        mention for mention in others if {None, places[mention.passage].document} & where[mention.entity]
    ]
    for mention in fitting:
        weights[mention.entity] = weight[mention.entity]
    return [*mentions, *fitting]


def _first(
    mentions: Sequence[EntityMention], weights: Mapping[EntityId, float]
) -> dict[PassageNumber, float]:
    scores: dict[PassageNumber, float] = defaultdict(float)
    for mention in mentions:
        scores[mention.passage] += weights[mention.entity] * _share(mention)
    best = sorted(scores, key=lambda passage: (-scores[passage], passage))[:_MOST_FIRST]
    return {passage: scores[passage] for passage in best}


async def _second(
    first: Mapping[PassageNumber, float], seeds: Mapping[EntityId, float], size: int, graph: GraphReader
) -> dict[PassageNumber, float]:
    through: dict[EntityId, list[PassageNumber]] = defaultdict(list)
    for mention in await graph.entities_of(first):
        if mention.entity not in seeds:
            through[mention.entity].append(mention.passage)
    frequency = await graph.frequencies(through, most=_MOST_SHARING + 1)
    linking = sorted(
        (entity for entity, count in frequency.items() if 1 < count <= _MOST_SHARING),
        key=lambda entity: (frequency[entity], entity),
    )[:_MOST_NEIGHBOURS]
    scores: dict[PassageNumber, float] = defaultdict(float)
    for mention in await graph.mentions(linking):
        count = frequency[mention.entity]
        weight = _rarity(size, count) * _share(mention) / count
        for passage in through[mention.entity]:
            if passage != mention.passage:
                scores[mention.passage] += first[passage] * weight
    return dict(scores)


def _share(mention: EntityMention) -> float:
    return _SUBJECT if mention.is_subject else 1.0
