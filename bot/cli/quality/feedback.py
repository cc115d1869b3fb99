"""`footnote feedback`: ratings of answers, newest first."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict

from rich.text import Text

from bot.access import permissions
from bot.cli._shared import options, terminal
from bot.composition import retrieval
from bot.composition.storage import storage as open_storage
from bot.conversation.gaps.gap_intake import GapIntake
from bot.conversation.gaps.gap_list import GapList, Operator
from bot.conversation.gaps.topic_feedback import topics
from bot.maintenance import data_files
from bot.store import feedback
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import ConversationId, DocumentId

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from bot.composition.components import StorageComponents
    from bot.conversation.gaps.topic_feedback import TopicFeedback
    from bot.settings import Settings
    from bot.store.feedback import DocumentRatings, RatedAnswer
    from rag_engine.types import KnowledgeBase


EXAMPLE = """footnote feedback --rating down
footnote feedback --documents
footnote feedback --topics
footnote feedback --kb handbook --json"""

_BY_HAND = "added by hand or in chat"
_UNTAGGED = "without a tag"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_knowledge_bases(parser)
    parser.add_argument("--rating", choices=["up", "down"], default="", help="only these ratings")
    parser.add_argument(
        "--limit", type=options.positive, default=50, metavar="N", help="how many to list (50)"
    )
    by = parser.add_mutually_exclusive_group()
    by.add_argument(
        "--documents", action="store_true", help="count ratings by cited document, the worst first"
    )
    by.add_argument("--sources", action="store_true", help="count ratings by the source of the documents")
    by.add_argument("--tags", action="store_true", help="count ratings by the tags of conversations")
    by.add_argument(
        "--topics",
        action="store_true",
        help="answers rated down with a reason, grouped by the meaning of their questions",
    )
    options.add_json(
        parser,
        "[{at, place, rating, reason, note, question, turn, documents: [{title, knowledge_base}]}], or by document, "
        "source or tag [{title, knowledge_base, up, down, reasons, misleads}], or by topic "
        "[{title, up, down, reasons, documents: [{title, knowledge_base, up, down, reasons, misleads}]}]",
    )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.topics:
        return await _run_topics(arguments, settings)
    rated = await _listed(settings, arguments.rating)
    async with open_storage(settings) as storage:
        bases = await storage.catalog.knowledge_bases()
        if arguments.kb:
            bases = [permissions.find(bases, name) for name in arguments.kb]
        owners = await _owners(storage, bases)
        subjects = await _subjects(arguments, rated, storage, owners)
    if subjects is not None:
        _print_documents(subjects[: arguments.limit], owners, as_json=arguments.json)
        return 0
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


async def _run_topics(arguments: argparse.Namespace, settings: Settings) -> int:
    path, scripts = settings.data_dir / data_files.CHAT, data_files.migrations()[data_files.CHAT]
    async with retrieval.base_components(settings) as parts, connect(path, scripts=scripts) as chat:
        intake = GapIntake.over(chat, parts.storage.history, parts.embedder)
        await intake.update()
        bases = await permissions.all_of(parts.storage.catalog)
        chosen = {permissions.find(bases, name).id for name in arguments.kb}
        owners = await _owners(parts.storage, bases)
        listed = GapList(gaps=intake.gaps, history=intake.history)
        found = await topics(chat, listed, Operator(), knowledge_bases=chosen or None)
    shown = found[: arguments.limit]
    if arguments.json:
        rows = [_topic_row(each, owners) for each in shown]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    console = terminal.console()
    for each in shown:
        title = each.title or "(only private questions)"
        console.print(Text(f"{title}: {_counts(each.up, each.down, each.reasons)}", style="bold"))
        for document in each.documents:
            console.print(Text(f"  · {_line(document)}"))
    if not shown:
        console.print(Text("No answer was rated not helpful with a reason."))
    return 0


async def _owners(storage: StorageComponents, bases: Sequence[KnowledgeBase]) -> dict[DocumentId, str]:
    return {
        record.document.id: base.name for base in bases for record in await storage.catalog.records(base.id)
    }


async def _subjects(
    arguments: argparse.Namespace,
    rated: list[RatedAnswer],
    storage: StorageComponents,
    owners: Mapping[DocumentId, str],
) -> list[DocumentRatings] | None:
    if arguments.documents:
        found = feedback.by_document(rated)
        return [each for each in found if not arguments.kb or each.document in owners]
    if arguments.sources:
        origins = await _origins(storage, owners)
        return feedback.by_subject(
            rated, lambda each: {origins[one]: origins[one] for one in each.documents if one in origins}
        )
    if not arguments.tags:
        return None
    tags = {
        each.conversation: await storage.history.tags(ConversationId(each.conversation)) for each in rated
    }
    return feedback.by_subject(
        [each for each in rated if not arguments.kb or any(one in owners for one in each.documents)],
        lambda each: {DocumentId(tag): tag for tag in tags[each.conversation] or [_UNTAGGED]},
    )


async def _origins(
    storage: StorageComponents, owners: Mapping[DocumentId, str]
) -> dict[DocumentId, DocumentId]:
    addresses = {
        entry.uri: source.address
        for source in await storage.sources.all()
        for entry in (await storage.sources.manifest(source.id)).values()
    }
    return {
        document: DocumentId(next((addresses[uri] for uri in uris if uri in addresses), _BY_HAND))
        for document in owners
        for uris in (await storage.catalog.sources(document),)
    }


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
    reason: str
    question: str
    turn: str
    note: str
    documents: list[dict[str, str]]


def _row(rated: RatedAnswer, owners: Mapping[DocumentId, str]) -> _Row:
    return {
        "at": datetime.fromtimestamp(rated.at, UTC).isoformat(timespec="seconds"),
        "place": rated.place,
        "rating": rated.rating,
        "reason": rated.reason,
        "question": rated.question,
        "turn": rated.turn,
        "note": rated.note,
        "documents": [
            {"title": title, "knowledge_base": owners.get(document, "")}
            for document, title in rated.documents.items()
        ],
    }


def _print_documents(
    shown: list[DocumentRatings], owners: Mapping[DocumentId, str], *, as_json: bool
) -> None:
    if as_json:
        rows = [_document_row(each, owners) for each in shown]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    console = terminal.console()
    for each in shown:
        console.print(Text(_line(each)))
    if not shown:
        console.print(Text("No rated answer cites a document."))


def _document_row(each: DocumentRatings, owners: Mapping[DocumentId, str]) -> dict[str, object]:
    return {
        "title": each.title,
        "knowledge_base": owners.get(each.document, ""),
        "up": each.up,
        "down": each.down,
        "reasons": dict(each.reasons),
        "misleads": each.misleads,
    }


def _topic_row(topic: TopicFeedback, owners: Mapping[DocumentId, str]) -> dict[str, object]:
    return {
        "title": topic.title,
        "up": topic.up,
        "down": topic.down,
        "reasons": dict(topic.reasons),
        "documents": [_document_row(each, owners) for each in topic.documents],
    }


def _line(each: DocumentRatings) -> str:
    often = "  often misleads: check it" if each.misleads else ""
    return f"{each.title}: {_counts(each.up, each.down, each.reasons)}{often}"


def _counts(up: int, down: int, reasons: Mapping[str, int]) -> str:
    named = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in reasons.items())
    return f"{up} up, {down} down" + (f" ({named})" if named else "")


def _print(rows: list[_Row]) -> None:
    console = terminal.console()
    if not rows:
        console.print(Text("There is no feedback."))
    for row in rows:
        reason = f" ({row['reason'].replace('_', ' ')})" if row["reason"] else ""
        console.print(
            Text(f"{row['at']}  {row['rating']}{reason}  {row['place']}  {row['turn']}", style="bold")
        )
        console.print(Text(f"  {row['question'] or '(the question is not kept or private)'}"))
        if row["note"]:
            console.print(Text(f"  “{row['note']}”", style="italic"))
        for document in row["documents"]:
            console.print(Text(f"  · {document['title']}"))
