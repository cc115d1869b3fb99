"""A language model that answers question "No. 17" by a sentence with 17 in it, and has its own bad moments."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from aiohttp import web

from tests.doubles.model_servers import completions
from tests.doubles.model_servers.openai_server import DONE, chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_NUMBER: Final = re.compile(r"No\. (\d+)")
_PAUSE: Final = 0.02
TROUBLES: Final = ("500", "429", "cut", "stalls", "empty")


class Model:
    """Speaks `/v1/chat/completions`. One request in `every` meets one of `TROUBLES`."""

    def __init__(self, *, every: int, seed: int) -> None:
        self.base_url = ""
        self.troubles: Counter[str] = Counter()
        self._every = every
        self._random = random.Random(seed)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        number = _NUMBER.findall(await request.text())[-1]
        trouble = self._random.choice(TROUBLES) if self._random.randrange(self._every) == 0 else ""
        self.troubles[trouble or "none"] += 1
        if trouble in ("500", "429"):
            return web.Response(
                status=int(trouble),
                headers={"Retry-After": "1"},
                text=json.dumps({"error": {"message": "no"}}),
            )
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(chunk({"role": "assistant", "content": ""}))
        words = [] if trouble == "empty" else sentence(number).split(" ")
        for position, word in enumerate(words):
            await response.write(chunk({"content": word if not position else f" {word}"}))
            await asyncio.sleep(_PAUSE)
            if position == 6 and trouble == "cut" and request.transport is not None:
                request.transport.abort()
                return response
            if position == 6 and trouble == "stalls":
                await asyncio.sleep(2)
        await response.write(chunk(finish="stop") + DONE)
        await response.write_eof()
        return response


def sentence(number: str) -> str:
    """What is answered to that question."""
    return f"Answer {number}: everyone has 28 days of leave a year [1]. The head of the station approves them [1]."


@asynccontextmanager
async def serve(*, every: int, seed: int) -> AsyncGenerator[Model]:
    """The model on loopback while the context is open."""
    model = Model(every=every, seed=seed)
    async with completions.serve(model.handle) as model.base_url:
        yield model
