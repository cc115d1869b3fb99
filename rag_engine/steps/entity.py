from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from rag_engine.graph.card import asked_entity, card_of
from rag_engine.types import Hit

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Step

PHASE = "search"
POSITION = 34
STATUS = ""


class Settings(BaseModel):
    """Gathers what the files say of a name ("what do we know about X"), in knowledge bases that have a graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def build(settings: Settings, ports: Ports) -> Step:
    return partial(with_card, ports=ports)


async def with_card(inquiry: Inquiry, *, ports: Ports) -> Inquiry:
    bases = inquiry.layers.get("graph")
    if not bases or inquiry.route != "search" or ports.graph is None or ports.contents is None:
        return inquiry
    name = asked_entity(inquiry.query.text) or asked_entity(inquiry.question)
    if not name:
        return inquiry
    card = await card_of(name, ports.graph, ports.contents, bases, documents=inquiry.documents)
    if card is None:
        return inquiry
    known = {hit.chunk.id: hit for hit in inquiry.hits}
    top = max((hit.score for hit in inquiry.hits), default=1.0)
    chunks = {statement.chunk.id: statement.chunk for statement in card.statements}
    own = [known.get(name) or Hit(chunk=chunk, score=top, rank=0) for name, chunk in chunks.items()]
    others = [hit for hit in inquiry.hits if hit.chunk.id not in chunks]
    hits = [replace(hit, rank=rank) for rank, hit in enumerate([*own, *others], 1)]
    noted = {"name": card.name, "passages": len(own), "related": len(card.related)}
    return replace(inquiry, hits=tuple(hits), card=card).noting(card=noted)
