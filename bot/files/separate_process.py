"""The process that takes in one file, for `bot.files.separately`: `python -m bot.files.separate_process`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from bot import compose, settings, telemetry
from bot.files import separately
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from bot.files.separately import Line
    from rag_engine.types import Ingested


async def main() -> None:
    """Take in the file of the request, and say what became of it."""
    loop = asyncio.get_running_loop()
    given = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(given), sys.stdin)
    request = json.loads(await given.readline())
    taking = asyncio.create_task(_outcome(request), name="ingest")
    watching = asyncio.create_task(given.read(), name="watch")
    await asyncio.wait((taking, watching), return_when=asyncio.FIRST_COMPLETED)
    watching.cancel()
    if taking.done():
        _say(taking.result())
        return
    taking.cancel()  # nobody waits for the file any more
    await asyncio.wait([taking])


async def _outcome(request: Line) -> Line:
    try:
        return separately.said(await _ingested(request))
    except Exception as error:  # noqa: BLE001 - told by whoever started us
        cause = telemetry.unwrapped(error)
        if isinstance(cause, RagError):
            return separately.said(cause)
        return {"error": f"{type(cause).__name__} (id {telemetry.record(cause)})"}


async def _ingested(request: Line) -> Ingested:
    read = settings.read()
    telemetry.configure(read.log_level, service=False)
    blob, knowledge_base = separately.requested(request)
    async with compose.library(read) as library:
        return await library.ingestion.ingest(
            blob, knowledge_base=knowledge_base, progress=lambda step: _say(separately.said(step))
        )


def _say(line: Line) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
