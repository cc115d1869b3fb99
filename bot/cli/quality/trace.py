"""`footnote trace`: show how a question was answered."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from rich.table import Table
from rich.text import Text

from bot.cli._shared import options, terminal
from bot.cli.knowledge import kb
from bot.composition.storage import storage as open_storage
from bot.store.topics import is_private
from rag_engine.agent.tool import is_tool_result
from rag_engine.errors import UserError
from rag_engine.types import DocumentId, Trace, TurnId

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from bot.composition.components import StorageComponents
    from bot.settings import Settings


_EXCERPT = 300
_TURNS = 1000
_WORDLESS = frozenset({"model", "route", "outcome", "kind", "error", "found", "shares"})
"""Details that hold no words of people or files; so do numbers."""

EXAMPLE = """footnote trace
footnote trace 3f9a --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "turn", metavar="TURN", nargs="?", default="", help="its id or the beginning of the id (the newest)"
    )
    options.add_json(parser, "everything")
    parser.add_argument("--private", action="store_true", help="show the words of a private turn, too")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        trace = await storage.history.trace(TurnId(arguments.turn) if arguments.turn else None)
        if trace is None:
            raise UserError(
                f"There is no turn {arguments.turn!r}." if arguments.turn else "Nothing has been asked yet."
            )
        is_hidden = is_private(trace.conversation) and not arguments.private
        trace = _without_words(trace) if is_hidden else trace
        answer = "" if is_hidden else await _answer(trace, storage)
        passages = [await _excerpt(one, storage) for one in _dicts(trace.details.get("passages"))]
    if arguments.json:
        print(json.dumps(as_json(trace), ensure_ascii=False, indent=2))
        return 0
    _print(trace, answer, passages, terminal.console())
    if is_hidden:
        print("This turn is private; --private shows its words all the same.")
    return 0


def _without_words(trace: Trace) -> Trace:
    figures = {
        name: value
        for name, value in trace.details.items()
        if name in _WORDLESS or isinstance(value, int | float)
    }
    return replace(trace, details=figures)


def as_json(trace: Trace) -> dict[str, object]:
    return {**asdict(trace), "seconds": {name: round(value, 4) for name, value in trace.seconds.items()}}


def _print(trace: Trace, answer: str, passages: Sequence[str], console: Console) -> None:
    details = dict(trace.details)
    filter_ = cast("dict[str, object]", details.get("filter") or {})
    moment = f"{datetime.fromtimestamp(trace.at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    console.print(Text(f"turn {trace.turn}, {moment}", style="bold"))
    _print_texts(
        {
            "question": details.get("question"),
            "understood as": _unless(details.get("searched_for"), details.get("question")),
            "searched in": details.get("scope"),
            "only files with": filter_.get("used"),
            "filters left out": ", ".join(map(str, cast("list[object]", filter_.get("left_out") or []))),
            "answered by": details.get("model"),
            "researched": _research(details),
            "tools": _tools(details),
            "answer": answer,
        },
        console,
    )
    for number, (passage, text) in enumerate(zip(_dicts(details.get("passages")), passages, strict=True), 1):
        console.print(Text(f"\npassage {number}: {_place(passage)}", style="bold"))
        legs = [f"{leg.get('leg')} {leg.get('rank')}" for leg in _dicts(passage.get("legs"))]
        console.print(Text(f"found by {', '.join(legs) or 'a tool'}", style="dim"))
        console.print(Text(text))
    for passage in _dicts(details.get("closest")):
        console.print(Text.assemble(("does not answer: ", "bold"), _place(passage)))
    for citation in _dicts(details.get("citations")):
        quote = " ".join(str(citation.get("quote", "")).split())
        console.print(Text(f"\n[{citation.get('number')}] {_place(citation)}", style="bold"))
        console.print(Text(f"“{quote}”"))
    stages = Table("stage", "ms", box=None, pad_edge=False)
    for name, seconds in trace.seconds.items():
        stages.add_row(name, f"{seconds * 1000:.1f}")
    console.print()
    console.print(stages)
    if trace.fallbacks:
        console.print(Text("done without: " + ", ".join(trace.fallbacks), style="yellow"))
    for notice in cast("list[object]", details.get("notices") or []):
        console.print(Text(str(notice), style="yellow"))
    console.print(Text("--json shows all figures, ids and candidates.", style="dim"))


def _print_texts(texts: Mapping[str, object], console: Console) -> None:
    for name, text in texts.items():
        if text:
            console.print(Text.assemble((f"{name}: ", "bold"), str(text)))


def _research(details: Mapping[str, object]) -> str:
    spent = cast("dict[str, object]", details.get("research") or {})
    if not spent:
        return ""
    amounts = ", ".join(f"{spent.get(name)} {name}" for name in ("rounds", "searches", "calls", "tokens"))
    queries = "; ".join(str(one.get("query")) for one in _dicts(spent.get("queries")))
    return f"{amounts}; ended by {spent.get('ending')}; asked: {queries}"


def _tools(details: Mapping[str, object]) -> str:
    spent = cast("dict[str, object]", details.get("agent") or {})
    if not spent:
        return ""
    amounts = ", ".join(f"{spent.get(name)} {name}" for name in ("steps", "calls", "tokens"))
    return "\n  ".join((f"{amounts}; ended by {spent.get('ending')}", *map(_call, _dicts(spent.get("made")))))


def _call(made: Mapping[str, object]) -> str:
    arguments = cast("dict[str, object]", made.get("arguments") or {})
    given = ", ".join(f"{name}: {value}" for name, value in arguments.items())
    found = f"{len(cast('list[object]', made.get('passages') or []))} passages"
    return f"step {made.get('step')}: {made.get('tool')} ({given}): {made.get('fault') or found}"


def _unless(text: object, same: object) -> object:
    return None if text == same else text


def _dicts(value: object) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", value) if isinstance(value, list) else []


def _place(found: Mapping[str, object]) -> str:
    return " — ".join(str(found[name]) for name in ("title", "anchor") if found.get(name))


async def _answer(trace: Trace, storage: StorageComponents) -> str:
    turns = await storage.history.read(trace.conversation, limit=_TURNS)
    return next((turn.text for turn in turns if turn.id == trace.turn), "")


async def _excerpt(passage: Mapping[str, object], storage: StorageComponents) -> str:
    if is_tool_result(str(passage.get("chunk", ""))):
        return "The result of a tool, of which only quotes are kept."
    document, anchor = DocumentId(str(passage.get("document", ""))), str(passage.get("anchor", ""))
    text = await kb.text_at(storage, document, anchor)
    if not text:
        return "This text is no longer stored."
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
