"""One connection of Socket Mode. Opening it is ours: Slack's client tries a used ticket for ever, and may hang in a handshake for minutes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any, cast

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_sdk.socket_mode.aiohttp import SocketModeClient

from adapters.slack.wire import ask, sdk_logger, translated
from bot.port import ChatError, Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.wire import Wire
    from bot.port import Signals

log = logging.getLogger(__name__)
_CLOSE_SECONDS = 2.0
_LOOK_SECONDS = 0.25
_LASTING_SECONDS = 5.0
"""A connection that ended sooner was none: the next one is not opened at once."""
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 15.0
_OPENING = "opening"
_NORMAL = frozenset({_OPENING, "warning", "refresh_requested"})
"""Slack renews every connection now and then: nothing was wrong."""
_TROUBLES = {
    "too_many_websockets": "Slack closes connections because the app has more than ten: see that no other program is connected with "
    "the same app token, or lower FOOTNOTE_SLACK__CONNECTIONS.",
    "link_disabled": "Slack says that Socket Mode is off: switch it on under Socket Mode of the app at api.slack.com/apps.",
}
_REFUSED = (
    "Slack refuses the app token: make one (xapp-…) with the scope connections:write under Basic Information > App-Level Tokens of "
    "the app at api.slack.com/apps, and set SLACK_APP_TOKEN. Socket Mode must be enabled."
)


class DeadTicket(ChatError):
    """Slack does not open a connection for a ticket that it gave out."""


class Link(SocketModeClient):
    """The SDK's client for what comes over a connection; when it is opened and left, `keep` decides alone."""

    def __init__(
        self, app: AsyncApp, wire: Wire, *, signals: Signals, on_event: Callable[[Link], None]
    ) -> None:
        self._settings = wire.settings
        token = self._settings.app_token
        super().__init__(
            app_token=token.get_secret_value() if token is not None else "",
            logger=sdk_logger(),
            web_client=wire.reader,
            ping_interval=self._settings.ping_seconds,
            auto_reconnect_enabled=False,
        )
        self.passed_over = 0
        """How many events came over other connections since the last one here."""
        self._signals = signals
        self._on_event = on_event
        self._heard = self._opened = 0.0
        self._sent_away = ""
        self._wait = 0.0
        self._said: asyncio.Event = asyncio.Event()
        self.socket_mode_request_listeners.append(cast("Any", _Handler(app, self)).handle)

    @property
    def live(self) -> bool:
        """Whether events may come over it."""
        return self.current_session is not None and not self.current_session.closed and not self._sent_away

    async def keep(self, *, most_passed_over: int) -> None:
        """Hold the connection open for as long as the task runs."""
        while True:
            try:
                cause = await self._trouble(most_passed_over)
                log.info("A connection to Slack is renewed: %s", cause)
                await self.open(cause)
            except Exception:
                log.exception("A connection to Slack could not be renewed")
                await asyncio.sleep(_LONGEST_WAIT)

    async def open(self, cause: str = "") -> None:
        """Connect, however long that takes. With a cause, something was wrong before; else raises `Refused` for a bad app token."""
        async with self.connect_operation_lock:
            await self._leave()
            await asyncio.sleep(self._next_wait(lasted=time.monotonic() - self._opened))
            fault = cause
            while True:
                try:
                    session = await self._dialled()
                    break
                except ChatError as error:
                    if not cause and isinstance(error, Refused):
                        raise
                    fault = self._fault(error)
                    pause = error.seconds if isinstance(error, Throttled) else self._next_wait()
                await asyncio.sleep(pause)
            self._begin(session)
        if fault and fault not in _NORMAL:
            self._signals.recovered(fault)

    def _fault(self, error: ChatError) -> str:
        """The word for what keeps a connection from coming about; told in the log."""
        if isinstance(error, Refused):
            log.error("%s", error)
            self._signals.troubled("refused")
            return "refused"
        log.warning("No connection to Slack yet: %s", error)
        if isinstance(error, Throttled):
            return "rate_limited"
        return "dead_ticket" if isinstance(error, DeadTicket) else "unreachable"

    async def _dialled(self) -> aiohttp.ClientWebSocketResponse:
        """A new connection with a ticket of its own: each opens one."""
        try:
            told = await ask(
                "apps.connections.open", self.web_client.apps_connections_open(app_token=self.app_token)
            )
        except Refused as error:
            raise Refused(_REFUSED) from error
        if not told.get("url"):
            raise Unreachable("Slack gave no address for a connection.")
        try:
            with translated("a new connection"):
                async with asyncio.timeout(self._settings.dead_seconds):
                    return await self.aiohttp_client_session.ws_connect(
                        str(told["url"]), autoping=False, heartbeat=self.ping_interval, proxy=self.proxy
                    )
        except Unreachable as error:
            if isinstance(error.__cause__, aiohttp.WSServerHandshakeError):
                raise DeadTicket(f"Slack answers a ticket with status {error.__cause__.status}.") from error
            raise

    def _begin(self, session: aiohttp.ClientWebSocketResponse) -> None:
        self.current_session, self.stale, self._sent_away = session, False, ""
        self._opened = self._heard = time.monotonic()
        self.passed_over = 0
        self.message_receiver = asyncio.ensure_future(self.receive_messages())

    async def _leave(self) -> None:
        """The old session first: Slack counts connections, and one that is half open confirms no end."""
        if self.message_receiver is not None:
            self.message_receiver.cancel()
        if self.current_session is not None:
            with contextlib.suppress(TimeoutError, aiohttp.ClientError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.current_session.close()

    def _next_wait(self, *, lasted: float = 0.0) -> float:
        """Seconds; none after a connection that lasted, else ever more of them."""
        if lasted >= _LASTING_SECONDS:
            self._wait = 0.0
            return 0.0
        wait, self._wait = self._wait, min(max(2 * self._wait, _FIRST_WAIT), _LONGEST_WAIT)
        return wait

    # --- what comes over it

    async def _trouble(self, most_passed_over: int) -> str:
        """Waits until there is a reason to open the connection anew."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._said.wait()
            self._said.clear()
            session = self.current_session
            if self._sent_away:
                return self._sent_away
            if session is None:
                return _OPENING
            if session.closed:
                unanswered = isinstance(session.exception(), aiohttp.ServerTimeoutError)
                return "ping_unanswered" if unanswered else "connection_lost"
            if time.monotonic() - self._heard > self._settings.idle_seconds:
                return "silent_session"
            if self.passed_over > most_passed_over:
                return "passed_over"

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        self._heard = time.monotonic()
        if message.get("type") == "disconnect":
            self._told_to_leave(message)
            return
        if "envelope_id" in message:
            self.passed_over = 0
            self._on_event(self)
        await super().run_message_listeners(message, raw_message)

    def _told_to_leave(self, message: Mapping[str, Any]) -> None:
        reason = str(message.get("reason", ""))
        if reason in _TROUBLES:
            log.error("%s", _TROUBLES[reason])
            self._signals.troubled(reason)
        self._sent_away = reason if reason in _TROUBLES or reason in _NORMAL else "sent_away"
        self._said.set()

    async def close(self) -> None:
        """End the connection and everything that keeps it."""
        self.closed = True
        await self._leave()
        tasks = [task for task in (self.message_processor, self.message_receiver) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.aiohttp_client_session.close()


class _Handler(AsyncSocketModeHandler):
    """Bolt's own way with an envelope, over a client that is there already."""

    def __init__(self, app: AsyncApp, client: SocketModeClient) -> None:
        self.app, self.client, self.app_token = app, client, client.app_token
