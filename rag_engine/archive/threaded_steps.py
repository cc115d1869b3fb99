from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from rag_engine.storage.concurrency.uncancellable import uninterrupted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from contextlib import AbstractContextManager

_Item = TypeVar("_Item")

_STEP_SECONDS: Final = 0.01


@asynccontextmanager
async def leaving_in_thread(context: AbstractContextManager[_Item]) -> AsyncGenerator[_Item, None]:
    """For what opens at once and closes slowly."""
    value = context.__enter__()
    try:
        yield value
    except BaseException as error:
        await uninterrupted(asyncio.to_thread(context.__exit__, type(error), error, error.__traceback__))
        raise
    await uninterrupted(asyncio.to_thread(context.__exit__, None, None, None))


async def stepping_in_thread(items: Generator[_Item, None, None]) -> AsyncGenerator[_Item, None]:
    """As many as a moment makes in each step. Cancellation waits for the step."""
    try:
        while step := await uninterrupted(asyncio.to_thread(_step, items)):
            for item in step:
                yield item
    finally:
        items.close()


def _step(items: Generator[_Item, None, None]) -> list[_Item]:
    made: list[_Item] = []
    end = time.monotonic() + _STEP_SECONDS
    for item in items:
        made.append(item)
        if time.monotonic() >= end:
            break
    return made
