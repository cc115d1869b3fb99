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

from bot.port import WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.settings import Settings
    from bot.port import Signals

_log = logging.getLogger(__name__)
_WARNING_INTERVAL_SECONDS = 60.0
_BAD_SIGNATURE = (
    "A request for events was refused because it lacks Slack's signature: SLACK_SIGNING_SECRET is not the app's, this "
    "computer's clock is wrong, or somebody else posts there."
)
_RATE_LIMITED = (
    "Slack dropped events: there were more than 30,000 within an hour. Dropped events are not sent again."
)


@asynccontextmanager
async def receive_events(
    app: AsyncApp, settings: Settings, signals: Signals
) -> AsyncIterator[dict[str, str]]:
    """Raises `WriteRefused` if the address cannot be bound."""
    route = _Route(app=app, signals=signals)
    application = web.Application(client_max_size=4 << 20)
    application.add_routes([web.post(settings.http_path, route.handle)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=3)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.http_host, settings.http_port).start()
        except OSError as error:
            where = f"{settings.http_host}:{settings.http_port}"
            raise WriteRefused(
                f"Events from Slack cannot be received on {where}: {error.strerror}."
            ) from error
        signals.connections(live=1, expected=1)
        port = runner.addresses[0][1]
        yield {"events": "HTTP", "address": f"http://{settings.http_host}:{port}{settings.http_path}"}
    finally:
        await runner.cleanup()


@dataclass(slots=True, kw_only=True)
class _Route:
    app: AsyncApp
    signals: Signals
    _last_warning: float = -_WARNING_INTERVAL_SECONDS

    async def handle(self, http_request: web.Request) -> web.Response:
        request = await to_bolt_request(http_request)
        response = await self.app.async_dispatch(request)
        if response.status == HTTPStatus.UNAUTHORIZED:
            self._report("bad_signature", _BAD_SIGNATURE)
        elif response.status == HTTPStatus.NOT_FOUND and _is_rate_limit_notice(request.raw_body):
            self._report("app_rate_limited", _RATE_LIMITED)
            return web.Response()
        return await to_aiohttp_response(response)

    def _report(self, fault: str, sentence: str) -> None:
        self.signals.operator_needed(fault)
        now = time.monotonic()
        if now - self._last_warning >= _WARNING_INTERVAL_SECONDS:
            self._last_warning = now
            _log.warning("%s", sentence)


def _is_rate_limit_notice(body: str) -> bool:
    """Bolt checks the signature, without a listener for these."""
    try:
        notice = json.loads(body)
    except ValueError:
        return False
    return isinstance(notice, dict) and notice.get("type") == "app_rate_limited"
