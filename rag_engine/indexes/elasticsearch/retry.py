from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from rag_engine.errors import IndexUnavailable
from rag_engine.indexes.elasticsearch.errors import translate_errors
from rag_engine.wrappers.retry import Attempts, Backoff

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

PASSING = frozenset({"rejected", "red"})
"""A busy node has room later, and a lost shard copy is replaced."""

_Result = TypeVar("_Result")

_BACKOFF = Backoff(first=0.05, longest=2.0)


async def pause(attempts: Attempts, fault: IndexUnavailable) -> None:
    if fault.reason not in PASSING:
        raise fault
    await attempts.pause(fault)


@asynccontextmanager
async def limited(seconds: float) -> AsyncGenerator[Attempts]:
    """At the limit raises the last fault, or `TimeoutError`."""
    attempts = Attempts(backoff=_BACKOFF)
    try:
        async with asyncio.timeout(seconds):
            yield attempts
    except TimeoutError as error:
        if attempts.last is None:
            raise
        raise attempts.last from error


async def repeated(call: Callable[[], Awaitable[_Result]], *, seconds: float) -> _Result:
    """Translates foreign errors."""
    with translate_errors():
        async with limited(seconds) as attempts:
            while True:
                try:
                    with translate_errors():
                        return await call()
                except IndexUnavailable as fault:
                    await pause(attempts, fault)
