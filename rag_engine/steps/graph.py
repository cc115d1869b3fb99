from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.graph.passages import chunks_at
from rag_engine.graph.ranking import rank_passages
from rag_engine.types import Hit, Provenance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Step
    from rag_engine.types import Chunk, ChunkId

PHASE = "search"
POSITION = 32
STATUS = ""


class Settings(BaseModel):
    """Adds passages near the entities that a question names, in knowledge bases that have a graph (`footnote kb graph`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: float = Field(default=0.15, ge=0, le=2)
    """How much the best of them gains, relative to the best hit; 0: the graph is not read."""
    passages: int = Field(default=60, ge=1, le=200)
    """Passages of the graph to fuse."""
    added: int = Field(default=20, ge=1, le=100)
    """How many of them may be new."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(add_neighbours, settings=settings, ports=ports)


async def add_neighbours(inquiry: Inquiry, *, settings: Settings, ports: Ports) -> Inquiry:
    bases = inquiry.layers.get("graph")
    if not bases or not settings.weight or not inquiry.hits or ports.graph is None or ports.contents is None:
        return inquiry
    ranking = await rank_passages(inquiry.question, ports.graph, bases)
    if not ranking.scores:
        return inquiry
    scores = ranking.scores
    best = sorted(scores, key=lambda number: -scores[number])[: 2 * settings.passages]
    places = await ports.graph.places(best)
    allowed = inquiry.documents
    places = {
        number: place
        for number, place in places.items()
        if place.knowledge_base in bases and (allowed is None or place.document in allowed)
    }
    ordered = sorted(places, key=lambda number: (-scores[number], places[number].chunk))
    ordered = ordered[: settings.passages]
    known = {hit.chunk.id: hit.chunk for hit in inquiry.hits}
    new = [places[number] for number in ordered if places[number].chunk not in known][: settings.added]
    known |= await chunks_at(new, ports.contents)
    ranked = [(places[number].chunk, scores[number]) for number in ordered if places[number].chunk in known]
    hits = fused(inquiry.hits, ranked, known, weight=settings.weight)
    noted = {
        "entities": list(ranking.entities),
        "passages": len(ranked),
        "added": len(known) - len(inquiry.hits),
    }
    return replace(inquiry, hits=hits).noting(graph=noted)


def fused(
    hits: Sequence[Hit],
    ranked: Sequence[tuple[ChunkId, float]],
    chunks: Mapping[ChunkId, Chunk],
    *,
    weight: float,
) -> tuple[Hit, ...]:
    """Scores stay on the scale of the hits; ties go to what was found without the graph."""
    found = {hit.chunk.id: hit for hit in hits}
    scale = weight * hits[0].score
    for rank, (chunk, score) in enumerate(ranked, start=1):
        hit = found.get(chunk) or Hit(chunk=chunks[chunk], score=0.0, rank=len(hits) + rank)
        provenance = Provenance(leg="lexical", rank=rank, score=score, expansion="graph")
        found[chunk] = replace(hit, score=hit.score + scale * score, legs=(*hit.legs, provenance))
    ordered = sorted(found.values(), key=lambda hit: (-hit.score, hit.rank, hit.chunk.id))
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(ordered, start=1))
