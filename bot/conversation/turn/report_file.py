from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.messages import say
from bot.port import ChatError, File
from rag_engine.tables.answers.chart import Chart, chart, png
from rag_engine.tables.answers.figures import SHOWN_ROWS, csv_text

if TYPE_CHECKING:
    from bot.port import Reply
    from bot.streaming.message_stream import MessageStream
    from rag_engine.tables.types import ComputedAnswer
    from rag_engine.types import Answer

LONG: Final = 3_500
"""Characters that Slack shows without *Show more*."""
_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


async def attach_report(stream: MessageStream, reply: Reply, answer: Answer) -> None:
    """The answer is stored: no restart attaches it twice."""
    files = await _files(reply, answer)
    if files:
        await attach(stream, reply, *files)


async def attach(stream: MessageStream, reply: Reply, *files: File) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await stream.finish(replace(reply, files=files))
    except (ChatError, TimeoutError) as error:
        _log.warning("a file was not attached: %s", str(error) or "the platform took too long")


async def _files(reply: Reply, answer: Answer) -> tuple[File, ...]:
    if answer.route == "research" and len(answer.text) >= LONG:
        return (report_file(reply),)
    if answer.computed is None:
        return ()
    files: list[File] = []
    if answer.computed.is_drawn and (drawn := chart(answer.computed, reply.language)) is not None:
        files.append(await asyncio.to_thread(chart_file, drawn, reply.language))
    if len(answer.computed.rows) > SHOWN_ROWS:
        files.append(rows_file(answer.computed, reply.language))
    return tuple(files)


def chart_file(drawn: Chart, language: str) -> File:
    """Takes tens of milliseconds: not for the event loop."""
    return File(
        name="chart.png",
        media_type="image/png",
        content=png(drawn),
        description=say("chart_described", language, shown=drawn.description),
    )


def rows_file(computed: ComputedAnswer, language: str) -> File:
    return File(
        name="table.csv",
        media_type="text/csv",
        # Spreadsheets take UTF-8 only with this mark.
        content=csv_text(computed).encode("utf-8-sig", "replace"),
        description=say("all_rows", language),
    )


def report_file(reply: Reply) -> File:
    lines = [reply.text]
    if reply.citations:
        lines += ["", f"## {say('sources', reply.language)}"]
    for citation in reply.citations:
        place = f", {citation.anchor}" if citation.anchor else ""
        quote = " ".join(citation.quote.split())
        lines += ["", f"[{citation.number}] {citation.title}{place}", *([f"> {quote}"] if quote else [])]
    lines += ["", *reply.notices]
    content = "\n".join(lines).strip() + "\n"
    return File(
        name="research.md",
        media_type="text/markdown",
        content=content.encode("utf-8", "replace"),
        description=say("report", reply.language),
    )
