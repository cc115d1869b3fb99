"""`footnote forget`: remove a person, a channel or a document from all stored data, and verify that nothing is left."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from bot.cli._shared import confirmation, options, terminal
from bot.maintenance.erasure import eraser, marks
from rag_engine.errors import UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.console import Console

    from bot.maintenance.erasure.eraser import Count, Eraser, ErasureOutcome
    from bot.maintenance.erasure.marks import ErasureMarks
    from bot.settings import Settings

EXAMPLE = """footnote forget person slack:U012AB3CD --dry-run
footnote forget channel slack:T01:C012AB3CD
footnote forget document handbook "Travel 2024.pdf\""""

_FILES = "Files that came with their questions belong to their channels and stay; `--files` removes them too."
_CHATS = "Messages in Slack or Discord must be deleted there, and existing backups are not changed."
_SERVER = "The index is on a server, which erases removed data when it next merges its files."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", title="kinds", required=True)
    person = kinds.add_parser("person", help="their questions, the answers, and their ratings of answers")
    person.add_argument("who", metavar="PERSON", help="an id, PLATFORM:ID, or their name in a chat")
    person.add_argument("--files", action="store_true", help="also the files that came with their questions")
    channel = kinds.add_parser("channel", help="a channel with its threads, its files and its settings")
    channel.add_argument("channel", metavar="CHANNEL", help="an id, PLATFORM:ID or PLATFORM:WORKSPACE:ID")
    document = kinds.add_parser("document", help="a document, and the answers that were made from it")
    document.add_argument("name", metavar="NAME", help="the knowledge base")
    document.add_argument(
        "document", metavar="DOCUMENT", help="its title, its id or the beginning of the id, or its address"
    )
    for kind in (person, channel, document):
        kind.add_argument("--dry-run", action="store_true", help="only print what would be removed")
        confirmation.add_yes(kind)
        options.add_json(
            kind, "{subject, found: [{store, what, count}], forgotten, verified, left, bytes_in, notes}"
        )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if not arguments.dry_run and not confirmation.is_possible(arguments):
        return confirmation.EXIT_UNCONFIRMED
    console = terminal.console(quiet=arguments.json)
    async with eraser.opened(settings) as opened:
        unfinished = marks.interrupted(settings.data_dir)
        if unfinished is not None and not arguments.dry_run:
            console.print(Text(f"Continuing the interrupted erasure of the {unfinished.subject}."))
            _print([_verdict(await opened.forget(unfinished))], console)
        try:
            marked = await _marked(opened, arguments)
        except UserError as error:
            if unfinished is None or arguments.dry_run:
                raise
            _print([f"Besides: {error}"], console)
            return 0
        found = await opened.survey(marked)
        notes = [_CHATS]
        if arguments.kind == "person" and not arguments.files:
            notes.insert(0, _FILES)
        _print_found(marked, found, console)
        if arguments.dry_run or not await confirmation.confirmed("Remove all of it?", arguments):
            _print(["Nothing was removed.", *notes], console)
            _dump(arguments, marked, found, None, notes)
            return 0 if arguments.dry_run else 1
        outcome = await opened.forget(marked)
        if not outcome.erased_index:
            notes.append(_SERVER)
        if outcome.removed_backups:
            notes.append(
                f"Database copies from before an upgrade were removed: {', '.join(outcome.removed_backups)}."
            )
    _print([_verdict(outcome), *notes], console)
    _dump(arguments, marked, found, outcome, notes)
    return 0 if outcome.verified else 1


async def _marked(opened: Eraser, arguments: argparse.Namespace) -> ErasureMarks:
    match arguments.kind:
        case "person":
            return await opened.finder.person(arguments.who, files=arguments.files)
        case "channel":
            return await opened.finder.channel(arguments.channel)
        case _:
            return await opened.finder.document(arguments.name, arguments.document)


def _verdict(outcome: ErasureOutcome) -> str:
    if outcome.left:
        rows = ", ".join(f"{count.count} {count.what} in {count.store}" for count in outcome.left)
        return f"Not all of it is gone: {rows}. Run it again; it continues where it stopped."
    if outcome.bytes_in:
        files = ", ".join(outcome.bytes_in)
        return (
            f"Forgotten. All rows are gone, but an id or a piece of the text also occurs in {files}: in other documents, in other "
            "people's messages, or in an answer being written."
        )
    return "Forgotten. Verified: nothing of it is left in any file of the data directory."


def _print_found(marked: ErasureMarks, found: Sequence[Count], console: Console) -> None:
    console.print(Text(f"The {marked.subject}:", style="bold"))
    for count in found:
        console.print(Text(f"  {count.store}: {count.count} {count.what}"))
    if not found:
        console.print(Text("  nothing is stored"))


def _print(lines: Sequence[str], console: Console) -> None:
    for line in lines:
        console.print(Text(line))


def _dump(
    arguments: argparse.Namespace,
    marked: ErasureMarks,
    found: Sequence[Count],
    outcome: ErasureOutcome | None,
    notes: Sequence[str],
) -> None:
    if not arguments.json:
        return
    shown = {
        "subject": marked.subject,
        "found": [asdict(count) for count in found],
        "forgotten": outcome is not None,
        "verified": outcome is not None and outcome.verified,
        "left": [asdict(count) for count in outcome.left] if outcome else [],
        "bytes_in": dict(outcome.bytes_in) if outcome else {},
        "notes": list(notes),
    }
    print(json.dumps(shown, ensure_ascii=False, indent=2))
