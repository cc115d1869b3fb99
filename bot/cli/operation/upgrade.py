"""`footnote upgrade`: show what an upgrade changes before the bot starts again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from importlib.metadata import version
from typing import TYPE_CHECKING

from rich.text import Text

from bot.cli._shared import options, terminal
from bot.data_directory import data_version
from bot.maintenance import changelog, data_files
from rag_engine.errors import UserError
from rag_engine.storage.sqlite.errors import translate_errors
from rag_engine.storage.sqlite.migrations import backup_path

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = "footnote upgrade --check"

EXIT_BREAKING = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check",
        action="store_true",
        help="list breaking changes since the last start; the exit code is 1 if there are any",
    )
    options.add_json(parser, "{from, to, breaking: [{version, text}], schemas: {file: [from, to]}}")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if not arguments.check:
        raise UserError(
            "Footnote does not upgrade itself: `pip install --upgrade footnote-bot`, then `footnote upgrade --check`."
        )
    since, until = data_version.read(settings.data_dir), version("footnote-bot")
    found = changelog.breaking_changes(changelog.shipped(), since=since, until=until)
    schemas = await asyncio.to_thread(_schemas, settings)
    if arguments.json:
        breaking = [{"version": each.version, "text": each.text} for each in found]
        print(
            json.dumps(
                {"from": since, "to": until, "breaking": breaking, "schemas": schemas},
                ensure_ascii=False,
                indent=2,
            )
        )
    else:
        _print(since, until, found, schemas, settings)
    return EXIT_BREAKING if found else 0


def _schemas(settings: Settings) -> dict[str, tuple[int, int]]:
    kept = data_files.of(settings)
    found: dict[str, tuple[int, int]] = {}
    for path in kept.databases():
        address = f"{path.absolute().as_uri()}?mode=ro"
        with (
            translate_errors(path),
            closing(sqlite3.connect(address, uri=True, timeout=5.0)) as database,
        ):
            (now,) = database.execute("PRAGMA user_version").fetchone()
        newest = kept.schemas[kept.name(path)]
        if now != newest:
            found[path.name] = (int(now), newest)
    return found


def _print(
    since: str,
    until: str,
    found: list[changelog.Breaking],
    schemas: dict[str, tuple[int, int]],
    settings: Settings,
) -> None:
    console = terminal.console()
    known = since or "an unknown version"
    console.print(Text(f"The data was last used by {known}; this is {until}."))
    for each in found:
        console.print(Text(f"! {each.version}: {each.text}", style="yellow"))
    if not found:
        console.print(Text("No breaking changes.", style="green"))
    for name, (now, newest) in schemas.items():
        path = settings.data_dir / name
        if now > newest:
            console.print(
                Text(
                    f"! {name} belongs to a newer Footnote (schema {now}, this one knows {newest}).",
                    style="red",
                )
            )
        else:
            kept = backup_path(path, now).name
            console.print(
                Text(
                    f"{name} goes from schema {now} to {newest} at the next start; a copy of the old file is kept as {kept}."
                )
            )
