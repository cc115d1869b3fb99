from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from rag_engine.errors import RagError
from rag_engine.research import calls
from rag_engine.research.budget import BudgetSpent, MeteredModel
from rag_engine.types import Hit, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.research.budget import ResearchBudget
    from rag_engine.research.findings import Findings, SubQuestion

    SearchPart = Callable[[str], Awaitable[Sequence[Hit]]]
    KeepFindings = Callable[[Findings], Awaitable[None]]

STAGE = "research"
_Result = TypeVar("_Result")
_TOOK_TOO_LONG = "it took too long"

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class ResearchLoop:
    """`keep` stores each change: a restart continues."""

    findings: Findings
    model: LanguageModel
    task_models: Mapping[str, LanguageModel]
    embedder: Embedder
    budget: ResearchBudget
    search: SearchPart
    keep: KeepFindings

    async def run(self) -> AsyncGenerator[Stage]:
        """Until `findings.ending` says why it ended."""
        yield self._stage()
        if not self.findings.parts:
            await self._plan()
        while not self.findings.ending:
            async with aclosing(self._round()) as stages:
                async for stage in stages:
                    yield stage
            self.findings = await self._judged()
            await self.keep(self.findings)

    def _stage(self) -> Stage:
        return Stage(name=STAGE, detail="Researching…", number=self.findings.round, steps=self.findings.steps)

    def _model(self, task: str) -> LanguageModel:
        return MeteredModel(self.task_models.get(task, self.model), self.budget)

    async def _within(self, work: Awaitable[_Result]) -> _Result:
        async with asyncio.timeout(min(self.budget.limits.call_seconds, self.budget.seconds_left)):
            return await work

    async def _plan(self) -> None:
        question, most = self.findings.question, self.budget.limits.parts
        try:
            planned = await self._within(calls.planned(self._model(calls.SUBQUERIES), question, most=most))
        except (RagError, TimeoutError) as error:
            planned = (question,)
            self.findings = self._failing("plan", error)
        self.findings = self.findings.asking(planned, most=most)
        await self.keep(self.findings)

    async def _round(self) -> AsyncGenerator[Stage]:
        waiting = self.findings.open_parts
        for part in waiting:
            self.findings = self.findings.with_part(replace(part, state="running"))
        yield self._stage()
        tasks = [asyncio.create_task(self._researched(part), name="research a part") for part in waiting]
        pending = set(tasks)
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    part, hits = task.result()
                    self.findings = self.findings.with_part(part, hits)
                await self.keep(self.findings)
                yield self._stage()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _researched(self, part: SubQuestion) -> tuple[SubQuestion, Sequence[Hit]]:
        limits, hits = self.budget.limits, list[Hit]()
        try:
            self.budget.search()
            hits = list(await self._within(self.search(part.text)))[: limits.read]
            part = replace(part, passages=tuple(hit.chunk.id for hit in hits))
            if hits:
                model, most = self._model(calls.EXTRACT), limits.facts
                work = calls.extracted(model, self.embedder, self.findings, part, hits, most=most)
                part = replace(part, facts=await self._within(work))
        except (RagError, TimeoutError) as error:
            _log.warning("a part of a research run failed: %s", _why(error))
            state = "done" if hits else "failed"
            return replace(part, state=state, faults=(_why(error),)), hits
        return replace(part, state="done"), hits

    async def _judged(self) -> Findings:
        findings, limits = self.findings, self.budget.limits
        if ending := self.budget.ending:
            return replace(findings, ending=ending)
        if findings.round > 1 and findings.found_nothing_new():
            return replace(findings, ending="nothing_new")
        if findings.round >= limits.rounds:
            return replace(findings, ending="rounds")
        try:
            reply = await self._within(
                calls.judged(self._model(calls.SUFFICIENCY), findings, most=limits.parts)
            )
        except BudgetSpent:
            return replace(findings, ending=self.budget.ending or "tokens")
        except (RagError, TimeoutError) as error:
            return replace(self._failing("sufficiency", error), ending="unreadable")
        findings = replace(findings, missing=tuple(reply.missing), contradictions=tuple(reply.contradictions))
        if reply.sufficient:
            return replace(findings, ending="sufficient")
        left = limits.searches - self.budget.searches
        asking = findings.asking(reply.questions, most=min(limits.parts, left))
        return asking if asking.open_parts else replace(asking, ending="no_questions")

    def _failing(self, what: str, error: Exception) -> Findings:
        _log.warning("the %s of a research run failed: %s", what, _why(error))
        return replace(self.findings, faults=(*self.findings.faults, f"{what}: {_why(error)}"))


def _why(error: Exception) -> str:
    return str(error) or _TOOK_TOO_LONG
