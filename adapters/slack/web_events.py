"""Events by HTTP: one signed route."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from bot.port import Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.settings import Settings


@asynccontextmanager
async def served(app: AsyncApp, settings: Settings) -> AsyncIterator[dict[str, str]]:
    """Take events while the context is open; where they are taken."""

    async def take(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    application = web.Application(client_max_size=4 << 20)
    application.add_routes([web.post(settings.http_path, take)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=3)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.http_host, settings.http_port).start()
        except OSError as error:
            where = f"{settings.http_host}:{settings.http_port}"
            raise Refused(f"Events from Slack cannot be taken on {where}: {error.strerror}.") from error
        port = runner.addresses[0][1]
        yield {"events": "HTTP", "address": f"http://{settings.http_host}:{port}{settings.http_path}"}
    finally:
        await runner.cleanup()
