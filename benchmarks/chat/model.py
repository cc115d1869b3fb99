"""A model server that sends prepared replies at a steady pace and records the times of first and last tokens."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

from tests.doubles.model_servers import completions
from tests.doubles.model_servers.openai_server import DONE, chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

_NUMBER = re.compile(r"No\. (\d+)")


@dataclass(slots=True, kw_only=True)
class Script:
    """The reply to one question. Times by `time.monotonic`."""

    pieces: Sequence[str]
    pieces_per_second: float
    at_once: int = 1
    """Pieces sent together."""
    first: float = 0.0
    last: float = 0.0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class PacedModel:
    """Serves `/v1/chat/completions`. Script 17 answers the question "No. 17"."""

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
    """Serves the model on loopback while the context is open."""
    model = PacedModel()
    async with completions.serve(model.handle) as model.base_url:
        yield model
