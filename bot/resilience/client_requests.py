from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.requests import ClientDisconnect

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.requests import Request

Result = TypeVar("Result")
_BROKEN_OFF: Final = "The request broke off."


async def body_of(request: Request, *, most_bytes: int, seconds: float) -> bytes:
    """Raises `UserError`."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for block in request.stream():
                body += block
                if len(body) > most_bytes:
                    raise UserError(f"This is too large: at most {most_bytes >> 10} kB can be sent.")
    except ClientDisconnect as error:
        raise UserError(_BROKEN_OFF) from error
    except TimeoutError as error:
        raise UserError("The request took too long to arrive: send it again.") from error
    return bytes(body)


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Ends `work` when the client leaves. Raises `UserError`, and what `work` raises."""
    running = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([running, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise UserError(_BROKEN_OFF)
        return running.result()
    finally:
        leaving.cancel()
        running.cancel()
        await asyncio.gather(running, leaving, return_exceptions=True)
