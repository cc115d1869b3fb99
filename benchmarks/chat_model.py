"""A language model that says what it was told to, at a steady pace, and notes when its first and last tokens went out."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

from tests.doubles.openai_server import DONE, chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

_NUMBER = re.compile(r"No\. (\d+)")


@dataclass(slots=True, kw_only=True)
class Script:
    """What is answered to one question. Times are those of `time.monotonic`."""

    pieces: Sequence[str]
    pieces_per_second: float
    at_once: int = 1
    """So many pieces go out together."""
    first: float = 0.0
    last: float = 0.0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class PacedModel:
    """Speaks `/v1/chat/completions`. The question "No. 17" is answered by script 17."""

    def __init__(self) -> None:
        self.base_url = ""
        self.scripts: dict[int, Script] = {}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        script = self.scripts[int(_NUMBER.findall(body)[-1])]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(chunk({"role": "assistant", "content": ""}))
        started = time.monotonic()
        for number in range(0, len(script.pieces), script.at_once):
            due = started + number / script.pieces_per_second
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            text = "".join(script.pieces[number : number + script.at_once])
            await response.write(chunk({"content": text}))
            script.last = time.monotonic()
            script.first = script.first or script.last
        await response.write(chunk(finish="stop") + DONE)
        await response.write_eof()
        script.done.set()
        return response


@asynccontextmanager
async def serve() -> AsyncGenerator[PacedModel]:
    """The model on loopback while the context is open."""
    model = PacedModel()
    app = web.Application(client_max_size=8 << 20)
    app.add_routes([web.post("/v1/chat/completions", model.handle)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        model.base_url = "http://{}:{}/v1".format(*runner.addresses[0][:2])
        yield model
    finally:
        await runner.cleanup()
