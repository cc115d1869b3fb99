from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


class WorkAbandoned(Exception):
    """The caller was cancelled."""


async def run(work: Callable[[Callable[[], None]], _Result]) -> _Result:
    """`work` calls its argument often, which raises after cancellation. Cancellation waits for its clean-up."""
    cancelled = threading.Event()

    def check() -> None:
        if cancelled.is_set():
            raise WorkAbandoned

    task = asyncio.create_task(asyncio.to_thread(work, check))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio logs it
        raise
