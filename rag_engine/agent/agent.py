from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rag_engine.agent import calls
from rag_engine.agent.call_journal import CallJournal
from rag_engine.agent.loop import STAGE, AgentLimits, AgentLoop
from rag_engine.agent.passage_pool import PassagePool
from rag_engine.errors import RagError
from rag_engine.generation.dates import local_time
from rag_engine.research.budget import MeteredModel, ResearchBudget, ResearchLimits
from rag_engine.research.research import found_for

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rag_engine.agent.tool import Tool
    from rag_engine.pipeline import Inquiry, NamedStep
    from rag_engine.ports import LanguageModel
    from rag_engine.research.research import FindingsStore, SearchSteps
    from rag_engine.types import Stage

    ListTools = Callable[[], Awaitable[Sequence[Tool]]]

_LIMITS = AgentLimits()
_LEFT_OUT: Final = frozenset({"understand", "evidence", "web"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    tools: Sequence[Tool]
    model: LanguageModel | None = None
    """Of the task; None: the one that answers."""
    limits: AgentLimits = _LIMITS
    operator_tools: ListTools | None = None
    store: FindingsStore | None = None
    """None: a restart makes all calls again."""

    async def run(
        self, inquiry: Inquiry, search: SearchSteps, *, model: LanguageModel
    ) -> AsyncGenerator[Stage | Inquiry]:
        """Stages, then the inquiry with what was found."""
        limits, pool = self.limits, PassagePool()
        budget = ResearchBudget(
            limits=ResearchLimits(searches=limits.calls, tokens=limits.tokens, seconds=limits.seconds)
        )
        first = inquiry.hits[: limits.found]
        tools = {tool.name: tool for tool in await self._tools(inquiry)}
        today = local_time(inquiry.query.time_zone)
        begun = await asyncio.to_thread(calls.opening, inquiry.question, first, pool, today=today)
        loop = AgentLoop(
            inquiry=inquiry,
            tools=tools,
            model=MeteredModel(self.model or model, budget),
            search=partial(found_for, inquiry, search, limits.found),
            budget=budget,
            limits=limits,
            pool=pool,
            begun=begun,
            kept=await self._kept(inquiry),
        )
        async with aclosing(loop.run()) as stages:
            async for stage in stages:
                yield stage
        yield _gathered(inquiry, loop)

    async def _kept(self, inquiry: Inquiry) -> CallJournal:
        query, stored = inquiry.query, ""

        async def write(state: str) -> None:
            if self.store is None or query.turn is None or query.conversation is None:
                return
            try:
                await self.store.write(query.turn, query.conversation, state)
            except RagError as error:
                _log.warning("the calls of an answer could not be stored: %s", error)

        if self.store is not None and query.turn is not None:
            try:
                stored = await self.store.read(query.turn)
            except RagError as error:
                _log.warning("the calls of an interrupted answer could not be read: %s", error)
        return CallJournal.of(stored, inquiry.question, write)

    async def _tools(self, inquiry: Inquiry) -> list[Tool]:
        query = inquiry.query
        offered = [tool for tool in self.tools if tool.is_offered(query)]
        if query.options.tools != "all" or self.operator_tools is None:
            return offered
        try:
            own = {tool.name for tool in offered}
            return [*offered, *(tool for tool in await self.operator_tools() if tool.name not in own)]
        except RagError as error:
            _log.warning("the operator's tools cannot be used: %s", error)
            return offered


def tool_search(search_steps: Sequence[NamedStep]) -> list[NamedStep]:
    return [step for step in search_steps if step.name not in _LEFT_OUT]


def _gathered(inquiry: Inquiry, loop: AgentLoop) -> Inquiry:
    inquiry = inquiry.noting(agent=_noted(loop))
    inquiry = replace(inquiry, seconds={**inquiry.seconds, STAGE: loop.budget.seconds})
    if loop.faults:
        inquiry = inquiry.falling_back("agent_incomplete")
    if not any(one.passages for one in loop.made):
        return replace(inquiry, route="search")
    hits = loop.pool.best(loop.limits.passages)
    query = replace(inquiry.query, limit=len(hits), exact_limit=True)
    return replace(inquiry, query=query, route="agent", hits=hits, further=(), context=(), closest=())


def _noted(loop: AgentLoop) -> dict[str, object]:
    spent = loop.budget.as_json()
    return {
        "steps": loop.step,
        "ending": loop.ending,
        "tools": spent["searches"],
        "calls": spent["calls"],
        "tokens": spent["tokens"],
        "seconds": spent["seconds"],
        "made": [one.as_json() for one in loop.made],
        "faults": list(loop.faults),
    }
