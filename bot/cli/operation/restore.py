"""`footnote restore`: restore a backup (stop the bot first)."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from bot.cli._shared import confirmation, options
from bot.data_directory import data_lock
from bot.maintenance import blocking_work, data_files
from bot.maintenance.restore import restore

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


EXAMPLE = "footnote restore footnote-2026-01-31.zip"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.zip", type=options.path)
    parser.add_argument("--replace", action="store_true", help="delete the existing data first")
    confirmation.add_yes(parser)
    options.add_json(parser, "{data_dir, databases, originals, made_at}")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    contents = data_files.of(settings)
    deletes = arguments.replace and next(contents.replaceable(), None) is not None
    if deletes and not confirmation.is_possible(arguments):
        return confirmation.EXIT_UNCONFIRMED
    if deletes and not await confirmation.confirmed(f"Delete the data in {settings.data_dir}?", arguments):
        print("Nothing was restored.")
        return 1
    start = partial(restore, contents, arguments.file, index=settings.index.kind, replace=arguments.replace)
    async with data_lock.alone(settings.data_dir):
        data_lock.finish(settings.data_dir)
        restored = await blocking_work.run(lambda check: start(check=check))
    if arguments.json:
        print(json.dumps({**asdict(restored), "data_dir": str(settings.data_dir)}, indent=2))
        return 0
    files = "1 original file" if restored.originals == 1 else f"{restored.originals} original files"
    print(
        f"Restored {restored.databases} databases and {files} from {arguments.file.name} to {settings.data_dir}, as of "
        f"{datetime.fromtimestamp(restored.made_at, UTC):%Y-%m-%d %H:%M:%S} UTC."
    )
    if data_files.index_files(settings):
        print("Check the result with `footnote doctor`.")
    else:
        print(
            f"The index in {settings.index.kind} may not match: rebuild it with `footnote kb reindex --all`."
        )
    return 0
