"""A server of `/v1/embeddings`: honest vectors, or faults on request."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

DIMENSIONS = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What to answer instead of vectors. `stall`: nothing."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    stall: bool = False


@dataclass(slots=True, kw_only=True)
class EmbeddingsServer:
    url: str = ""
    replies: deque[Reply] = field(default_factory=deque[Reply])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str] = field(default_factory=list[str])
    dimensions: int = DIMENSIONS
    reverse: bool = False
    """Send the vectors in reverse order, as `index` allows."""
    plain: bool = False
    """Send numbers even if base64 was requested."""
    at_once: int = 0
    most_at_once: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    hold: asyncio.Event | None = None
    """Responses wait for it."""


def vector(text: str, dimensions: int) -> np.ndarray[Any, Any]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return (np.random.default_rng(seed).standard_normal(dimensions) * 3).astype("<f4")


@asynccontextmanager
async def embeddings_server() -> AsyncGenerator[EmbeddingsServer]:
    state = EmbeddingsServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await _answer_one(state, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            state.hung_up.set()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield state
    finally:
        server.close()


async def _answer_one(
    state: EmbeddingsServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:] if line)
    }
    request = json.loads(await reader.readexactly(int(headers["content-length"])))
    state.requests.append(request)
    state.keys.append(headers.get("authorization", ""))
    state.at_once += 1
    state.most_at_once = max(state.most_at_once, state.at_once)
    state.asked.set()
    try:
        reply = state.replies.popleft() if state.replies else _honest(state, request)
        if reply.stall:
            await reader.read()
            state.hung_up.set()
            return False
        if state.hold is not None:
            await state.hold.wait()
    finally:
        state.at_once -= 1
    fields = {"content-type": "application/json", "content-length": str(len(reply.body)), **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in fields.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + reply.body)
    await writer.drain()
    return True


def _honest(state: EmbeddingsServer, request: Mapping[str, Any]) -> Reply:
    texts: Sequence[str] = request["input"]
    if not all(texts) or len(texts) > 2048:
        return error_reply(400, "'$.input' is invalid")
    dimensions = request.get("dimensions") or state.dimensions
    encoded = request.get("encoding_format") == "base64" and not state.plain
    data = [
        {"object": "embedding", "index": place, "embedding": _written(vector(text, dimensions), encoded)}
        for place, text in enumerate(texts)
    ]
    if state.reverse:
        data.reverse()
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    body = {"object": "list", "data": data, "model": request["model"], "usage": usage}
    return Reply(body=json.dumps(body).encode())


def _written(values: np.ndarray[Any, Any], encoded: bool) -> str | list[float]:
    return base64.b64encode(values.tobytes()).decode() if encoded else values.tolist()


def error_reply(
    status: int, message: str, *, code: str = "", headers: Mapping[str, str] | None = None
) -> Reply:
    body = {"error": {"message": message, "type": "error", "code": code or None}}
    return Reply(status=status, body=json.dumps(body).encode(), headers=headers or {})
