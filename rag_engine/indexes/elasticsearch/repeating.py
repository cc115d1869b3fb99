"""Calls that are made again while there is time, because what is wrong may pass."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from rag_engine.errors import IndexUnavailable
from rag_engine.indexes.elasticsearch.faults import translate_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

PASSING = frozenset({"rejected", "red"})
"""Reasons to ask again as long as there is time: a busy node has room later, and a lost copy of a shard is replaced."""

_Result = TypeVar("_Result")

_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0


class Pauses:
    """The pauses between the attempts of one call, each twice as long as the one before."""

    def __init__(self) -> None:
        self.last: IndexUnavailable | None = None
        self._seconds = _FIRST_PAUSE_SECONDS

    async def after(self, fault: IndexUnavailable) -> None:
        """Wait before the next attempt; raises the fault when another attempt is of no use."""
        if fault.reason not in PASSING:
            raise fault
        self.last = fault
        # Many who failed together are not to come back together.
        await asyncio.sleep(self._seconds * random.uniform(0.5, 1))  # noqa: S311 - nothing secret
        self._seconds = min(2 * self._seconds, _LONGEST_PAUSE_SECONDS)


@asynccontextmanager
async def limited(seconds: float) -> AsyncGenerator[Pauses]:
    """The block may take so long. Then it fails for what was wrong last, or with `TimeoutError` when nothing was but the time."""
    pauses = Pauses()
    try:
        async with asyncio.timeout(seconds):
            yield pauses
    except TimeoutError as error:
        if pauses.last is None:
            raise
        raise pauses.last from error


async def repeated(call: Callable[[], Awaitable[_Result]], *, seconds: float) -> _Result:
    """What the call returns, foreign errors translated; made again for so long when what is wrong may pass."""
    with translate_errors():
        async with limited(seconds) as pauses:
            while True:
                try:
                    with translate_errors():
                        return await call()
                except IndexUnavailable as fault:
                    await pauses.after(fault)
