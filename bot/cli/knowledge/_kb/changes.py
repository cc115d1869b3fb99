from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from bot.access.permissions import find
from bot.cli._shared import confirmation, terminal, wait_notice
from bot.cli.knowledge import kb
from bot.cli.knowledge._kb import expansion, graph
from bot.composition import application, exports
from bot.maintenance import data_files
from bot.maintenance.reindex import rebuild
from bot.resilience.retry import patient
from rag_engine import archive

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable

    from bot.settings import Settings
    from rag_engine.types import DocumentRecord


async def _remove(arguments: argparse.Namespace, settings: Settings) -> int:
    if not confirmation.is_possible(arguments):
        return confirmation.EXIT_UNCONFIRMED
    async with application.library(settings) as library:
        base = find(await library.catalog.knowledge_bases(), arguments.name)
        record = None
        if arguments.document:
            record = kb.document(await library.catalog.records(base.id), arguments.document, base)
        what = (
            f"{record.document.title} from {base.name}"
            if record
            else f"the knowledge base {base.name} and everything in it"
        )
        if not await confirmation.confirmed(f"Remove {what}?", arguments):
            print("Nothing was removed.")
            return 1
        done = await library.forget(base.id, record.document.id if record else None)
    terminal.print_text(
        f"Removed {what}. Answers made from it stay stored until `footnote forget document` or the end of their retention."
    )
    if not done:
        terminal.print_text(
            "The search index does not answer: questions no longer find this, and `footnote run` or the next `footnote add` "
            "deletes it when the index is back."
        )
    return 0


async def _reindex(arguments: argparse.Namespace, settings: Settings) -> int:
    console = terminal.console()

    def progress(record: DocumentRecord) -> None:
        console.print(Text(record.document.title, style="dim"))

    with patient(wait_notice.patience(settings, console)):
        if arguments.name and not arguments.all:
            async with application.library(settings) as library:
                base = find(await library.catalog.knowledge_bases(), arguments.name)
                count, resumed = await library.reindex([base], progress), 0
                await expansion.make(settings, library, base.id, console)
                await graph.make(settings, library, base.id, console)
        else:
            rebuilt = await rebuild(settings, progress)
            count, resumed = rebuilt.documents, rebuilt.resumed
            async with application.library(settings) as library:
                await library.catalog.expansions.queue()
                await expansion.make(settings, library, None, console)
                await library.catalog.graph.queue()
                await graph.make(settings, library, None, console)
    done = "1 document was" if count == 1 else f"{count} documents were"
    earlier = f", {resumed} of them by an earlier, interrupted run" if resumed else ""
    console.print(Text(f"{done} split and embedded again{earlier}."))
    return 0


async def _export(arguments: argparse.Namespace, settings: Settings) -> int:
    data_files.of(settings).spare(arguments.file)
    async with application.library(settings) as library:
        base = find(await library.catalog.knowledge_bases(), arguments.name)
        exported = await exports.export(library, base, arguments.file)
    print(
        f"{base.name}: {exported.documents} documents with {exported.chunks} passages are in {arguments.file}."
    )
    return 0


async def _import(arguments: argparse.Namespace, settings: Settings) -> int:
    with patient(wait_notice.patience(settings, terminal.console())):
        async with application.library(settings) as library:
            imported = await archive.import_(
                arguments.file,
                name=arguments.name,
                catalog=library.catalog,
                documents=library.catalog,
                index=library.index,
                identity=library.identity,
                synonyms=library.catalog.synonyms,
                metadata=library.catalog.metadata,
                expansions=library.catalog.expansions,
                tables=library.tables,
                verified=library.catalog.verified,
            )
            await expansion.make(settings, library, None, terminal.console())
    print(f"{imported.name}: {imported.documents} documents with {imported.chunks} passages were imported.")
    return 0


ACTIONS: dict[str, Callable[[argparse.Namespace, Settings], Awaitable[int]]] = {
    "remove": _remove,
    "reindex": _reindex,
    "export": _export,
    "import": _import,
}
