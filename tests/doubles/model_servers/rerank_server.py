"""A loopback server of `/v1/rerank`: scores by shared words, or scripted responses."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

Reply = tuple[int, dict[str, str], bytes]


def ranking_of(request: dict[str, Any]) -> bytes:
    """Each document's share of the question's words, best first."""
    wanted = set(str(request["query"]).lower().split())
    scores = [
        len(wanted & set(str(document).lower().split())) / max(1, len(wanted))
        for document in request["documents"]
    ]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return json.dumps(
        {"results": [{"index": index, "relevance_score": scores[index]} for index in order]}
    ).encode()


@dataclass(slots=True)
class RerankServer:
    """`script` is used from the front; without it, responses are honest."""

    url: str = ""
    script: list[Callable[[dict[str, Any]], Reply] | None] = field(default_factory=list)
    """`None`: never answer."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().splitlines()[1:]
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
                }
                request = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.requests.append(request)
                self.headers.append(headers)
                answer = self.script.pop(0) if self.script else lambda body: (200, {}, ranking_of(body))
                if answer is None:
                    await asyncio.Event().wait()
                else:
                    writer.write(_http(*answer(request)))
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


def status(code: int, **headers: str) -> Callable[[dict[str, Any]], Reply]:
    return lambda _: (code, {name.replace("_", "-"): value for name, value in headers.items()}, b"")


def body(text: str) -> Callable[[dict[str, Any]], Reply]:
    return lambda _: (200, {}, text.encode())


@asynccontextmanager
async def serving(
    script: Sequence[Callable[[dict[str, Any]], Reply] | None] = (),
) -> AsyncGenerator[RerankServer]:
    double = RerankServer(script=list(script))
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(double.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    double.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/rerank"
    try:
        yield double
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _http(code: int, headers: dict[str, str], content: bytes) -> bytes:
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
    lines = [f"HTTP/1.1 {code} Scripted", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content
