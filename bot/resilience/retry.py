"""Ports retry only in a `patient` block, so questions never wait."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from rag_engine.errors import Unavailable
from rag_engine.wrappers.delegation import DelegatingEmbedder, DelegatingIndex
from rag_engine.wrappers.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.types import (
        Chunk,
        Document,
        DocumentId,
        KnowledgeBaseId,
        Matrix,
        Side,
        Vector,
    )

BACKOFF: Final = Backoff(first=0.5, longest=20.0)

_Result = TypeVar("_Result")


@dataclass(slots=True, kw_only=True)
class RetryPolicy:
    """With callbacks for the first wait and recovery."""

    seconds: float
    """From first failure to last attempt; 0: none."""
    on_wait: Callable[[Unavailable], Awaitable[None]]
    on_resume: Callable[[], Awaitable[None]]
    backoff: Backoff = BACKOFF
    _waiting: int = field(default=0, init=False)
    _announced: str = field(default="", init=False)

    async def keep_trying(
        self, call: Callable[[], Awaitable[_Result]], *, only: type[Unavailable] = Unavailable
    ) -> _Result:
        """Raises the last error when the time is over or `retry_after` exceeds the rest."""
        clock = asyncio.get_running_loop().time
        failures, ends = 0, 0.0
        waits = False
        try:
            while True:
                try:
                    result = await call()
                    break
                except only as error:
                    failures += 1
                    ends = ends or clock() + self.seconds
                    left = ends - clock()
                    if left <= 0 or (error.retry_after or 0) > left:
                        raise
                    seconds = self.backoff.seconds(failures, retry_after=error.retry_after)
                    if not waits:
                        waits = True
                        await self._begin(error)
                await asyncio.sleep(min(seconds, left))
        except BaseException as error:
            self._waiting -= waits
            if not isinstance(error, only):
                self._announced = ""
            raise
        if waits:
            await self._end()
        return result

    async def _begin(self, error: Unavailable) -> None:
        self._waiting += 1
        if self._waiting == 1 and self._announced != str(error):
            self._announced = str(error)
            await self.on_wait(error)

    async def _end(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._announced = ""
            await self.on_resume()


_current: ContextVar[RetryPolicy | None] = ContextVar("retry_policy", default=None)


@contextmanager
def patient(policy: RetryPolicy) -> Generator[None]:
    """In this block and its tasks."""
    token = _current.set(policy)
    try:
        yield
    finally:
        _current.reset(token)


async def keep_trying(
    call: Callable[[], Awaitable[_Result]], *, only: type[Unavailable] = Unavailable
) -> _Result:
    """Outside `patient` called once."""
    policy = _current.get()
    return await (call() if policy is None else policy.keep_trying(call, only=only))


@dataclass(frozen=True, slots=True)
class RetryingIndex(DelegatingIndex):
    """Writes, which the port makes repeatable, never searches."""

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        await keep_trying(lambda: self.index.put(document, chunks))

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        await keep_trying(lambda: self.index.drop(knowledge_base, document))

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        return await keep_trying(lambda: self.index.expand(document, vectors))


@dataclass(frozen=True, slots=True)
class RetryingEmbedder(DelegatingEmbedder):
    """Retries embedding passages, never questions."""

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if side == "query":
            return await self.embedder.embed(texts, side=side)
        return await keep_trying(lambda: self.embedder.embed(texts, side=side))
