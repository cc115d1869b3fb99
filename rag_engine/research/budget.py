from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError
from rag_engine.text import tokens
from rag_engine.wrappers.delegation import DelegatingModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from rag_engine.research.findings import Ending
    from rag_engine.types import Prompt


_LONGEST_READ: Final = 64_000


class BudgetSpent(RagError):
    """The research has used up its budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchLimits:
    """`parts`: of a round; `facts` and `read` of each; `passages` of the answer."""

    parts: int = 4
    rounds: int = 4
    searches: int = 12
    tokens: int = 100_000
    seconds: float = 120.0
    call_seconds: float = 40.0
    facts: int = 3
    read: int = 6
    passages: int = 20


@dataclass(slots=True, kw_only=True)
class ResearchBudget:
    limits: ResearchLimits
    calls: int = 0
    searches: int = 0
    tokens: int = 0
    earlier_seconds: float = 0.0
    """Of a process that ended."""
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def seconds(self) -> float:
        return self.earlier_seconds + self.clock() - self._started

    @property
    def seconds_left(self) -> float:
        return max(self.limits.seconds - self.seconds, 0.0)

    @property
    def ending(self) -> Ending:
        """The limit that is reached, if any."""
        if self.seconds >= self.limits.seconds:
            return "seconds"
        if self.tokens >= self.limits.tokens:
            return "tokens"
        return "searches" if self.searches >= self.limits.searches else ""

    def search(self) -> None:
        """Raises `BudgetSpent`."""
        if self.searches >= self.limits.searches or not self.seconds_left:
            raise BudgetSpent
        self.searches += 1

    def call(self, prompt: Prompt) -> None:
        """Reserves its tokens. Raises `BudgetSpent`."""
        if self.tokens >= self.limits.tokens or not self.seconds_left:
            raise BudgetSpent
        self.calls += 1
        self.tokens += prompt.tokens + prompt.reply_tokens

    def as_json(self) -> dict[str, float]:
        return {
            "calls": self.calls,
            "searches": self.searches,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class MeteredModel(DelegatingModel):
    budget: ResearchBudget

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        self.budget.call(prompt)
        said: list[str] = []

        async def counted(pieces: AsyncIterator[str]) -> AsyncGenerator[str]:
            async for piece in pieces:
                said.append(piece)
                yield piece

        try:
            async with self.model.stream(prompt, task=task) as pieces:
                yield counted(pieces)
        finally:
            read = "".join(said)[:_LONGEST_READ]
            self.budget.tokens += tokens.estimate(read) - prompt.reply_tokens
