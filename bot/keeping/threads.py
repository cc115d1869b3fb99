"""Long blocking work in a thread, which ends soon after nobody waits for it any more."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


class Unwanted(Exception):
    """Nobody waits for the work any more."""


async def run(work: Callable[[Callable[[], None]], _Result]) -> _Result:
    """Do the work in a thread. It is given a function to call now and then, which ends it by an error once this is cancelled.

    Cancelled, this returns only when the work has ended and cleaned up after itself.
    """
    cancelled = threading.Event()

    def check() -> None:
        if cancelled.is_set():
            raise Unwanted

    task = asyncio.create_task(asyncio.to_thread(work, check))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # seen: whatever it was, nobody is there to be told
        raise
