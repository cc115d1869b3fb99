"""`footnote backup`: write all stored data to one file; the bot can keep running."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from bot.cli._shared import options
from bot.data_directory import data_lock, index_lock
from bot.maintenance import backup, blocking_work, data_files

if TYPE_CHECKING:
    import argparse

    from bot.maintenance.backup import BackedUp
    from bot.settings import Settings


EXAMPLE = "footnote backup footnote-$(date +%F).zip"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE.zip", type=options.path, help="replaced when the backup is complete"
    )
    options.add_json(parser, "{file, databases, originals, bytes, held_seconds, missing, index}")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    contents = data_files.of(settings)
    kind = settings.index.kind
    indexed = set(data_files.index_files(settings))
    back_up = partial(backup.back_up, contents, arguments.file, index=kind)
    async with AsyncExitStack() as stack:
        if settings.data_dir.exists():  # or the locks would create it
            await stack.enter_async_context(data_lock.in_use(settings.data_dir))
            await stack.enter_async_context(data_lock.backing_up(settings.data_dir))
            if indexed:
                # Keeps a rebuild from replacing the index file.
                await stack.enter_async_context(index_lock.in_use(settings.data_dir))
        result = await blocking_work.run(lambda check: back_up(check=check))
    if arguments.json:
        print(json.dumps({**asdict(result), "file": str(arguments.file), "index": bool(indexed)}, indent=2))
        return 0
    print(_summary(result, arguments.file))
    if not indexed:
        print(
            f"It does not contain the index, which is in {kind}: back it up there, or rebuild it after a restore with "
            "`footnote kb reindex --all`."
        )
    return 0


def _summary(result: BackedUp, file: object) -> str:
    files = "1 original file" if result.originals == 1 else f"{result.originals} original files"
    return (
        f"{file}: {result.databases} databases and {files}, {result.bytes / 1e6:,.1f} MB; writing was blocked for "
        f"{result.held_seconds * 1000:.0f} ms. Protect the file: it contains documents and people's questions."
    )
