from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable

_Result = TypeVar("_Result")


async def uninterrupted(awaitable: Awaitable[_Result]) -> _Result:
    """For short clean-up; then raises any cancellation."""
    task = asyncio.ensure_future(awaitable)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is not None:
        raise interruption from (None if task.cancelled() else task.exception())
    return task.result()
