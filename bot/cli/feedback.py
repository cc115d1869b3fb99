"""`footnote feedback`: the ratings of answers, the newest first."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict

from rich.console import Console
from rich.text import Text

from bot.access import permissions
from bot.cli._shared import options
from bot.composition.storage import storage as open_storage
from bot.maintenance import data_files
from bot.store import feedback
from rag_engine.storage.sqlite.database import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bot.settings import Settings
    from bot.store.feedback import RatedAnswer
    from rag_engine.types import DocumentId


EXAMPLE = """footnote feedback --rating down
footnote feedback --kb handbook --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_knowledge_bases(parser)
    parser.add_argument("--rating", choices=["up", "down"], default="", help="only these ratings")
    parser.add_argument(
        "--limit", type=options.positive, default=50, metavar="N", help="how many to list (50)"
    )
    options.add_json(parser, "[{at, place, rating, question, turn, documents: [{title, knowledge_base}]}]")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    rated = await _listed(settings, arguments.rating)
    async with open_storage(settings) as storage:
        bases = await storage.catalog.knowledge_bases()
        if arguments.kb:
            bases = [permissions.find(bases, name) for name in arguments.kb]
        owners = {
            record.document.id: base.name
            for base in bases
            for record in await storage.catalog.records(base.id)
        }
    rows = [
        _row(each, owners)
        for each in rated
        if not arguments.kb or any(document in owners for document in each.documents)
    ][: arguments.limit]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    _print(rows)
    return 0


async def _listed(settings: Settings, rating: str) -> list[RatedAnswer]:
    path = settings.data_dir / data_files.CHAT
    if not await asyncio.to_thread(path.exists):
        return []
    async with connect(path, scripts=data_files.migrations()[data_files.CHAT]) as database:
        return await feedback.listed(database, rating=rating)


class _Row(TypedDict):
    at: str
    place: str
    rating: str
    question: str
    turn: str
    documents: list[dict[str, str]]


def _row(rated: RatedAnswer, owners: Mapping[DocumentId, str]) -> _Row:
    return {
        "at": datetime.fromtimestamp(rated.at, UTC).isoformat(timespec="seconds"),
        "place": rated.place,
        "rating": rated.rating,
        "question": rated.question,
        "turn": rated.turn,
        "documents": [
            {"title": title, "knowledge_base": owners.get(document, "")}
            for document, title in rated.documents.items()
        ],
    }


def _print(rows: list[_Row]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if not rows:
        console.print(Text("There is no feedback."))
    for row in rows:
        console.print(Text(f"{row['at']}  {row['rating']}  {row['place']}  {row['turn']}", style="bold"))
        console.print(Text(f"  {row['question'] or '(the question is not kept or private)'}"))
        for document in row["documents"]:
            console.print(Text(f"  · {document['title']}"))
