"""`footnote verified`: answers verified by a person: list, add, edit, confirm, revoke."""

from __future__ import annotations

import getpass
import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.access.console_names import console_name
from bot.access.permissions import find
from bot.cli._shared import options, terminal
from bot.composition import application
from bot.composition.storage import storage as open_storage
from rag_engine.errors import UserError
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.metadata.verified_answer import Verifier

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from bot.settings import Settings
    from rag_engine.metadata.verified_answer import VerifiedAnswer

EXAMPLE = """footnote verified list handbook
footnote verified add handbook "Who signs contracts?" "The legal team."
footnote verified revoke handbook 3"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    listed = actions.add_parser("list", help="list the answers of one knowledge base, or of all")
    listed.add_argument("name", metavar="NAME", nargs="?", default="")
    options.add_json(
        listed,
        "[{knowledge_base, id, question, answer, author, written, review, outdated, sources: [title]}]",
    )
    for action, text in (
        ("add", "add an answer, or replace the one to this question"),
        ("edit", "change an answer"),
    ):
        edited = actions.add_parser(action, help=text)
        edited.add_argument("name", metavar="NAME")
        edited.add_argument("question", metavar="QUESTION", help="for edit also its number or id")
        edited.add_argument("answer", metavar="ANSWER")
        edited.add_argument("--author", default="", metavar="PERSON", help="shown with it; by default you")
    for action, text in (
        ("confirm", "confirm that an answer is still right"),
        ("revoke", "remove an answer"),
    ):
        named = actions.add_parser(action, help=text)
        named.add_argument("name", metavar="NAME")
        named.add_argument("question", metavar="QUESTION", help="or its number or id")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.action == "list":
        async with open_storage(settings) as storage:
            bases = await storage.catalog.knowledge_bases()
            chosen = [find(bases, arguments.name)] if arguments.name else bases
            listed = {
                console_name(base.name): await storage.catalog.verified.read({base.id}) for base in chosen
            }
        _print(listed, as_json=arguments.json)
        return 0
    async with application.library(settings) as library:
        base = find(await library.catalog.knowledge_bases(), arguments.name)
        editor = VerifiedEditor(
            ingestion=library.ingestion, catalog=library.catalog, review_days=settings.chat.review_days
        )
        if arguments.action == "add":
            author = Verifier(name=arguments.author or getpass.getuser())
            await editor.save(base.id, question=arguments.question, answer=arguments.answer, author=author)
            terminal.print_text(f"Verified in {base.name}.")
            return 0
        answer = _named(await library.catalog.verified.read({base.id}), arguments.question)
        if arguments.action == "edit":
            author = Verifier(name=arguments.author or getpass.getuser())
            await editor.change(answer, arguments.answer, author=author)
        elif arguments.action == "confirm":
            await editor.confirm(answer)
        else:
            await editor.revoke(answer)
    done = {"edit": "Changed", "confirm": "Confirmed", "revoke": "Revoked"}[arguments.action]
    terminal.print_text(f"{done}: {answer.question}")
    return 0


def _named(answers: Sequence[VerifiedAnswer], text: str) -> VerifiedAnswer:
    wanted = " ".join(text.split()).casefold()
    for number, answer in enumerate(answers, 1):
        if wanted in (str(number), answer.question.casefold(), answer.id):
            return answer
    raise UserError("There is no such verified answer; `footnote verified list` names them.")


def _print(listed: Mapping[str, Sequence[VerifiedAnswer]], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"knowledge_base": name, **_row(each)} for name, answers in listed.items() for each in answers
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    shown = {name: answers for name, answers in listed.items() if answers}
    for name, answers in shown.items():
        if len(listed) > 1:
            terminal.print_text(f"{name}:")
        for number, answer in enumerate(answers, 1):
            outdated = ", possibly outdated" if answer.is_outdated(time.time()) else ""
            terminal.print_text(f"{number}. {answer.question}")
            terminal.print_text(f"   {answer.answer}")
            written = _moment(answer.written_at)[:10]
            terminal.print_text(f"   verified by {answer.author.name} on {written}{outdated}")
    if not shown:
        terminal.print_text(
            "There are no verified answers: `footnote verified add NAME QUESTION ANSWER` adds one."
        )


def _row(answer: VerifiedAnswer) -> dict[str, object]:
    return {
        "id": answer.id,
        "question": answer.question,
        "answer": answer.answer,
        "author": answer.author.name,
        "written": _moment(answer.written_at),
        "review": _moment(answer.review_at) if answer.review_at else "",
        "outdated": answer.is_outdated(time.time()),
        "sources": [source.title for source in answer.sources],
    }


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
