"""A thread per DNS look-up, which shutdown abandons.

In asyncio's shared threads a silent name server blocks other work for half a minute.
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

        def resolve(call: Callable[[Any], None], value: object) -> None:
            if not found.done():
                call(value)

        def look() -> None:
            call: Callable[[Any], None]
            value: object
            try:
                call, value = found.set_result, socket.getaddrinfo(host, port, family, type, proto, flags)
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                call, value = found.set_exception, error
            with suppress(RuntimeError):
                self.call_soon_threadsafe(resolve, call, value)

        threading.Thread(target=look, name="look-up", daemon=True).start()
        return await found
