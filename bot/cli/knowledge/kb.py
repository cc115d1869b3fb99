"""`footnote kb`: manage knowledge bases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bot.access import document_lookup
from bot.access.console_names import console_name
from bot.access.permissions import find
from bot.cli._shared import confirmation, options, terminal
from bot.composition.storage import storage as open_storage
from rag_engine.errors import UserError
from rag_engine.retrieval.queries.synonyms import entry_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from bot.composition.components import StorageComponents
    from bot.settings import Settings
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBase, Section


_NARROW = 60
"""Columns in which a table would cut every cell."""

EXAMPLE = """footnote kb list --json
footnote kb show handbook handbook.pdf --text
footnote kb settings slack:T01:C012 citations=off"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    listing = actions.add_parser("list", help="list all knowledge bases")
    options.add_json(listing, "[{name, documents, chunks, model}]")
    show = actions.add_parser("show", help="show the documents of a knowledge base, or one document")
    show.add_argument("name", metavar="NAME")
    show.add_argument(
        "document", metavar="DOCUMENT", nargs="?", default="", help="its title, its id or the id's beginning"
    )
    show.add_argument("--text", action="store_true", help="the extracted text, a heading line per anchor")
    options.add_json(show, "[{id, title, media_type, state, reason, chunks, pages}]")
    _add_tag_arguments(actions.add_parser("tag", help="the tags of a document: show, add, remove"))
    remove = actions.add_parser("remove", help="remove a knowledge base or one of its documents")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("document", metavar="DOCUMENT", nargs="?", default="")
    confirmation.add_yes(remove)
    _add_place_arguments(
        actions.add_parser("settings", help="how the bot behaves in a channel, like `/kb settings`")
    )
    _add_expand_arguments(
        actions.add_parser(
            "expand", help="summaries of passages and questions they answer: show, switch, make"
        )
    )
    _add_graph_arguments(actions)
    reindex = actions.add_parser("reindex", help="split and embed again from the extracted text")
    reindex.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="one; without it all, into a fresh index"
    )
    reindex.add_argument("--all", action="store_true", help="the same as no name")
    _add_synonyms(
        actions.add_parser("synonyms", help="words with the same meaning: list, add or remove them")
    )
    export = actions.add_parser("export", help="write a knowledge base to a file, including its vectors")
    export.add_argument("name", metavar="NAME")
    export.add_argument("file", metavar="FILE.zip", type=Path)
    import_ = actions.add_parser("import", help="import an exported knowledge base, with its vectors")
    import_.add_argument("file", metavar="FILE.zip", type=Path)
    import_.add_argument("--name", default="", metavar="NAME", help="under another name")


def _add_place_arguments(places: argparse.ArgumentParser) -> None:
    places.add_argument(
        "place", metavar="PLACE", nargs="?", default="", help="as slack:T01:C012; without it all that differ"
    )
    places.add_argument(
        "change", metavar="NAME=VALUE", nargs="*", help="as persona='Be kind', citations=off, reset=all"
    )
    options.add_json(places, "[{place, mode, knowledge, language, persona, model, …}]")


def _add_expand_arguments(expand: argparse.ArgumentParser) -> None:
    expand.add_argument("name", metavar="NAME")
    for kind in ("summaries", "questions"):
        expand.add_argument(f"--{kind}", choices=("on", "off"), help="asks first and names the cost")
    expand.add_argument("--again", action="store_true", help="try again what failed")
    confirmation.add_yes(expand)
    options.add_json(expand, "{summaries, questions, made, failed: [{document, passage, kind, reason}]}")


def _add_graph_arguments(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    graph = actions.add_parser("graph", help="names and terms that its passages share: show, switch, build")
    graph.add_argument("name", metavar="NAME")
    graph.add_argument("state", choices=("on", "off", "status"), nargs="?", default="status")
    confirmation.add_yes(graph)
    options.add_json(graph, "{state, by, passages, entities, failed, waiting}")


def _add_synonyms(synonyms: argparse.ArgumentParser) -> None:
    synonyms.add_argument("name", metavar="NAME")
    synonyms.add_argument("--add", metavar='"A = B, C"', help="the first word also means the others")
    synonyms.add_argument("--remove", metavar="A", help="an entry by its first word, or one word of all")
    options.add_json(synonyms, "[[word, ...]]")


def _add_tag_arguments(tag: argparse.ArgumentParser) -> None:
    tag.add_argument("name", metavar="NAME")
    tag.add_argument("document", metavar="DOCUMENT")
    tag.add_argument("--add", action="append", default=[], metavar="TAG", help="may be repeated")
    tag.add_argument("--remove", action="append", default=[], metavar="TAG", help="may be repeated")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if reading := _READING.get(arguments.action):
        return await reading(arguments, settings)
    if arguments.action == "expand":
        from bot.cli.knowledge._kb import expansion

        return await expansion.run(arguments, settings)
    if arguments.action == "graph":
        from bot.cli.knowledge._kb import graph

        return await graph.run(arguments, settings)
    if arguments.action == "settings":
        from bot.cli.knowledge._kb import settings as kb_settings

        return await kb_settings.run(arguments, settings)
    from bot.cli.knowledge._kb import changes  # the engine, which `list` and `show` do without

    return await changes.ACTIONS[arguments.action](arguments, settings)


async def _list(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        rows = [
            _base_row(base, await storage.catalog.records(base.id))
            for base in await storage.catalog.knowledge_bases()
        ]
    if not arguments.json and terminal.console().is_terminal:
        rows = [{**row, "name": console_name(str(row["name"]))} for row in rows]
    _show_rows(
        rows,
        as_json=arguments.json,
        empty="There are no knowledge bases yet: `footnote add PATH` creates one.",
    )
    return 0


async def _show(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        base = find(await storage.catalog.knowledge_bases(), arguments.name)
        records = await storage.catalog.records(base.id)
        if arguments.document:
            records = [document(records, arguments.document, base)]
        if arguments.text:
            for record in records:
                _print_text(await storage.catalog.sections(record.document.id))
            return 0
    _show_rows(
        [_document_row(record) for record in records], as_json=arguments.json, empty=f"{base.name} is empty."
    )
    return 0


async def _synonyms(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        base = find(await storage.catalog.knowledge_bases(), arguments.name)
        synonyms = storage.catalog.synonyms
        if arguments.add is not None:
            await synonyms.add(base.id, [entry_of(arguments.add)])
        if arguments.remove is not None and not await synonyms.remove(base.id, arguments.remove):
            raise UserError(f"“{arguments.remove}” is not a synonym in {base.name}.")
        entries = (await synonyms.read({base.id})).get(base.id, [])
    if arguments.json:
        print(json.dumps(entries, ensure_ascii=False, indent=2))
        return 0
    for first, *others in entries:
        terminal.print_text(f"{first} = {', '.join(others)}")
    if not entries:
        terminal.print_text(f"There are no synonyms in {base.name}.")
    return 0


async def _tag(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        base = find(await storage.catalog.knowledge_bases(), arguments.name)
        record = document(await storage.catalog.records(base.id), arguments.document, base)
        metadata = storage.catalog.metadata
        if arguments.add or arguments.remove:
            await metadata.tag(record.document.id, add=arguments.add, remove=arguments.remove)
        for tag in await metadata.tags(record.document.id):
            print(tag)
    return 0


_READING: dict[str, Callable[[argparse.Namespace, Settings], Awaitable[int]]] = {
    "list": _list,
    "show": _show,
    "synonyms": _synonyms,
    "tag": _tag,
}


def _base_row(base: KnowledgeBase, records: Sequence[DocumentRecord]) -> dict[str, object]:
    ready = [record for record in records if record.state == "ready"]
    return {
        "name": base.name,
        "documents": len(ready),
        "chunks": sum(record.chunks for record in ready),
        "model": base.model,
    }


def _document_row(record: DocumentRecord) -> dict[str, object]:
    return {
        "id": record.document.id,
        "title": record.document.title,
        "media_type": record.document.media_type,
        "state": record.state,
        "reason": record.reason,
        "chunks": record.chunks,
        "pages": record.pages,
    }


def document(records: Sequence[DocumentRecord], reference: str, base: KnowledgeBase) -> DocumentRecord:
    return document_lookup.find(records, reference, base=base.name, show=f"footnote kb show {base.name}")


async def text_at(storage: StorageComponents, document: DocumentId, anchor: str) -> str:
    sections = await storage.catalog.sections(document)
    return " ".join(" ".join(section.text for section in sections if section.anchor == anchor).split())


def _print_text(sections: Sequence[Section]) -> None:
    anchor = None
    for section in sections:
        if section.anchor != anchor:
            anchor = section.anchor
            print(f"\n## {anchor}\n" if anchor else "")
        print(section.text)


def _show_rows(rows: Sequence[dict[str, object]], *, as_json: bool, empty: str) -> None:
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    console = terminal.console()
    if not rows:
        console.print(Text(empty))
        return
    if not console.is_terminal:
        for cells in (rows[0].keys(), *(row.values() for row in rows)):
            print("\t".join(str(cell) for cell in cells))
        return
    if console.width < _NARROW:
        for row in rows:
            console.print(Text(", ".join(f"{name} {value}" for name, value in _shown(row) if value != "")))
        return
    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(value) for _, value in _shown(row)))
    console.print(table)


def _shown(row: dict[str, object]) -> list[tuple[str, str]]:
    return [(name, str(value)[:12] if name == "id" else str(value)) for name, value in row.items()]
