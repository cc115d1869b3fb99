"""A call that may have changed something outside is not made again after a restart."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from rag_engine.agent.calls import identity
from rag_engine.agent.tool import ToolFailed, ToolResult
from rag_engine.generation.tool_request import ToolCall
from rag_engine.types import Chunk, Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

WriteCalls: TypeAlias = Callable[[str], Awaitable[None]]
_INTERRUPTED: Final = (
    "This call was interrupted, and whether it took effect is unknown. It is not made again."
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    tool: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """Of a call to an operator's tool; without `done` it began and did not end."""

    done: bool = False
    text: str = ""
    passages: list[Chunk] = field(default_factory=list[Chunk])
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    agent_question: str
    steps: list[list[_Call]]
    outcomes: dict[str, _Outcome]


_ADAPTER: Final = TypeAdapter(_Stored)


@dataclass(slots=True, kw_only=True)
class CallJournal:
    """`write` stores them and raises nothing."""

    question: str
    write: WriteCalls
    _steps: list[list[_Call]] = field(default_factory=list[list[_Call]])
    _outcomes: dict[str, _Outcome] = field(default_factory=dict[str, _Outcome])
    _repeated: int = 0

    @classmethod
    def of(cls, stored: str, question: str, write: WriteCalls) -> CallJournal:
        """None of another question."""
        kept = cls(question=question, write=write)
        try:
            found = _ADAPTER.validate_json(stored) if stored else None
        except ValidationError:
            _log.info("calls of an interrupted answer could not be read, so the model chooses again")
            return kept
        if found is not None and found.agent_question == question:
            kept._steps, kept._outcomes = found.steps, found.outcomes
        return kept

    def earlier(self) -> list[ToolCall] | None:
        """The calls of the next step before the restart; empty if the model was done."""
        if self._repeated == len(self._steps):
            return None
        self._repeated += 1
        return [ToolCall(name=one.tool, arguments=one.arguments) for one in self._steps[self._repeated - 1]]

    async def add(self, chosen: Sequence[ToolCall]) -> None:
        self._steps.append([_Call(tool=one.name, arguments=dict(one.arguments)) for one in chosen])
        self._repeated = len(self._steps)
        await self._write()

    async def once(self, call: ToolCall, make: Callable[[], Awaitable[ToolResult]]) -> ToolResult:
        """The kept result, or a new one. Raises as `make` does, and `ToolFailed` for an interrupted call."""
        key = identity(call)
        if (kept := self._outcomes.get(key)) is not None:
            return _result(kept)
        self._outcomes[key] = _Outcome()
        await self._write()
        try:
            result = await make()
        except Exception as error:
            self._outcomes[key] = _Outcome(done=True, fault=str(error))
            await self._write()
            raise
        passages = [hit.chunk for hit in result.hits]
        self._outcomes[key] = _Outcome(done=True, text=result.text, passages=passages)
        await self._write()
        return result

    async def _write(self) -> None:
        stored = _Stored(agent_question=self.question, steps=self._steps, outcomes=self._outcomes)
        await self.write(_ADAPTER.dump_json(stored).decode())


def _result(kept: _Outcome) -> ToolResult:
    if not kept.done or kept.fault:
        raise ToolFailed(kept.fault or _INTERRUPTED)
    hits = tuple(Hit(chunk=chunk, score=0.0, rank=rank) for rank, chunk in enumerate(kept.passages, 1))
    return ToolResult(text=kept.text, hits=hits)
