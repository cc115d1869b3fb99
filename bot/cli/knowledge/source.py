"""`footnote source`: sources that are kept up to date: add, list, read, remove."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.text import Text

from bot.access.permissions import DEFAULT_KNOWLEDGE_BASE, find, stored_name
from bot.cli._shared import channel_list, confirmation, options, terminal
from bot.composition.storage import storage as open_storage
from bot.rendering import printable
from rag_engine.sync import interval
from rag_engine.sync.types import SourceRefused

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bot.composition.components import StorageComponents
    from bot.settings import Settings
    from rag_engine.sync.types import SyncedSource
    from rag_engine.types import KnowledgeBaseId

EXAMPLE = """footnote source add /srv/handbook --kb handbook --every 15m
footnote source add https://docs.example.org/sitemap.xml --kb product
footnote source add https://github.com/acme/guides.git --option paths=docs
footnote source list"""

_SHAPE = "[{id, knowledge_base, kind, address, options, every, state, error, ran, entries, new, changed, gone, failed}]"
_MOST_REASONS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    add = actions.add_parser(
        "add", help="a folder, page, site, feed, Git repository or store; it is read at once"
    )
    add.add_argument("address", metavar="ADDRESS", help="a folder or a URL")
    add.add_argument(
        "--kb",
        default=DEFAULT_KNOWLEDGE_BASE,
        metavar="NAME",
        help=f"created if new ({DEFAULT_KNOWLEDGE_BASE})",
    )
    add.add_argument(
        "--kind",
        default="",
        metavar="KIND",
        help="folder, page, site, …; by default what the address looks like",
    )
    add.add_argument("--every", type=_interval, metavar="TIME", help="how often it is read: 30m, 6h, 1d")
    add.add_argument(
        "--option",
        action="append",
        type=_option,
        default=[],
        metavar="NAME=VALUE",
        help="of its kind, as branch=main",
    )
    add.add_argument(
        "--later", action="store_true", help="leave the first reading to `footnote sync` or the running bot"
    )
    listed = actions.add_parser("list", help="list all sources, with the result of the last run")
    listed.add_argument("--kb", default="", metavar="NAME", help="only those of this knowledge base")
    options.add_json(listed, _SHAPE)
    remove = actions.add_parser("remove", help="remove a source and its documents")
    remove.add_argument("source", metavar="SOURCE", help="its number or address")
    confirmation.add_yes(remove)
    run_ = actions.add_parser("run", help="read a source now")
    run_.add_argument("source", metavar="SOURCE", help="its number or address")
    run_.add_argument("--again", action="store_true", help="read also what did not change")


def _interval(text: str) -> float:
    import argparse

    try:
        return interval.interval(text)
    except SourceRefused as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _option(text: str) -> tuple[str, str]:
    import argparse

    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError("write NAME=VALUE")
    return name.strip(), value.strip()


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.action == "list":
        async with open_storage(settings) as storage:
            return await _list(arguments, settings, storage)
    if arguments.action == "remove" and not confirmation.is_possible(arguments):
        return confirmation.EXIT_UNCONFIRMED
    from bot.cli._shared import source_runs  # the engine, which `list` does without

    async with source_runs.opened(settings) as sources:
        if arguments.action == "add":
            catalog = sources.library.catalog
            name = stored_name(await catalog.knowledge_bases(), arguments.kb)
            base = await catalog.open(name, model=sources.library.embedder.model)
            added = await sources.add(
                base.id,
                arguments.address,
                kind=arguments.kind,
                options=dict(arguments.option),
                every_seconds=arguments.every,
            )
            terminal.print_text(
                printable(
                    f"Added {added.kind} {added.address} to {base.name}; it is read every {interval.shown(added.every_seconds)} by `footnote run` or `footnote sync --watch`."
                )
            )
            return 0 if arguments.later else await source_runs.run_one(sources, added, terminal.console())
        chosen = source_runs.find(await sources.store.all(), arguments.source)
        if arguments.action == "run":
            return await source_runs.run_one(sources, chosen, terminal.console(), again=arguments.again)
        question = f"Remove {printable(chosen.address)} and the documents that came from it?"
        if await confirmation.confirmed(question, arguments):
            await sources.remove(chosen)
            terminal.print_text(printable(f"Removed {chosen.address}."))
    return 0


async def _list(arguments: argparse.Namespace, settings: Settings, storage: StorageComponents) -> int:
    known = await storage.catalog.knowledge_bases()
    chosen = find(known, arguments.kb).id if arguments.kb else None
    sources = await storage.sources.all(chosen)
    channels = await channel_list.read(settings, chosen)
    names = {base.id: base.name for base in known}
    if arguments.json:
        rows = [_row(source, names) for source in sources]
        rows += [channel_list.row(source, progress, names) for source, progress in channels]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    console = terminal.console()
    for source in sources:
        console.print(Text(printable(_line(source, names))))
        for entry in await storage.sources.unread(source.id, limit=_MOST_REASONS):
            console.print(Text(printable(f"     {entry.key}: {entry.reason}")))
    for source, progress in channels:
        console.print(Text(printable(channel_list.line(source, progress, names))))
    if not sources and not channels:
        console.print(Text("There are no sources: `footnote source add ADDRESS` adds one."))
    return 0


def _row(source: SyncedSource, names: Mapping[KnowledgeBaseId, str]) -> dict[str, object]:
    counts = source.counts
    ran = source.ran_at
    return {
        "id": source.id,
        "knowledge_base": names.get(source.knowledge_base, ""),
        "kind": source.kind,
        "address": source.address,
        "options": dict(source.options),
        "every": interval.shown(source.every_seconds),
        "state": source.state,
        "error": source.error,
        "ran": None if ran is None else datetime.fromtimestamp(ran, UTC).isoformat(timespec="seconds"),
        "entries": source.entries,
        "new": counts.new,
        "changed": counts.changed,
        "gone": counts.gone,
        "failed": counts.failed,
    }


def _line(source: SyncedSource, names: Mapping[KnowledgeBaseId, str]) -> str:
    row = _row(source, names)
    options_ = "".join(f" {name}={value}" for name, value in source.options.items())
    head = f"{source.id:>3}  {row['knowledge_base']} ← {source.kind} {source.address}{options_}, every {row['every']}"
    if source.ran_at is None:
        return f"{head}: not read yet"
    if source.error:
        return f"{head}: failed at {row['ran']}: {source.error}"
    counts = source.counts
    return (
        f"{head}: read at {row['ran']}, {terminal.counted(source.entries, 'entry', 'entries')}; "
        f"{counts.new} new, {counts.changed} changed, {counts.gone} gone, {counts.failed} failed"
    )
