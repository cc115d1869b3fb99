from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rag_engine.agent import calls
from rag_engine.agent.tool import ToolContext, ToolFailed
from rag_engine.errors import RagError
from rag_engine.generation.generate import bounded
from rag_engine.generation.prompt_safety import neutral
from rag_engine.generation.structured_reply import LONGEST, UnreadableReply
from rag_engine.generation.tool_request import ToolRound
from rag_engine.research.budget import BudgetSpent
from rag_engine.research.findings import PlanStep
from rag_engine.types import Stage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from rag_engine.agent.call_journal import CallJournal
    from rag_engine.agent.passage_pool import PassagePool
    from rag_engine.agent.tool import SearchText, Tool, ToolResult
    from rag_engine.generation.tool_request import ToolCall
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel
    from rag_engine.research.budget import ResearchBudget
    from rag_engine.research.findings import StepState

STAGE: Final = "agent"
LoopEnd: TypeAlias = Literal[
    "enough", "steps", "searches", "tokens", "seconds", "window", "repeated", "unreadable", "failed", ""
]
"""Empty: a further call may follow."""
_TOOK_TOO_LONG: Final = "It took too long."
_REPEATED: Final = "This call was made before; its result is above."
_MOST_TRACED: Final = 300
_MOST_SPARE_CALLS: Final = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """`calls` are those of tools, `found` the passages of one search."""

    steps: int = 8
    calls: int = 20
    at_once: int = 4
    tokens: int = 100_000
    seconds: float = 90.0
    call_seconds: float = 30.0
    result_tokens: int = 2_000
    found: int = 6
    passages: int = 20
    reply_tokens: int = 1_024
    temperature: float = 0.0


@dataclass(slots=True, kw_only=True)
class MadeCall:
    call: ToolCall
    step: int
    state: StepState = "waiting"
    text: str = ""
    passages: tuple[str, ...] = ()
    fault: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, object]:
        arguments = {name: str(value)[:_MOST_TRACED] for name, value in self.call.arguments.items()}
        return {
            "step": self.step,
            "tool": self.call.name[:_MOST_TRACED],
            "arguments": arguments,
            "passages": list(self.passages),
            "fault": self.fault,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True, kw_only=True)
class AgentLoop:
    inquiry: Inquiry
    tools: Mapping[str, Tool]
    model: LanguageModel
    search: SearchText
    budget: ResearchBudget
    limits: AgentLimits
    pool: PassagePool
    begun: str
    kept: CallJournal
    made: list[MadeCall] = field(default_factory=list[MadeCall])
    faults: list[str] = field(default_factory=list[str])
    ending: LoopEnd = ""
    _rounds: list[ToolRound] = field(default_factory=list[ToolRound])

    @property
    def step(self) -> int:
        return len(self._rounds)

    async def run(self) -> AsyncGenerator[Stage]:
        """Until `ending` says why it ended."""
        yield self._stage()
        while not self.ending:
            if (chosen := self.kept.earlier()) is None:
                chosen = await self._chosen()
                if not self.ending:
                    await self.kept.add(chosen)
            if not chosen:
                self.ending = self.ending or "enough"
                return
            step = [MadeCall(call=call, step=self.step + 1) for call in chosen]
            running = self._admitted(step)
            self.made += running
            tasks = [asyncio.create_task(self._run(one), name="call a tool") for one in running]
            pending = set(tasks)
            try:
                while pending:
                    yield self._stage()
                    done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            yield self._stage()
            self._close(step, ran=bool(running))

    def _stage(self) -> Stage:
        steps = tuple(
            PlanStep(tool=one.call.name, text=calls.summary(one.call), state=one.state) for one in self.made
        )
        return Stage(name=STAGE, detail="Using tools…", number=max(self.step, 1), steps=steps)

    def _close(self, step: Sequence[MadeCall], *, ran: bool) -> None:
        results = tuple(one.text for one in step)
        self._rounds.append(ToolRound(calls=tuple(one.call for one in step), results=results))
        if not ran:
            self.ending = "repeated"
        elif self.step >= self.limits.steps:
            self.ending = "steps"
        else:
            self.ending = self.budget.ending  # type: ignore[assignment]  # of these, only the limits it has

    async def _chosen(self) -> Sequence[ToolCall]:
        remark = ""
        for _ in range(2):
            prompt = calls.prompt(
                [*self.tools.values()],
                self.begun,
                self._rounds,
                remark=remark,
                reply_tokens=self.limits.reply_tokens,
                temperature=self.limits.temperature,
            )
            if prompt.tokens + prompt.reply_tokens > self.model.context_tokens:
                self.ending = "window"
                return ()
            try:
                async with asyncio.timeout(min(self.limits.call_seconds, self.budget.seconds_left)):
                    async with self.model.stream(prompt, task=calls.TASK) as pieces:
                        reply = "".join([piece async for piece in bounded(pieces, prompt)])
                return await asyncio.to_thread(calls.chosen_calls, reply[: LONGEST + 1])
            except UnreadableReply as error:
                remark = (
                    f"Your reply could not be read: {error} Reply with the JSON object alone, or with done."
                )
            except BudgetSpent:
                self.ending = "seconds" if not self.budget.seconds_left else "tokens"
                return ()
            except (RagError, TimeoutError) as error:
                self._fail("failed", str(error) or _TOOK_TOO_LONG)
                return ()
        self._fail("unreadable", remark)
        return ()

    def _fail(self, ending: LoopEnd, why: str) -> None:
        _log.warning("a language model chose no tool: %s", why)
        self.ending = ending
        self.faults.append(why[:_MOST_TRACED])

    def _admitted(self, step: list[MadeCall]) -> list[MadeCall]:
        before = {calls.identity(one.call) for one in self.made}
        admitted: list[MadeCall] = []
        del step[self.limits.at_once + _MOST_SPARE_CALLS :]
        for one in step:
            key = calls.identity(one.call)
            if key in before:
                self._refuse(one, _REPEATED)
            elif len(admitted) >= self.limits.at_once:
                self._refuse(one, f"Not made: at most {self.limits.at_once} calls at the same time.")
            else:
                before.add(key)
                admitted.append(one)
        return admitted

    def _refuse(self, one: MadeCall, why: str) -> None:
        one.state, one.fault = "failed", why
        one.text = calls.fenced(one.call.name, why)

    async def _run(self, one: MadeCall) -> None:
        one.state, started = "running", time.perf_counter()
        try:
            self.budget.search()
            async with asyncio.timeout(min(self.limits.call_seconds, self.budget.seconds_left)):
                result = await self._result(one.call)
        except BudgetSpent:
            self._refuse(one, "Not made: the budget is used up.")
        except (RagError, TimeoutError) as error:
            why = str(error) or _TOOK_TOO_LONG
            _log.info("a tool failed: %s", type(error).__name__)
            self._refuse(one, neutral(why[:_MOST_TRACED], keep_markers=True))
        else:
            one.passages = tuple(hit.chunk.id for hit in result.hits)
            most = self.limits.result_tokens
            one.text = calls.result_text(one.call.name, result, self.pool, most_tokens=most)
            one.state = "done"
        one.seconds = time.perf_counter() - started

    async def _result(self, call: ToolCall) -> ToolResult:
        tool = self.tools.get(call.name)
        if tool is None:
            raise ToolFailed(f"There is no such tool; there are: {', '.join(self.tools)}.")
        hits = self.pool.hits
        context = ToolContext(
            inquiry=replace(self.inquiry, hits=hits, further=()),
            search=self.search,
            model=self.model,
            passages=hits,
        )
        make = partial(tool.run, call.arguments, context)
        return await (self.kept.once(call, make) if tool.acts else make())
