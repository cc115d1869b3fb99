"""A loopback server that speaks `/v1/chat/completions`: replies by rule, every fault a model server shows, a log of requests.

A reply is a list of parts that go over the wire in order: bytes are sent, an event is waited for, `CUT` aborts the connection.
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
Part: TypeAlias = "bytes | asyncio.Event | str"
"""Bytes, an event, or `CUT`."""

EVENT_STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}
JSON = {"Content-Type": "application/json"}


@dataclass(kw_only=True)
class Reply:
    parts: Sequence[Part]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)


@dataclass(kw_only=True)
class Request:
    """One call as it arrived; `disconnected` is set when the client hangs up before the reply is complete."""

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
        """The contents of all messages, joined by blank lines."""
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
    """The first rule that matches a request answers it; without one it is answered "Hello."."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.base_url = ""
        self._rules: list[_Rule] = []
        self._arrived = asyncio.Condition()

    def on(self, reply: Reply, *, task: str = "", matching: str = "", times: int | None = None) -> None:
        """Answer by `reply`: calls of that task, whose body matches the pattern, at most so many times."""
        self._rules.append(_Rule(reply=reply, task=task, pattern=matching, times=times))

    async def arrival(self, number: int = 1) -> Request:
        """The request of that number (from 1), waited for."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= number)
        return self.requests[number - 1]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read_request(reader)
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
    """A server on loopback while the context is open; open connections are closed with it."""
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
    """One event of a stream."""
    listed = [{"index": 0, "delta": delta or {}, "finish_reason": finish}] if choices is None else choices
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "double", "choices": listed}
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


DONE: Final = b"data: [DONE]\n\n"


def streamed(*texts: str, finish: str = "stop") -> Reply:
    """A well-behaved stream of these texts."""
    deltas = [chunk({"content": text}) for text in texts]
    return Reply(parts=[chunk({"role": "assistant", "content": ""}), *deltas, chunk(finish=finish), DONE])


def whole(text: str) -> Reply:
    """A reply that is not streamed."""
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
    """An error as OpenAI reports it."""
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
            # A packet of its own for each part: what is split here arrives split.
            await writer.drain()
        else:
            writer.transport.abort()
            return
    writer.write(b"0\r\n\r\n")
    await writer.drain()
