"""Events by HTTP: one signed route. Whether Slack reaches it cannot be seen from here."""

from __future__ import annotations

import json
import logging
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from bot.port import Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.settings import Settings
    from bot.port import Signals

_log = logging.getLogger(__name__)
_QUIET_SECONDS = 60.0
_UNSIGNED = (
    "A request for events was refused because Slack's signature is not on it: either SLACK_SIGNING_SECRET is not the app's, this "
    "computer's clock is wrong, or somebody else posts there."
)
_LIMITED = (
    "Slack holds events back: more than 30,000 came within an hour. What was held back is not sent again."
)


@asynccontextmanager
async def served(app: AsyncApp, settings: Settings, signals: Signals) -> AsyncIterator[dict[str, str]]:
    """Take events while the context is open; where they are taken."""
    route = _Route(app=app, signals=signals)
    application = web.Application(client_max_size=4 << 20)
    application.add_routes([web.post(settings.http_path, route.take)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=3)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.http_host, settings.http_port).start()
        except OSError as error:
            where = f"{settings.http_host}:{settings.http_port}"
            raise Refused(f"Events from Slack cannot be taken on {where}: {error.strerror}.") from error
        signals.connections(live=1, wanted=1)
        port = runner.addresses[0][1]
        yield {"events": "HTTP", "address": f"http://{settings.http_host}:{port}{settings.http_path}"}
    finally:
        await runner.cleanup()


@dataclass(slots=True, kw_only=True)
class _Route:
    app: AsyncApp
    signals: Signals
    _complained: float = -_QUIET_SECONDS

    async def take(self, request: web.Request) -> web.Response:
        asked = await to_bolt_request(request)
        answer = await self.app.async_dispatch(asked)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            self._trouble("bad_signature", _UNSIGNED)
        elif answer.status == HTTPStatus.NOT_FOUND and _is_limit(asked.raw_body):
            self._trouble("app_rate_limited", _LIMITED)
            return web.Response()
        return await to_aiohttp_response(answer)

    def _trouble(self, fault: str, sentence: str) -> None:
        """Counted each time, and said now and then: anybody can post here."""
        self.signals.troubled(fault)
        now = time.monotonic()
        if now - self._complained >= _QUIET_SECONDS:
            self._complained = now
            _log.warning("%s", sentence)


def _is_limit(body: str) -> bool:
    """Whether Slack tells of its limit on events: no listener is for that. The signature was checked before."""
    try:
        told = json.loads(body)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("type") == "app_rate_limited"
