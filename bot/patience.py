"""Waiting for a service that does not answer, instead of failing at once: for work that nobody wants to begin anew.

The ports that files go through are wrapped where they are put together; they wait only inside `patient`, so a question never
does. What a file has cost until then is kept: only the call that failed is made again.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from rag_engine.around import AroundEmbedder, AroundIndex
from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from rag_engine.types import (
        Chunk,
        Document,
        DocumentId,
        KnowledgeBaseId,
        Matrix,
        Side,
        Vector,
    )

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 20.0

_Result = TypeVar("_Result")


def pause(failures: int, *, chance: float, retry_after: float | None = None) -> float:
    """Seconds to wait after so many failures in a row (from 1): twice as long each time, and never less than the service asks.

    `chance`, from 0 to 1, takes off up to a half, so that many who failed together do not come back together.
    """
    doubled = min(_FIRST_SECONDS * 2.0 ** min(failures - 1, 16), _LONGEST_SECONDS)
    return max(doubled * (1 - chance / 2), retry_after or 0.0)


@dataclass(slots=True, kw_only=True)
class Patience:
    """How long one piece of work waits, and who is told: once when it begins to, once when it goes on."""

    seconds: float
    """From the first failure of a call to its last attempt; 0 fails at once."""
    on_wait: Callable[[Unavailable], Awaitable[None]]
    on_resume: Callable[[], Awaitable[None]]
    chance: Callable[[], float] = random.random
    _waiting: int = field(default=0, init=False)

    async def keep_trying(
        self, call: Callable[[], Awaitable[_Result]], *, only: type[Unavailable] = Unavailable
    ) -> _Result:
        """What the call returns in the end. Raises its `Unavailable` when the time is over, or could not be enough.

        Another than `only` is raised at once.
        """
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
                    seconds = pause(failures, chance=self.chance(), retry_after=error.retry_after)
                    if not waits:
                        waits = True
                        await self._begin(error)
                await asyncio.sleep(min(seconds, left))
        except BaseException:
            self._waiting -= waits
            raise
        if waits:
            await self._end()
        return result

    async def _begin(self, error: Unavailable) -> None:
        self._waiting += 1
        if self._waiting == 1:
            await self.on_wait(error)

    async def _end(self) -> None:
        """Several calls wait for the same service: it is back when the last of them is through."""
        self._waiting -= 1
        if not self._waiting:
            await self.on_resume()


_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patient(patience: Patience) -> Generator[None]:
    """What is called in this block, and in the tasks it starts, waits with this patience."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


async def keep_trying(
    call: Callable[[], Awaitable[_Result]], *, only: type[Unavailable] = Unavailable
) -> _Result:
    """What the call returns, made again as long as the patience of the block lasts; outside of one it is made once.

    It is made again for `only` such errors.
    """
    patience = _current.get()
    return await (call() if patience is None else patience.keep_trying(call, only=only))


@dataclass(frozen=True, slots=True)
class PatientIndex(AroundIndex):
    """The same port round `index`: writing waits, which a retry harms as little as the port says; searching never does."""

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        await keep_trying(lambda: self.index.put(document, chunks))

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        await keep_trying(lambda: self.index.drop(knowledge_base, document))


@dataclass(frozen=True, slots=True)
class PatientEmbedder(AroundEmbedder):
    """The same port round `embedder`: passages wait, questions never do."""

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if side == "query":
            return await self.embedder.embed(texts, side=side)
        return await keep_trying(lambda: self.embedder.embed(texts, side=side))
