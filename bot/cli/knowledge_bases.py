"""`footnote kb`: administer knowledge bases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import compose, documents, reindexing
from bot.access import find
from bot.cli import waiting
from bot.cli.asking import confirmed
from bot.keeping import contents
from bot.patience import patient
from rag_engine import archive

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from bot.settings import Settings
    from rag_engine.types import DocumentRecord, KnowledgeBase, Section


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do one action."""
    return await _ACTIONS[arguments.action](arguments, settings)


async def _list(arguments: argparse.Namespace, settings: Settings) -> int:
    async with compose.storage(settings) as storage:
        rows = [
            _base_row(base, await storage.catalog.records(base.id))
            for base in await storage.catalog.knowledge_bases()
        ]
    _show_rows(
        rows, as_json=arguments.json, empty="There are no knowledge bases yet: `footnote add PATH` makes one."
    )
    return 0


async def _show(arguments: argparse.Namespace, settings: Settings) -> int:
    async with compose.storage(settings) as storage:
        base = find(await storage.catalog.knowledge_bases(), arguments.name)
        records = await storage.catalog.records(base.id)
        if arguments.document:
            records = [_document(records, arguments.document, base)]
        if arguments.text:
            for record in records:
                _print_text(await storage.catalog.sections(record.document.id))
            return 0
    _show_rows(
        [_document_row(record) for record in records], as_json=arguments.json, empty=f"{base.name} is empty."
    )
    return 0


async def _remove(arguments: argparse.Namespace, settings: Settings) -> int:
    async with compose.library(settings) as library:
        base = find(await library.catalog.knowledge_bases(), arguments.name)
        record = None
        if arguments.document:
            record = _document(await library.catalog.records(base.id), arguments.document, base)
        what = (
            f"{record.document.title} from {base.name}"
            if record
            else f"the knowledge base {base.name} and all in it"
        )
        if not arguments.yes and not await confirmed(f"Remove {what}?"):
            print("Nothing was removed.")
            return 1
        done = await library.forget(base.id, record.document.id if record else None)
    print(
        f"Removed {what}. Answers that were made from it are kept until `footnote forget document` or their time is over."
    )
    if not done:
        print(
            "The index does not answer: no question finds it any more, and it is gone when `footnote run` or the next "
            "`footnote add` reaches the index."
        )
    return 0


async def _reindex(arguments: argparse.Namespace, settings: Settings) -> int:
    console = Console(highlight=False)

    def progress(record: DocumentRecord) -> None:
        console.print(Text(record.document.title, style="dim"))

    with patient(waiting.patience(settings, console)):
        if arguments.name and not arguments.all:
            async with compose.library(settings) as library:
                base = find(await library.catalog.knowledge_bases(), arguments.name)
                count, resumed = await reindexing.reindex(library, [base], progress), 0
        else:
            rebuilt = await reindexing.rebuild(settings, progress)
            count, resumed = rebuilt.documents, rebuilt.resumed
    done = "1 document was" if count == 1 else f"{count} documents were"
    earlier = f", {resumed} of them by an earlier run that was interrupted" if resumed else ""
    console.print(Text(f"{done} split and embedded again{earlier}."), soft_wrap=True)
    return 0


async def _export(arguments: argparse.Namespace, settings: Settings) -> int:
    contents.of(settings).spare(arguments.file)
    async with compose.library(settings) as library:
        base = find(await library.catalog.knowledge_bases(), arguments.name)
        exported = await archive.export(
            base, arguments.file, library=library.catalog, contents=library.index, identity=library.identity
        )
    print(
        f"{base.name}: {exported.documents} documents with {exported.chunks} passages are in {arguments.file}."
    )
    return 0


async def _import(arguments: argparse.Namespace, settings: Settings) -> int:
    with patient(waiting.patience(settings, Console(highlight=False))):
        async with compose.library(settings) as library:
            imported = await archive.import_(
                arguments.file,
                name=arguments.name,
                catalog=library.catalog,
                documents=library.catalog,
                index=library.index,
                identity=library.identity,
            )
    print(f"{imported.name}: {imported.documents} documents with {imported.chunks} passages were taken in.")
    return 0


_ACTIONS: dict[str, Callable[[argparse.Namespace, Settings], Awaitable[int]]] = {
    "list": _list,
    "show": _show,
    "remove": _remove,
    "reindex": _reindex,
    "export": _export,
    "import": _import,
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


def _document(records: Sequence[DocumentRecord], wanted: str, base: KnowledgeBase) -> DocumentRecord:
    return documents.find(records, wanted, base=base.name, show=f"footnote kb show {base.name}")


def _print_text(sections: Sequence[Section]) -> None:
    """The text as it was read: a heading line where the anchor changes."""
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
    console = Console(highlight=False)
    if not rows:
        console.print(Text(empty))
        return
    if not console.is_terminal:
        for cells in (rows[0].keys(), *(row.values() for row in rows)):
            print("\t".join(str(cell) for cell in cells))
        return
    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(str(value)[:12] if name == "id" else str(value)) for name, value in row.items()))
    console.print(table)
