"""An event loop whose look-ups of names hold nothing up: each has a thread of its own, which nobody waits for at the end.

asyncio looks names up in the threads that all other blocking work shares. A name server that does not answer keeps each of them for as
long as the system tries, half a minute or so; a few connections that are tried again and again then stop everything else, and the
program does not end before they have given up.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_EventLoop = asyncio.ProactorEventLoop if sys.platform == "win32" else asyncio.SelectorEventLoop


class EventLoop(_EventLoop):
    """The loop of the platform but for `getaddrinfo`."""

    async def getaddrinfo(
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - as asyncio has it
        proto: int = 0,
        flags: int = 0,
    ) -> Any:
        found: asyncio.Future[Any] = self.create_future()

        def tell(call: Callable[[Any], None], value: object) -> None:
            if not found.done():
                call(value)

        def look() -> None:
            call: Callable[[Any], None]
            value: object
            try:
                call, value = found.set_result, socket.getaddrinfo(host, port, family, type, proto, flags)
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                call, value = found.set_exception, error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self.call_soon_threadsafe(tell, call, value)

        threading.Thread(target=look, name="look-up", daemon=True).start()
        return await found
