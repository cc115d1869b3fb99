"""`footnote forget`: a person, a channel or a document, everywhere."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from bot.cli.asking import confirmed
from bot.keeping.forgetting import carrying_out, marks
from rag_engine.errors import UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bot.keeping.forgetting.carrying_out import Count, Forgetter, Outcome
    from bot.keeping.forgetting.marks import Marks
    from bot.settings import Settings

_FILES = (
    "Files that came with their questions belong to their channels and stay; `--files` forgets those, too."
)
_CHATS = (
    "What stands in Slack or Discord itself is deleted there, and backups that were made keep what they have."
)
_SERVER = "The index is on a server, which erases what was removed when it next merges its files."


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Say what there is, ask, forget it, and say what a search of everything found afterwards. 1 when something is left."""
    console = Console(highlight=False, quiet=arguments.json)
    async with carrying_out.opened(settings) as forgetter:
        unfinished = marks.interrupted(settings.data_dir)
        if unfinished is not None and not arguments.dry_run:
            console.print(
                Text(f"Going on with the {unfinished.subject}, which was interrupted."), soft_wrap=True
            )
            _print([_verdict(await forgetter.forget(unfinished))], console)
        try:
            marked = await _marked(forgetter, arguments)
        except UserError as error:
            if unfinished is None or arguments.dry_run:
                raise
            _print([f"Besides: {error}"], console)  # most likely it is what has just been forgotten
            return 0
        found = await forgetter.survey(marked)
        notes = [_CHATS]
        if arguments.kind == "person" and not arguments.files:
            notes.insert(0, _FILES)
        _print_found(marked, found, console)
        if arguments.dry_run or not (arguments.yes or arguments.json or await confirmed("Forget all of it?")):
            _print(["Nothing was forgotten.", *notes], console)
            _dump(arguments, marked, found, None, notes)
            return 0 if arguments.dry_run else 1
        outcome = await forgetter.forget(marked)
        if not outcome.erased_index:
            notes.append(_SERVER)
        if outcome.removed_backups:
            notes.append(f"Copies from before an upgrade were removed: {', '.join(outcome.removed_backups)}.")
    _print([_verdict(outcome), *notes], console)
    _dump(arguments, marked, found, outcome, notes)
    return 0 if outcome.verified else 1


async def _marked(forgetter: Forgetter, arguments: argparse.Namespace) -> Marks:
    match arguments.kind:
        case "person":
            return await forgetter.finder.person(arguments.who, files=arguments.files)
        case "channel":
            return await forgetter.finder.channel(arguments.channel)
        case _:
            return await forgetter.finder.document(arguments.name, arguments.document)


def _verdict(outcome: Outcome) -> str:
    if outcome.left:
        rows = ", ".join(f"{count.count} {count.what} in {count.store}" for count in outcome.left)
        return f"Not all of it is gone: {rows}. Do it again; it goes on where it was."
    if outcome.bytes_in:
        files = ", ".join(outcome.bytes_in)
        return (
            f"Forgotten. All rows are gone, but an id or a piece of the text also stands in {files}: in other documents, in what "
            "others wrote, or in what was answered at this moment."
        )
    return "Forgotten. Verified: nothing of it is left in any file of the data directory."


def _print_found(marked: Marks, found: Sequence[Count], console: Console) -> None:
    console.print(Text(f"The {marked.subject}:", style="bold"), soft_wrap=True)
    for count in found:
        console.print(Text(f"  {count.store}: {count.count} {count.what}"), soft_wrap=True)
    if not found:
        console.print(Text("  nothing is kept"))


def _print(lines: Sequence[str], console: Console) -> None:
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _dump(
    arguments: argparse.Namespace,
    marked: Marks,
    found: Sequence[Count],
    outcome: Outcome | None,
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
