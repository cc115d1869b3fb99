"""Discord's Gateway: sessions that outlive connections, and who gets which event."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aiohttp import WSMsgType, web

from tests.doubles.discord_double import payloads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import Guild

GUILDS, GUILD_MEMBERS = 1 << 0, 1 << 1
PRESENCES = 1 << 8
GUILD_MESSAGES, GUILD_REACTIONS, GUILD_TYPING = 1 << 9, 1 << 10, 1 << 11
DIRECT_MESSAGES, DIRECT_REACTIONS, DIRECT_TYPING = 1 << 12, 1 << 13, 1 << 14
MESSAGE_CONTENT = 1 << 15
PRIVILEGED = GUILD_MEMBERS | PRESENCES | MESSAGE_CONTENT
KNOWN_INTENTS = (1 << 26) - 1

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, REQUEST_MEMBERS = 0, 1, 2, 6, 7, 8
INVALID_SESSION, HELLO, HEARTBEAT_ACK = 9, 10, 11
NOT_AUTHENTICATED, WRONG_TOKEN, INVALID_INTENTS, DISALLOWED_INTENTS = 4003, 4004, 4013, 4014
_END: Final = None


@dataclass(slots=True, kw_only=True, eq=False)
class Session:
    """What IDENTIFY set; RESUME continues it on another connection."""

    id: str
    intents: int
    sent: list[dict[str, Any]] = field(default_factory=list)
    connection: Connection | None = None

    def reads(self, intents: int) -> bool:
        return bool(self.intents & intents)


class Connection:
    """One websocket, with a send queue."""

    def __init__(self, request: web.Request, socket: web.WebSocketResponse, *, compress: bool) -> None:
        self._request = request
        self._socket = socket
        self._queue: asyncio.Queue[dict[str, Any] | int | None] = asyncio.Queue()
        self._deflate = zlib.compressobj() if compress else None

    def send(self, frame: dict[str, Any]) -> None:
        self._queue.put_nowait(frame)

    def end(self, code: int) -> None:
        """Close after the queue is sent."""
        self._queue.put_nowait(code)

    def cut(self) -> None:
        """Cut without a close frame."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def pump(self) -> None:
        with contextlib.suppress(ConnectionError):
            while (frame := await self._queue.get()) is not _END:
                if isinstance(frame, int):
                    await self._socket.close(code=frame)
                    return
                await self._write(json.dumps(frame, ensure_ascii=False))

    async def _write(self, text: str) -> None:
        if self._deflate is None:
            await self._socket.send_str(text)
        else:
            block = self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
            await self._socket.send_bytes(block)


class Gateway:
    """All sessions; `heartbeat` is in milliseconds."""

    def __init__(self, server: DiscordServer) -> None:
        self.sessions: dict[str, Session] = {}
        self.identified = 0
        self.resumed = 0
        self.refusals = 0
        """The next connections to refuse with 502."""
        self.acknowledges = True
        """Answer heartbeats."""
        self.mute = 0
        """The next connections to leave without a hello."""
        self.unwelcome = 0
        """The next sessions to refuse at once."""
        self.heartbeat = 41_250
        self.compresses = False
        self._server = server
        self._connections: set[Connection] = set()

    @property
    def connected(self) -> bool:
        return any(session.connection is not None for session in self.sessions.values())

    # --- telling ---------------------------------------------------------------------------------------------------------

    def dispatch(self, event: str, build: Callable[[Session], Mapping[str, Any] | None]) -> None:
        """Send every session the event that `build` returns for it, if any."""
        for session in list(self.sessions.values()):
            payload = build(session)
            if payload is not None:
                self._tell(session, event, payload)

    def _tell(self, session: Session, event: str, payload: Mapping[str, Any]) -> None:
        frame = {"op": DISPATCH, "t": event, "s": len(session.sent) + 1, "d": payload}
        session.sent.append(frame)
        if session.connection is not None:
            session.connection.send(frame)

    def tell_everyone(self, frame: dict[str, Any]) -> None:
        """Send a frame without an event on all connections."""
        for connection in self._connections:
            connection.send(frame)

    # --- faults ----------------------------------------------------------------------------------------------------------

    def drop(self, code: int | None = None) -> None:
        """End all connections: cut, or closed with a code."""
        for connection in list(self._connections):
            if code is None:
                connection.cut()
            else:
                connection.end(code)
        for session in self.sessions.values():
            session.connection = None

    def forget(self) -> None:
        """Invalidate all sessions."""
        for session in self.sessions.values():
            if session.connection is not None:
                session.connection.send({"op": INVALID_SESSION, "d": False})
        self.sessions.clear()

    # --- connections -----------------------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.refusals:
            self.refusals -= 1
            return web.Response(status=502)
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        zipped = self.compresses and request.query.get("compress") == "zlib-stream"
        connection = Connection(request, socket, compress=zipped)
        self._connections.add(connection)
        pump = asyncio.create_task(connection.pump(), name="double: gateway")
        if self.mute:
            self.mute -= 1
        else:
            connection.send({"op": HELLO, "d": {"heartbeat_interval": self.heartbeat, "_trace": []}})
        try:
            await self._listen(socket, connection)
        finally:
            self._left(socket, connection)
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
            self._server.changed()
        return socket

    async def _listen(self, socket: web.WebSocketResponse, connection: Connection) -> None:
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            frame = json.loads(message.data)
            self._received(connection, frame["op"], frame.get("d"))
            self._server.changed()

    def _left(self, socket: web.WebSocketResponse, connection: Connection) -> None:
        self._connections.discard(connection)
        for session in list(self.sessions.values()):
            if session.connection is connection:
                session.connection = None
                # a normal close ends the session
                if socket.close_code in (1000, 1001):
                    del self.sessions[session.id]

    def _received(self, connection: Connection, op: int, data: Any) -> None:
        if op == HEARTBEAT:
            if self.acknowledges:
                connection.send({"op": HEARTBEAT_ACK})
        elif op == IDENTIFY:
            self._identify(connection, data)
        elif op == RESUME:
            self._resume(connection, data)
        elif op == REQUEST_MEMBERS:
            self._members(connection, data)
        elif op not in (3, 4):
            connection.end(NOT_AUTHENTICATED)

    def _identify(self, connection: Connection, data: Mapping[str, Any]) -> None:
        self.identified += 1
        intents = int(data.get("intents", 0))
        if data.get("token") != self._server.token:
            connection.end(WRONG_TOKEN)
        elif intents & ~KNOWN_INTENTS:
            connection.end(INVALID_INTENTS)
        elif intents & PRIVILEGED & ~self._server.privileged_intents:
            connection.end(DISALLOWED_INTENTS)
        elif self.unwelcome:
            self.unwelcome -= 1
            connection.send({"op": INVALID_SESSION, "d": False})
        else:
            session = Session(id=secrets.token_hex(16), intents=intents, connection=connection)
            self.sessions[session.id] = session
            self._welcome(session, data.get("shard") or [0, 1])

    def _welcome(self, session: Session, shard: list[int]) -> None:
        server = self._server
        guilds = [
            guild
            for guild in server.world.guilds.values()
            if server.bot.id in guild.members and (int(guild.id) >> 22) % shard[1] == shard[0]
        ]
        self._tell(
            session,
            "READY",
            {
                "v": 10,
                "user": {**payloads.user(server.bot), "verified": True, "mfa_enabled": False, "flags": 0},
                "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
                "session_id": session.id,
                "resume_gateway_url": server.gateway_url,
                "shard": shard,
                "application": {"id": server.application_id, "flags": server.application_flags},
                "private_channels": [],
            },
        )
        for guild in guilds:
            self._tell(session, "GUILD_CREATE", self.guild(guild, session))

    def guild(self, guild: Guild, session: Session) -> payloads.Payload:
        server = self._server
        return payloads.guild(guild, server.world, viewer=server.bot.id, members=session.reads(GUILD_MEMBERS))

    def _resume(self, connection: Connection, data: Mapping[str, Any]) -> None:
        session = self.sessions.get(data["session_id"])
        if session is None or data.get("token") != self._server.token:
            connection.send({"op": INVALID_SESSION, "d": False})
            return
        self.resumed += 1
        session.connection = connection
        for frame in session.sent[int(data["seq"] or 0) :]:
            connection.send(frame)
        self._tell(session, "RESUMED", {})

    def _members(self, connection: Connection, data: Mapping[str, Any]) -> None:
        session = next((each for each in self.sessions.values() if each.connection is connection), None)
        if session is None:
            connection.end(NOT_AUTHENTICATED)
            return
        guild = self._server.world.guilds[str(data["guild_id"])]
        found = list(guild.members.values())
        if data.get("user_ids"):
            found = [each for each in found if each.user.id in {str(wanted) for wanted in data["user_ids"]}]
        elif data.get("query"):
            found = [each for each in found if each.user.name.startswith(data["query"])]
        elif not session.reads(GUILD_MEMBERS):
            found = []
        chunk = {
            "guild_id": guild.id,
            "members": [payloads.member(each) for each in found],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [],
        }
        if data.get("nonce"):
            chunk["nonce"] = data["nonce"]
        self._tell(session, "GUILD_MEMBERS_CHUNK", chunk)

    async def close(self) -> None:
        for connection in list(self._connections):
            connection.cut()
