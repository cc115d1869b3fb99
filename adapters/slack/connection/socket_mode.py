"""The SDK's retries used tickets for ever and can hang in a handshake."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any, cast

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_sdk.socket_mode.aiohttp import SocketModeClient

from adapters.slack.api import call_api, sdk_logger, translate_errors
from bot.port import ChatError, Fields, Throttled, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.context import SlackContext
    from bot.port import Signals

log = logging.getLogger(__name__)
_CHECK_SECONDS = 0.25
_CLOSE_SECONDS = 2.0
_LASTING_SECONDS = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 15.0
_PASSED_OVER = 12
"""A live connection misses so many with a chance of 1 in 100,000."""
_OPENING = "opening"
_NORMAL = frozenset({_OPENING, "warning", "refresh_requested"})
_TROUBLES = {
    "too_many_websockets": "Slack closes connections because the app has more than ten: check that no other program uses "
    "the same app token, or lower FOOTNOTE_SLACK__CONNECTIONS.",
    "link_disabled": "Socket Mode is off: switch it on under Socket Mode of the app at api.slack.com/apps.",
}
_REJECTED_APP = (
    "Slack rejects the app token: create one (xapp-…) with the scope connections:write under Basic Information > App-Level Tokens of "
    "the app at api.slack.com/apps, and set SLACK_APP_TOKEN. Socket Mode must be enabled."
)


@contextlib.asynccontextmanager
async def receive_events(
    app: AsyncApp, context: SlackContext, signals: Signals
) -> AsyncIterator[dict[str, str]]:
    """Raises `WriteRefused` if Slack rejects the app token."""
    connections: list[SocketConnection] = []

    def count_event(receiver: SocketConnection) -> None:
        for connection in connections:
            connection.passed_over += connection is not receiver

    count = context.settings.connections
    connections += [
        SocketConnection(app, context, signals=signals, on_event=count_event) for _ in range(count)
    ]
    tasks: list[asyncio.Task[None]] = []
    try:
        await connections[0].open()
        limit = _PASSED_OVER * count
        tasks += [
            asyncio.create_task(connection.stay_open(max_passed_over=limit), name="slack connection")
            for connection in connections
        ]
        tasks.append(asyncio.create_task(_report_count(connections, signals), name="slack connections"))
        yield {"events": "Socket Mode", "connections": str(count)}
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in connections))


async def _report_count(connections: Sequence[SocketConnection], signals: Signals) -> None:
    reported = -1
    while True:
        live = sum(connection.live for connection in connections)
        if live != reported:
            reported = live
            signals.connections(live=live, expected=len(connections))
        await asyncio.sleep(_CHECK_SECONDS)


class DeadTicket(ChatError):
    """Slack refuses a ticket that it issued."""


class SocketConnection(SocketModeClient):
    """Opened and closed only by `stay_open`."""

    def __init__(
        self,
        app: AsyncApp,
        context: SlackContext,
        *,
        signals: Signals,
        on_event: Callable[[SocketConnection], None],
    ) -> None:
        self._settings = context.settings
        token = self._settings.app_token
        super().__init__(
            app_token=token.get_secret_value() if token is not None else "",
            logger=sdk_logger(),
            web_client=context.read_client,
            ping_interval=self._settings.ping_seconds,
            auto_reconnect_enabled=False,
        )
        self.passed_over = 0
        self._signals = signals
        self._on_event = on_event
        self._last_received = self._opened = 0.0
        self._disconnect_reason = ""
        self._wait = 0.0
        self._disconnecting: asyncio.Event = asyncio.Event()
        self.socket_mode_request_listeners.append(cast("Any", _BoltHandler(app, self)).handle)

    @property
    def live(self) -> bool:
        session = self.current_session
        return session is not None and not session.closed and not self._disconnect_reason

    async def stay_open(self, *, max_passed_over: int) -> None:
        while True:
            try:
                fault = await self._wait_for_fault(max_passed_over)
                log.info("Renewing a connection to Slack: %s", fault)
                await self.open(fault)
            except Exception:
                log.exception("Could not renew a connection to Slack")
                await asyncio.sleep(_LONGEST_WAIT)

    async def open(self, fault: str = "") -> None:
        """`fault` ended the last connection; without one, raises `WriteRefused` if Slack rejects the app token."""
        async with self.connect_operation_lock:
            await self._disconnect()
            await asyncio.sleep(self._next_wait(lasted=time.monotonic() - self._opened))
            last_fault = fault
            while True:
                try:
                    session = await self._connect_once()
                    break
                except ChatError as error:
                    if not fault and isinstance(error, WriteRefused):
                        raise
                    last_fault = self._log_fault(error)
                    pause = error.seconds if isinstance(error, Throttled) else self._next_wait()
                await asyncio.sleep(pause)
            self._start_session(session)
        if last_fault and last_fault not in _NORMAL:
            self._signals.recovered(last_fault)

    def _log_fault(self, error: ChatError) -> str:
        if isinstance(error, WriteRefused):
            log.error("%s", error)
            self._signals.operator_needed("refused")
            return "refused"
        log.warning("No connection to Slack yet: %s", error)
        if isinstance(error, Throttled):
            return "rate_limited"
        return "dead_ticket" if isinstance(error, DeadTicket) else "unreachable"

    async def _connect_once(self) -> aiohttp.ClientWebSocketResponse:
        try:
            ticket = await call_api(
                "apps.connections.open", self.web_client.apps_connections_open(app_token=self.app_token)
            )
        except WriteRefused as error:
            raise WriteRefused(_REJECTED_APP) from error
        address = ticket.need_text("url")
        try:
            with translate_errors("a new connection"):
                async with asyncio.timeout(self._settings.dead_seconds):
                    return await self.aiohttp_client_session.ws_connect(
                        address, autoping=False, heartbeat=self.ping_interval, proxy=self.proxy
                    )
        except Unreachable as error:
            if isinstance(error.__cause__, aiohttp.WSServerHandshakeError):
                raise DeadTicket(f"Slack answers a ticket with status {error.__cause__.status}.") from error
            raise

    def _start_session(self, session: aiohttp.ClientWebSocketResponse) -> None:
        self.current_session, self.stale, self._disconnect_reason = session, False, ""
        self._opened = self._last_received = time.monotonic()
        self.passed_over = 0
        self.message_receiver = asyncio.ensure_future(self.receive_messages())

    async def _disconnect(self) -> None:
        """First, because Slack counts connections; a half-open one never confirms."""
        if self.message_receiver is not None:
            self.message_receiver.cancel()
        if self.current_session is not None:
            with contextlib.suppress(TimeoutError, aiohttp.ClientError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.current_session.close()

    def _next_wait(self, *, lasted: float = 0.0) -> float:
        if lasted >= _LASTING_SECONDS:
            self._wait = 0.0
            return 0.0
        wait, self._wait = self._wait, min(max(2 * self._wait, _FIRST_WAIT), _LONGEST_WAIT)
        return wait

    async def _wait_for_fault(self, max_passed_over: int) -> str:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await self._disconnecting.wait()
            self._disconnecting.clear()
            session = self.current_session
            if self._disconnect_reason:
                return self._disconnect_reason
            if session is None:
                return _OPENING
            if session.closed:
                unanswered = isinstance(session.exception(), aiohttp.ServerTimeoutError)
                return "ping_unanswered" if unanswered else "connection_lost"
            if time.monotonic() - self._last_received > self._settings.idle_seconds:
                return "silent_session"
            if self.passed_over > max_passed_over:
                return "passed_over"

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        self._last_received = time.monotonic()
        if message.get("type") == "disconnect":
            self._on_disconnect_request(message)
            return
        if "envelope_id" in message:
            self.passed_over = 0
            self._on_event(self)
        await super().run_message_listeners(message, raw_message)

    def _on_disconnect_request(self, message: Mapping[str, Any]) -> None:
        reason = Fields.of(message, "a disconnect frame").text("reason")
        if reason in _TROUBLES:
            log.error("%s", _TROUBLES[reason])
            self._signals.operator_needed(reason)
        self._disconnect_reason = reason if reason in _TROUBLES or reason in _NORMAL else "sent_away"
        self._disconnecting.set()

    async def close(self) -> None:
        self.closed = True
        await self._disconnect()
        tasks = [task for task in (self.message_processor, self.message_receiver) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.aiohttp_client_session.close()


class _BoltHandler(AsyncSocketModeHandler):
    def __init__(self, app: AsyncApp, client: SocketModeClient) -> None:
        self.app, self.client, self.app_token = app, client, client.app_token
