from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rich.text import Text

from bot.cli._shared import terminal, wait_notice
from bot.composition import application
from bot.composition.sources import Sources, find
from bot.rendering import printable
from bot.resilience.retry import patient
from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rich.console import Console

    from bot.settings import Settings
    from rag_engine.ingestion.source_sync import SyncOutcome, SyncProgress
    from rag_engine.sync.types import SyncedSource

__all__ = ["find", "opened", "report", "run_one"]


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[Sources]:
    with patient(wait_notice.patience(settings, terminal.console())):
        async with application.library(settings) as library:
            await library.ingestion.finish_removals()
            yield Sources(settings=settings, library=library)


async def run_one(sources: Sources, source: SyncedSource, console: Console, *, again: bool = False) -> int:
    """1 if anything failed. Another program that reads sources reads this one too."""

    def progress(entry: SyncProgress) -> None:
        if entry.change != "same":
            console.print(
                Text(printable(f"  {entry.change}: {entry.key}{f': {entry.reason}' if entry.reason else ''}"))
            )

    try:
        outcome = await sources.run(source, again=again, progress=progress)
    except Unavailable as error:
        if error.reason != "busy":
            raise
        await sources.run_soon([source.id])
        console.print(Text("Another program reads the sources right now; it reads this one next."))
        return 0
    report(source, outcome, console)
    return 1 if outcome.error or outcome.counts.failed else 0


def report(source: SyncedSource, outcome: SyncOutcome, console: Console) -> None:
    counts = outcome.counts
    entries = "" if outcome.entries is None else f"{terminal.counted(outcome.entries, 'entry', 'entries')}, "
    line = f"{source.address}: {entries}{counts.new} new, {counts.changed} changed, {counts.gone} gone, {counts.failed} failed"
    console.print(Text(printable(line), style="bold"))
    if outcome.error:
        console.print(Text(printable(f"  {outcome.error.rstrip('.')}. What was read before stays.")))
