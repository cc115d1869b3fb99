"""`footnote sync`: read all sources now, or keep reading them on their schedules."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from rich.text import Text

from bot.access.permissions import find
from bot.cli._shared import source_runs, terminal
from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = """footnote sync --kb handbook
footnote sync --watch"""

_EVERY_SECONDS = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kb", default="", metavar="NAME", help="only the sources of this knowledge base")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="read each source once, now (the default)")
    how.add_argument("--watch", action="store_true", help="read each when it is due, until interrupted")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    console = terminal.console()
    async with source_runs.opened(settings) as sources:
        chosen = None
        if arguments.kb:
            chosen = find(await sources.library.catalog.knowledge_bases(), arguments.kb).id
        listed = await sources.store.all(chosen)
        if not listed:
            console.print(Text("There are no sources: `footnote source add ADDRESS` adds one."))
        if not arguments.watch:
            return max([await source_runs.run_one(sources, each, console) for each in listed], default=0)
        while True:
            try:
                due = await sources.store.due(time.time())
                for each in due:
                    if chosen in (None, each.knowledge_base):
                        await source_runs.run_one(sources, each, console)
            except Unavailable as error:
                console.print(Text(str(error)))
            await asyncio.sleep(_EVERY_SECONDS)
