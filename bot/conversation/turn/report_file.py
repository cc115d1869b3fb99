from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.messages import say
from bot.port import ChatError, File
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
    if answer.computed is not None and len(answer.computed.rows) > SHOWN_ROWS:
        file = rows_file(answer.computed, reply.language)
    elif answer.route == "research" and len(answer.text) >= LONG:
        file = report_file(reply)
    else:
        return
    await attach(stream, reply, file)


async def attach(stream: MessageStream, reply: Reply, *files: File) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await stream.finish(replace(reply, files=files))
    except (ChatError, TimeoutError) as error:
        _log.warning("a file was not attached: %s", str(error) or "the platform took too long")


def rows_file(computed: ComputedAnswer, language: str) -> File:
    return File(
        name="table.csv",
        media_type="text/csv",
        # Spreadsheets take UTF-8 only with this mark.
        content=csv_text(computed).encode("utf-8-sig", "replace"),
        description=say("all_rows", language),
    )


def report_file(reply: Reply) -> File:
    """As Markdown."""
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
