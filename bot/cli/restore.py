"""`footnote restore`: what a backup holds, in the data directory."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from bot.keeping import contents, directory, restoring, threads

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Put the backup in place, while no other program uses the data directory."""
    kept = contents.of(settings)
    put_now = partial(
        restoring.restore, kept, arguments.file, index=settings.index.kind, replace=arguments.replace
    )
    async with directory.alone(settings.data_dir):
        directory.finish(settings.data_dir)
        restored = await threads.run(lambda check: put_now(check=check))
    if arguments.json:
        print(json.dumps({**asdict(restored), "data_dir": str(settings.data_dir)}, indent=2))
        return 0
    pdfs = "1 PDF" if restored.originals == 1 else f"{restored.originals} PDFs"
    print(
        f"{settings.data_dir} holds what {arguments.file.name} held: {restored.databases} databases and {pdfs}, as they were "
        f"on {datetime.fromtimestamp(restored.made_at, UTC):%Y-%m-%d %H:%M:%S} UTC."
    )
    if contents.index_files(settings):
        print("`footnote doctor` looks at all of it.")
    else:
        print(
            f"The index in {settings.index.kind} may hold something else: `footnote kb reindex --all` makes it anew."
        )
    return 0
