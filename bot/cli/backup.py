"""`footnote backup`: all that is kept, in one file, while the bot runs."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from bot.keeping import backing_up, contents, directory, threads
from bot.process import exclusive

if TYPE_CHECKING:
    import argparse

    from bot.keeping.backing_up import BackedUp
    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the backup, and say what is in it and what is not."""
    kept = contents.of(settings)
    kind = settings.index.kind
    indexed = set(contents.index_files(settings))
    made_now = partial(backing_up.back_up, kept, arguments.file, index=kind)
    async with AsyncExitStack() as stack:
        if settings.data_dir.exists():  # else there is nothing to back up, and nothing is made
            await stack.enter_async_context(directory.in_use(settings.data_dir))
            await stack.enter_async_context(directory.backing_up(settings.data_dir))
            if indexed:
                # A rebuild puts another file in the place of the index, which it could not while we have that open.
                await stack.enter_async_context(exclusive.in_use(settings.data_dir))
        made = await threads.run(lambda check: made_now(check=check))
    if arguments.json:
        print(json.dumps({**asdict(made), "file": str(arguments.file), "index": bool(indexed)}, indent=2))
        return 0
    print(_told(made, arguments.file))
    if not indexed:
        print(
            f"The index is not in it, since it is in {kind}: back it up there, or make it anew after a restore with "
            "`footnote kb reindex --all`."
        )
    return 0


def _told(made: BackedUp, file: object) -> str:
    pdfs = "1 PDF" if made.originals == 1 else f"{made.originals} PDFs"
    return (
        f"{file}: {made.databases} databases and {pdfs}, {made.bytes / 1e6:,.1f} MB; nothing could be written for "
        f"{made.held_seconds * 1000:.0f} ms. Guard it: it holds the text of documents and what people asked."
    )
