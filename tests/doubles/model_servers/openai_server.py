"""A loopback server of `/v1/chat/completions`: replies by rule, faults, a log of requests.

A reply is a list of parts: bytes are sent, an event is waited for, `CUT` aborts the connection.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

CUT: Final = "cut"
SILENCE: Final = "never answered"
Part: TypeAlias = "bytes | asyncio.Event | str"

EVENT_STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}
JSON = {"Content-Type": "application/json"}


@dataclass(kw_only=True)
class Reply:
    parts: Sequence[Part]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)


@dataclass(kw_only=True)
class Request:
    """One call; `disconnected` is set if the client hangs up early."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    completed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def task(self) -> str:
        return self.headers.get("x-footnote-task", "")

    @property
    def text(self) -> str:
        messages = cast("list[dict[str, str]]", self.body["messages"])
        return "\n\n".join(message["content"] for message in messages)


@dataclass(kw_only=True)
class _Rule:
    reply: Reply
    task: str
    pattern: str
    times: int | None

    def matches(self, request: Request) -> bool:
        return (
            self.times != 0
            and self.task in ("", request.task)
            and (
                not self.pattern
                or re.search(self.pattern, json.dumps(request.body, ensure_ascii=False)) is not None
            )
        )


class OpenAIServer:
    """The first matching rule answers; the default is "Hello."."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.pages: dict[str, object] = {}
        """Answers to other calls than chat completions, by path, as JSON or `SILENCE`; 404 for the rest."""
        self.visits: list[str] = []
        self.base_url = ""
        self._rules: list[_Rule] = []
        self._arrived = asyncio.Condition()

    def on(self, reply: Reply, *, task: str = "", matching: str = "", times: int | None = None) -> None:
        """Answer calls of that task whose body matches the pattern, at most so many times."""
        self._rules.append(_Rule(reply=reply, task=task, pattern=matching, times=times))

    async def arrival(self, number: int = 1) -> Request:
        """Wait for the request of that number, from 1."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= number)
        return self.requests[number - 1]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read_request(reader)
            if not request.path.endswith("/chat/completions"):
                self.visits.append(request.path)
                page = self.pages.get(request.path)
                if page == SILENCE:
                    await reader.read(1)
                found = Reply(parts=[json.dumps(page).encode()], headers=JSON)
                await _send(refused(404) if page is None else found, writer)
                return
            async with self._arrived:
                self.requests.append(request)
                self._arrived.notify_all()
            await self._answer(request, self._choose(request), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def _choose(self, request: Request) -> Reply:
        for rule in self._rules:
            if rule.matches(request):
                rule.times = None if rule.times is None else rule.times - 1
                return rule.reply
        return streamed("Hello.") if request.body.get("stream") else whole("Hello.")

    async def _answer(
        self, request: Request, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        sending = asyncio.create_task(_send(reply, writer), name="double: send")
        hanging_up = asyncio.create_task(reader.read(1), name="double: watch for hang-up")
        try:
            await asyncio.wait({sending, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                request.completed.set()
            else:
                request.disconnected.set()
        finally:
            for task in (sending, hanging_up):
                task.cancel()
            await asyncio.gather(sending, hanging_up, return_exceptions=True)


@asynccontextmanager
async def serve(port: int = 0) -> AsyncGenerator[OpenAIServer]:
    double = OpenAIServer()
    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(double.handle(reader, writer), name="double: connection")
        connections.add(task)
        task.add_done_callback(connections.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    double.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield double
    finally:
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


def chunk(
    delta: Mapping[str, object] | None = None, *, finish: str | None = None, choices: object = None
) -> bytes:
    listed = [{"index": 0, "delta": delta or {}, "finish_reason": finish}] if choices is None else choices
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "double", "choices": listed}
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


DONE: Final = b"data: [DONE]\n\n"


def streamed(*texts: str, finish: str = "stop") -> Reply:
    deltas = [chunk({"content": text}) for text in texts]
    return Reply(parts=[chunk({"role": "assistant", "content": ""}), *deltas, chunk(finish=finish), DONE])


def whole(text: str) -> Reply:
    message = {"role": "assistant", "content": text}
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": "double",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    return Reply(parts=[json.dumps(body, ensure_ascii=False).encode()], headers=JSON)


def refused(
    status: int,
    *,
    code: str = "",
    message: str = "no",
    param: str = "",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    error = {"message": message, "type": "error", "code": code or None, "param": param or None}
    return Reply(
        status=status, headers={**JSON, **(headers or {})}, parts=[json.dumps({"error": error}).encode()]
    )


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(path=head[0].split()[1], headers=headers, body=json.loads(body or b"{}"))


async def _send(reply: Reply, writer: asyncio.StreamWriter) -> None:
    headers = {**reply.headers, "Transfer-Encoding": "chunked", "Connection": "close"}
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    for part in reply.parts:
        await writer.drain()
        if isinstance(part, asyncio.Event):
            await part.wait()
        elif isinstance(part, bytes):
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            # A packet per part, so that splits arrive as splits.
            await writer.drain()
        else:
            writer.transport.abort()
            return
    writer.write(b"0\r\n\r\n")
    await writer.drain()
