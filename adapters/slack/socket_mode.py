"""Events by Socket Mode: several connections, each watched, because some die without a word and some live without delivering."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler

from adapters.slack.wire import ask, sdk_logger, translated
from bot.port import ChatError, Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.settings import Settings
    from adapters.slack.wire import Wire

_log = logging.getLogger(__name__)
_CLOSE_SECONDS = 5.0
_SLOWEST = 30.0
_WATCH_SECONDS = 1.0
_REFUSED = (
    "Slack refuses the app token: make one (xapp-…) with the scope connections:write under Basic Information > App-Level Tokens of "
    "the app at api.slack.com/apps, and set SLACK_APP_TOKEN. Socket Mode must be enabled."
)


@asynccontextmanager
async def connections(app: AsyncApp, wire: Wire) -> AsyncIterator[dict[str, str]]:
    """Take events while the context is open; a few facts about it. Raises `Refused` for a bad app token."""
    settings = wire.settings
    links = [_Link(app=app, wire=wire) for _ in range(settings.connections)]
    watching: list[asyncio.Task[None]] = []
    try:
        for number, link in enumerate(links):
            watching.append(asyncio.create_task(link.watch(), name=f"slack connection {number}"))
            await link.open()
        yield {"events": "Socket Mode", "connections": str(len(links))}
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await asyncio.gather(*(link.close() for link in links))


@dataclass(slots=True, kw_only=True, eq=False)
class _Link:
    """One connection, and the client that keeps it."""

    app: AsyncApp
    wire: Wire
    handler: AsyncSocketModeHandler | None = None
    heard: float = 0.0
    down: float | None = None

    @property
    def _settings(self) -> Settings:
        return self.wire.settings

    def _token(self) -> str:
        token = self._settings.app_token
        return token.get_secret_value() if token is not None else ""

    async def open(self) -> None:
        """Connect, however long that takes."""
        handler = AsyncSocketModeHandler(
            self.app,
            self._token(),
            logger=sdk_logger(),
            web_client=self.wire.reader,
            ping_interval=self._settings.ping_seconds,
        )
        self.handler, self.heard, self.down = handler, time.monotonic(), None
        handler.client.on_message_listeners.append(self._hears)
        handler.client.wss_uri = await self._ticket()
        await handler.connect_async()

    async def _ticket(self) -> str:
        """The address of a new connection; a bad token is told at once instead of being tried for ever."""
        pause = 1.0
        while True:
            call = self.wire.reader.apps_connections_open(app_token=self._token())
            try:
                return str((await ask("apps.connections.open", call))["url"])
            except Refused as error:
                raise Refused(_REFUSED) from error
            except Throttled as error:
                await asyncio.sleep(error.seconds)
            except Unreachable as error:
                _log.warning("No connection to Slack yet: %s", error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _SLOWEST)

    async def _hears(self, message: Any) -> None:
        self.heard = time.monotonic()

    async def watch(self) -> None:
        """Mend what the client does not mend by itself."""
        while True:
            await asyncio.sleep(min(_WATCH_SECONDS, self._settings.ping_seconds))
            if self.handler is not None:
                await self._look(self.handler.client)

    async def _look(self, client: Any) -> None:
        now = time.monotonic()
        if await client.is_connected():
            self.down = None
            if now - self.heard > self._settings.idle_seconds:
                _log.info("Nothing has come over a connection to Slack for a while: it is renewed")
                self.heard = now
                await self._renew(client)
        elif self.down is None:
            self.down = now
            await self._reopen(client)
        elif now - self.down > self._settings.dead_seconds:
            # A ticket opens one connection: the client would try a used one for ever, and asks for another only when it has none.
            _log.warning(
                "A connection to Slack has been down for %.0f s: it gets a new ticket", now - self.down
            )
            self.down = now
            client.wss_uri = None
            await self._reopen(client)

    async def _reopen(self, client: Any) -> None:
        """At once, where the client would wait for its next ping; nothing while it is connecting already."""
        session = client.current_session
        if session is not None and session.closed and not client.connect_operation_lock.locked():
            await self._renew(client, force=False)

    async def _renew(self, client: Any, *, force: bool = True) -> None:
        try:
            with translated("the new connection"):
                async with asyncio.timeout(self._settings.dead_seconds):
                    await client.connect_to_new_endpoint(force=force)
        except ChatError as error:
            _log.warning("A connection to Slack could not be renewed yet: %s", error)
            client.wss_uri = None

    async def close(self) -> None:
        """End the connection and everything that keeps it."""
        if self.handler is None:
            return
        client = self.handler.client
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.handler.close_async()
        running = (client.message_processor, client.current_session_monitor, client.message_receiver)
        tasks = [task for task in running if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.aiohttp_client_session.close()
