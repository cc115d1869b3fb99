"""The pipeline: an `Inquiry` passes through the steps in order, from a query to a prompt."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine.types import (
    DocumentId,
    Evidence,
    Hit,
    KnowledgeBaseId,
    Layer,
    Leg,
    Prompt,
    Query,
    Ranking,
    Route,
    Stage,
    Turn,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from rag_engine.graph.card import EntityCard
    from rag_engine.metadata.filter_types import Filter
    from rag_engine.metadata.verified_answer import VerifiedMatch
    from rag_engine.ports import Step
    from rag_engine.research.findings import Findings
    from rag_engine.retrieval.queries.understood_message import Understanding


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    query: Query
    question: str
    """Self-contained after the step `understand`."""
    beside: str = ""
    """The other reading: with the conversation's words, or without."""
    history: tuple[Turn, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    hits: tuple[Hit, ...] = ()
    """Fused and reranked; none if they do not answer."""
    further: tuple[Hit, ...] = ()
    """The hits after the query's limit."""
    context: tuple[Hit, ...] = ()
    """For a language model, in place of `hits`."""
    found: Mapping[Leg, int] = field(default_factory=dict["Leg", int])
    """Chunks by leg."""
    evidence: Evidence = ""
    by_meaning: bool = False
    """One sentence of `hits` answers in other words than the question's."""
    closest: tuple[Hit, ...] = ()
    """The hits that do not answer."""
    unmentioned: tuple[str, ...] = ()
    """None of `closest` holds them."""
    prompt: Prompt | None = None
    dates: Mapping[DocumentId, str] = field(default_factory=dict[DocumentId, str])
    """ISO dates of the files of `prompt`, where known."""
    documents: frozenset[DocumentId] | None = None
    """The documents that filters choose; None: all."""
    filtered_by: tuple[Filter, ...] = ()
    filter_left_out: tuple[str, ...] = ()
    """Conditions of a model that were not used."""
    route: Route = "search"
    pending: asyncio.Task[Understanding | None] | None = None
    """The call of the step `understand`, until `retrieve` joins it."""
    understanding: Understanding | None = None
    findings: Findings | None = None
    synonyms: Mapping[KnowledgeBaseId, Sequence[Sequence[str]]] = field(
        default_factory=dict[KnowledgeBaseId, "Sequence[Sequence[str]]"]
    )
    """The entries of each knowledge base."""
    layers: Mapping[Layer, frozenset[KnowledgeBaseId]] = field(
        default_factory=dict["Layer", "frozenset[KnowledgeBaseId]"]
    )
    """The knowledge bases that have this one."""
    wordings: tuple[str, ...] = ()
    """The question with synonyms or corrections in place of its words."""
    wording: str = ""
    """The one of `wordings` to answer: the one that the passages answer best, else the corrected one."""
    corrections: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was searched for in place of mistyped words."""
    card: EntityCard | None = None
    verified: VerifiedMatch | None = None
    fallbacks: tuple[str, ...] = ()
    """Stable names of what was missing, e.g. `dense_unavailable`."""
    notices: tuple[str, ...] = ()
    """Sentences to show with the answer."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON values for the trace."""
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    def noting(self, **details: object) -> Inquiry:
        return replace(self, details={**self.details, **details})

    def falling_back(self, name: str) -> Inquiry:
        return replace(self, fallbacks=(*self.fallbacks, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStep:
    name: str
    run: Step
    status: str = ""


async def run(inquiry: Inquiry, steps: Sequence[NamedStep]) -> AsyncGenerator[Stage | Inquiry]:
    """Yields a `Stage` before each step with a status, one for a pending understanding, and the final inquiry last."""
    pending: asyncio.Task[Understanding | None] | None = None
    try:
        for step in steps:
            if step.status and inquiry.pending is None:
                yield Stage(name=step.name, detail=step.status)
            started = time.perf_counter()
            inquiry = await step.run(inquiry)
            if pending is None and inquiry.pending is not None:
                pending = inquiry.pending
                yield Stage(name="understand", detail="Understanding your question…")
            inquiry = replace(inquiry, seconds={**inquiry.seconds, step.name: time.perf_counter() - started})
        yield inquiry
    finally:
        if pending is not None and not pending.done():
            pending.cancel()
            await asyncio.wait([pending])
