"""Serves a handler of `/v1/chat/completions` on loopback."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable


@asynccontextmanager
async def serve(handle: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncGenerator[str]:
    """Yields the base URL."""
    app = web.Application(client_max_size=8 << 20)
    app.add_routes([web.post("/v1/chat/completions", handle)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield "http://{}:{}/v1".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()
