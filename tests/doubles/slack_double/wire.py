"""How Slack reaches the bot: envelopes over Socket Mode, or signed posts."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import aiohttp
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.slack_double.server import SlackServer

RETRIES: Final = 3


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One thing sent to the bot, possibly several times."""

    kind: str
    """`events_api`, `slash_commands` or `interactive`."""
    payload: Mapping[str, Any]
    sent: list[tuple[float, int]] = field(default_factory=list)
    """Time and connection (-1: by post) of each attempt."""
    acknowledged: float = 0.0
    by: int = -1
    answer: Mapping[str, Any] = field(default_factory=dict)
    """The body of the acknowledgement."""
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seconds(self) -> float:
        """From the first attempt to the acknowledgement."""
        return self.acknowledged - self.sent[0][0]


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    number: int
    socket: web.WebSocketResponse
    request: web.Request


class Wire:
    """All connections; each delivery goes to a random one."""

    def __init__(self, server: SlackServer) -> None:
        self.deliveries: list[Delivery] = []
        self.connections: list[Connection] = []
        self.ack_seconds = 3.0
        self.refused_handshakes = 0
        """The next handshakes to answer with 403."""
        self.hung_handshakes = 0
        """The next handshakes to leave unanswered."""
        self.dead_tickets = 0
        """The next tickets that open no connection."""
        self.passed_over: set[int] = set()
        """Connections that get no events."""
        self.request_url = ""
        """Where events are posted; empty: Socket Mode."""
        self.signing_secret = "signing-secret-of-the-double"
        self.opened = 0
        self._server = server
        self._dead: set[str] = set()
        self._tickets: set[str] = set()
        self._envelopes: dict[str, Delivery] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._random = random.Random(7)
        self._frozen: list[Connection] = []
        self._closing = asyncio.Event()

    # Socket Mode

    def ticket(self) -> str:
        """The address of a new connection; it works once."""
        ticket = uuid.uuid4().hex
        if self.dead_tickets:
            self.dead_tickets -= 1
            self._dead.add(ticket)
        else:
            self._tickets.add(ticket)
        return f"{self._server.base_url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id=AFOOTNOTE"

    async def link(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if self.refused_handshakes or ticket not in self._tickets:
            self.refused_handshakes = max(0, self.refused_handshakes - 1)
            self._server.changed()
            return web.Response(status=403)
        self._tickets.discard(ticket)
        if self.hung_handshakes:
            self.hung_handshakes -= 1
            await self._closing.wait()
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.opened += 1
        connection = Connection(number=self.opened, socket=socket, request=request)
        greeting = {"approximate_connection_time": 18060, "host": "double"}
        await socket.send_json(
            {"type": "hello", "num_connections": len(self.connections) + 1, "debug_info": greeting}
        )
        self.connections.append(connection)
        self._server.changed()
        try:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._acknowledge(json.loads(message.data), connection.number)
        finally:
            self._forget(connection)
        return socket

    def _forget(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
        self._server.changed()

    def _acknowledge(self, frame: Mapping[str, Any], connection: int) -> None:
        delivery = self._envelopes.get(frame.get("envelope_id", ""))
        if delivery is not None and not delivery.done.is_set():
            self._settle(delivery, frame.get("payload") or {}, connection)

    def _settle(self, delivery: Delivery, answer: Mapping[str, Any], connection: int) -> None:
        delivery.acknowledged = self._server.now()
        delivery.by, delivery.answer = connection, answer
        delivery.done.set()
        self._server.changed()

    # sending

    def send(self, kind: str, payload: Mapping[str, Any]) -> Delivery:
        """Send until it is acknowledged, at most four times (commands and clicks: once)."""
        delivery = Delivery(kind=kind, payload=payload)
        self.deliveries.append(delivery)
        return self.repeat(delivery)

    def repeat(self, delivery: Delivery, *, reason: str = "") -> Delivery:
        """Send it again, as if the acknowledgement was lost."""
        task = asyncio.create_task(self._deliver(delivery, reason), name="slack double: deliver")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return delivery

    async def _deliver(self, delivery: Delivery, reason: str) -> None:
        attempts = range(1 if delivery.kind != "events_api" else RETRIES + 1)
        for attempt in attempts:
            retry = {"retry_attempt": attempt or 1, "retry_reason": reason or "timeout"}
            marks = retry if attempt or reason else {}
            acknowledged = await (
                self._posted(delivery, marks) if self.request_url else self._sent(delivery, marks)
            )
            if acknowledged:
                return

    async def _sent(self, delivery: Delivery, marks: Mapping[str, Any]) -> bool:
        await self._server.wait_for(self._open_to_events, seconds=3600)
        connection = self._random.choice(self._open_to_events())
        envelope = str(uuid.uuid4())
        self._envelopes[envelope] = delivery
        frame = {"envelope_id": envelope, "type": delivery.kind, "payload": delivery.payload}
        frame["accepts_response_payload"] = delivery.kind != "events_api"
        delivery.sent.append((self._server.now(), connection.number))
        delivery.done.clear()
        self._server.changed()
        try:
            await connection.socket.send_json(frame | marks)
            async with asyncio.timeout(self.ack_seconds):
                await delivery.done.wait()
        except (TimeoutError, ConnectionError):
            return False
        return True

    def _open_to_events(self) -> list[Connection]:
        return [each for each in self.connections if each.number not in self.passed_over]

    async def _posted(self, delivery: Delivery, marks: Mapping[str, Any]) -> bool:
        """Events as JSON, commands as a form, others as a form with JSON."""
        if delivery.kind == "events_api":
            body, kind = json.dumps(delivery.payload), "application/json"
        else:
            form = delivery.payload
            fields = form if delivery.kind == "slash_commands" else {"payload": json.dumps(form)}
            body, kind = urlencode(fields), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **self.signed(body)}
        if marks:
            headers |= {
                "X-Slack-Retry-Num": str(marks["retry_attempt"]),
                "X-Slack-Retry-Reason": "http_timeout",
            }
        delivery.sent.append((self._server.now(), -1))
        try:
            limit = aiohttp.ClientTimeout(total=self.ack_seconds)
            async with (
                aiohttp.ClientSession(timeout=limit) as client,
                client.post(self.request_url, data=body.encode(), headers=headers) as response,
            ):
                text = await response.text()
                if response.status != 200:
                    return response.headers.get("x-slack-no-retry") == "1"
        except (TimeoutError, aiohttp.ClientError):
            return False
        told = text if text.startswith("{") else json.dumps({"text": text} if text else {})
        self._settle(delivery, json.loads(told), -1)
        return True

    def signed(self, body: str, *, at: float | None = None) -> dict[str, str]:
        """The headers of a signed post."""
        stamp = str(int(self._server.world.time() if at is None else at))
        signature = SignatureVerifier(self.signing_secret).generate_signature(timestamp=stamp, body=body)
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature or ""}

    # connections in trouble

    def drop(self) -> None:
        """Cut every connection."""
        for connection in list(self.connections):
            self._forget(connection)
            if connection.request.transport is not None:
                connection.request.transport.abort()

    def freeze(self) -> None:
        """Keep every connection open but read nothing; pings stay unanswered."""
        for connection in list(self.connections):
            self._forget(connection)
            self._frozen.append(connection)
            if connection.request.transport is not None:
                connection.request.transport.pause_reading()

    async def disconnect(self, reason: str) -> None:
        """Slack announces the end of the oldest connection, and closes it."""
        connection = self.connections[0]
        self._forget(connection)
        await connection.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {}})
        if reason != "warning":
            closing = asyncio.create_task(connection.socket.close(), name="slack double: close")
            self._tasks.add(closing)
            closing.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        self._closing.set()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in [*self.connections, *self._frozen]:
            if connection.request.transport is not None:
                connection.request.transport.abort()
