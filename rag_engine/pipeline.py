"""A query on its way to a prompt: the inquiry, and the runner that takes it through the steps in order."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine.types import Hit, Prompt, Query, Ranking, Route, Stage, Turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from rag_engine.ports import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """Everything known about a query so far. A step returns a changed copy."""

    query: Query
    question: str
    """What is searched for: the query's text, or its stand-alone form once a step has refined it."""
    history: tuple[Turn, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    hits: tuple[Hit, ...] = ()
    """The fused, reranked hits, best first."""
    prompt: Prompt | None = None
    route: Route = "search"
    fallbacks: tuple[str, ...] = ()
    """Stable names of what had to be done without, e.g. `dense_unavailable`."""
    notices: tuple[str, ...] = ()
    """Plain sentences a person should see with the answer."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON values for the trace."""
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    def noting(self, **details: object) -> Inquiry:
        """The same inquiry with more details for the trace."""
        return replace(self, details={**self.details, **details})

    def falling_back(self, name: str) -> Inquiry:
        """The same inquiry with one more fallback recorded."""
        return replace(self, fallbacks=(*self.fallbacks, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStep:
    """A step with the name of its module, and what a person reads while it runs (empty: nothing)."""

    name: str
    run: Step
    status: str = ""


async def run(inquiry: Inquiry, steps: Sequence[NamedStep]) -> AsyncIterator[Stage | Inquiry]:
    """Take the inquiry through the steps; yields a stage before each step that has a status, the final inquiry last."""
    for step in steps:
        if step.status:
            yield Stage(name=step.name, detail=step.status)
        started = time.perf_counter()
        inquiry = await step.run(inquiry)
        inquiry = replace(inquiry, seconds={**inquiry.seconds, step.name: time.perf_counter() - started})
    yield inquiry
