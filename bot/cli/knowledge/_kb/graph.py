"""`footnote kb graph`: names and terms that passages share."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from bot.access.permissions import find
from bot.cli._shared import confirmation, terminal, wait_notice
from bot.composition import application
from bot.composition.layers.graph import build_graphs, graph_cost, has_model
from bot.resilience.retry import patient
from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.ingestion.graph.builder import GraphReport
    from rag_engine.types import DocumentRecord, KnowledgeBase, KnowledgeBaseId


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    asks = arguments.state == "on" and has_model(settings)
    if asks and not confirmation.is_possible(arguments):
        return confirmation.EXIT_UNCONFIRMED
    console = terminal.console()
    with patient(wait_notice.patience(settings, console)):
        async with application.library(settings) as library:
            base = find(await library.catalog.knowledge_bases(), arguments.name)
            store = library.catalog.graph
            if arguments.state == "off":
                await store.switch(base.id, None)
            elif arguments.state == "on":
                if asks and not await _is_wanted(arguments, settings, library, base, console):
                    print("Nothing was changed.")
                    return 1
                await store.switch(base.id, "model" if asks else "rules")
            await make(settings, library, base.id, console)
            source, counts = await store.source(base.id), await store.counts(base.id)
    if arguments.json:
        print(
            json.dumps({"state": "on" if source else "off", "by": source or "", **asdict(counts)}, indent=2)
        )
        return 0
    by = f", by {source}" if source else ""
    terminal.print_text(
        f"{base.name}: graph {'on' if source else 'off'}{by}; passages read: {counts.passages}, entities: {counts.entities},"
        f" files waiting: {counts.waiting}, failed: {counts.failed}"
    )
    return 0


async def _is_wanted(
    arguments: argparse.Namespace,
    settings: Settings,
    library: IndexingComponents,
    base: KnowledgeBase,
    console: Console,
) -> bool:
    cost = await graph_cost(settings, library, base.id)
    if cost is None or not cost.calls:
        return True
    console.print(
        Text(
            f"The graph of {base.name}: about {cost.calls:,} calls of the language model with {cost.prompt_tokens:,} tokens, and"
            f" {cost.reply_tokens:,} tokens of replies."
        )
    )
    return await confirmation.confirmed("Build it?", arguments)


async def make(
    settings: Settings,
    library: IndexingComponents,
    knowledge_base: KnowledgeBaseId | None,
    console: Console,
) -> None:
    def progress(record: DocumentRecord, report: GraphReport) -> None:
        if report.failed:
            line = f"{record.document.title}: {report.failed} passages were not read by the language model"
            console.print(Text(line, style="dim"))

    try:
        await build_graphs(settings, library, knowledge_base, progress)
    except Unavailable as error:
        console.print(Text(f"The graph waits: {error}"))
