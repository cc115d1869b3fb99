"""`footnote conversations`: list, export and rename conversations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from rich.text import Text

from bot.cli._shared import options, terminal
from bot.composition.storage import storage as open_storage
from bot.store.topics import is_private
from rag_engine.errors import UserError
from rag_engine.text.legibility import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from bot.settings import Settings
    from rag_engine.storage.history import ConversationSummary, SqliteHistory
    from rag_engine.types import Turn

EXAMPLE = """footnote conversations
footnote conversations --tag travel
footnote conversations show slack:T01:C012:1763650000.1 > conversation.md
footnote conversations rename slack:T01:C012:1763650000.1 "Travel rules\""""

_ALL: Final = 2**31
_NAMED: Final = 5
_OPENING: Final = 60
_TITLE: Final = 200
_SPEAKERS: Final = {"user": "Question", "assistant": "Answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exported:
    turn: Turn
    citations: Sequence[Mapping[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=options.positive, default=50, metavar="N", help="how many to list (50)"
    )
    parser.add_argument("--tag", default="", metavar="TAG", help="only those with this tag")
    options.add_json(parser, "[{id, at, questions, title, tags, private}]")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    show = actions.add_parser("show", help="export one in order, as Markdown")
    show.add_argument("id", metavar="ID", help="as listed, or the beginning of it")
    show.add_argument("--private", action="store_true", help="also a private one")
    options.add_json(
        show, "{id, title, turns: [{id, role, at, text, citations: [{number, title, anchor, quote}]}]}"
    )
    rename = actions.add_parser("rename", help="give one a title")
    rename.add_argument("id", metavar="ID", help="as listed, or the beginning of it")
    rename.add_argument("title", metavar="TITLE", help="empty for the first question again")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        history = storage.history
        if arguments.action is None:
            _print_listed(
                await history.conversations(limit=arguments.limit, tag=arguments.tag), as_json=arguments.json
            )
            return 0
        found = await _find(arguments.id, history)
        if arguments.action == "rename":
            await history.rename(found.id, _checked(arguments.title))
            return 0
        if is_private(found.id) and not arguments.private:
            raise UserError(f"The conversation {found.id} is private; --private shows it all the same.")
        exported = [
            _Exported(turn=turn, citations=await _citations(turn, history))
            for turn in await history.read(found.id, limit=_ALL)
        ]
    _print_exported(found, exported, as_json=arguments.json)
    return 0


async def _find(reference: str, history: SqliteHistory) -> ConversationSummary:
    found = await history.conversations(limit=_ALL, beginning=reference)
    exact = [each for each in found if each.id == reference]
    if exact or len(found) == 1:
        return (exact or found)[0]
    if not found:
        raise UserError(f"There is no conversation {reference!r}; `footnote conversations` lists them.")
    named = ", ".join(each.id for each in found[:_NAMED])
    raise UserError(f"{len(found)} conversations begin with {reference!r}: give more of the id ({named} …).")


def _checked(title: str) -> str:
    title = printable(" ".join(title.split()))
    if len(title) > _TITLE:
        raise UserError(f"A title has at most {_TITLE} characters; this one has {len(title)}.")
    return title


async def _citations(turn: Turn, history: SqliteHistory) -> Sequence[Mapping[str, Any]]:
    trace = await history.trace(turn.id) if turn.role == "assistant" else None
    if trace is None or trace.turn != turn.id:
        return ()
    return cast("Sequence[Mapping[str, Any]]", trace.details.get("citations", ()))


def _title(summary: ConversationSummary) -> str:
    if summary.title or is_private(summary.id):
        return summary.title
    opening = " ".join(summary.opening.split())
    return opening if len(opening) <= _OPENING else f"{opening[: _OPENING - 1]}…"


def _print_listed(listed: Sequence[ConversationSummary], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "id": each.id,
                "at": _moment(each.at),
                "questions": each.questions,
                "title": _title(each),
                "tags": list(each.tags),
                "private": is_private(each.id),
            }
            for each in listed
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    if not listed:
        terminal.print_text("There are no conversations.")
    for each in listed:
        questions = "1 question" if each.questions == 1 else f"{each.questions} questions"
        console = terminal.console()
        console.print(Text(f"{_moment(each.at)}  {each.id}  {questions}", style="bold"))
        tags = "".join(f"  #{tag}" for tag in each.tags)
        console.print(Text(f"  {_title(each) or '(private)'}{tags}"))


def _print_exported(summary: ConversationSummary, exported: Sequence[_Exported], *, as_json: bool) -> None:
    if as_json:
        turns = [
            {
                "id": each.turn.id,
                "role": each.turn.role,
                "at": _moment(each.turn.at),
                "text": each.turn.text,
                "citations": [
                    {name: citation.get(name, "") for name in ("number", "title", "anchor", "quote")}
                    for citation in each.citations
                ],
            }
            for each in exported
        ]
        shown = {"id": summary.id, "title": _title(summary), "turns": turns}
        print(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    parts = [f"# {_title(summary) or summary.id}"]
    for each in exported:
        speaker = _SPEAKERS.get(each.turn.role, each.turn.role)
        parts += [f"**{speaker}**, {_moment(each.turn.at)}", each.turn.text.strip()]
        if each.citations:
            parts.append("\n".join(map(_source, each.citations)))
    terminal.print_text("\n\n".join(parts))


def _source(citation: Mapping[str, Any]) -> str:
    place = " — ".join(str(citation[name]) for name in ("title", "anchor") if citation.get(name))
    return f"- [{citation.get('number')}] {place}"


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
