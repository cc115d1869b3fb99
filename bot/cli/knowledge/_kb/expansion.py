"""`footnote kb expand`: summaries of passages and questions that they answer, made by a language model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rich.text import Text

from bot.access.permissions import find
from bot.cli._shared import confirmation, terminal, wait_notice
from bot.composition import application
from bot.composition.layers.expansion import estimate, expand
from bot.resilience.retry import patient
from rag_engine.errors import BadSettings, Unavailable

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.expansion.types import ExpansionReport
    from rag_engine.types import DocumentRecord, Expansion, KnowledgeBase, KnowledgeBaseId

KINDS: Final[dict[Expansion, str]] = {"summary": "summaries", "question": "questions"}


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    changes = any(getattr(arguments, name) == "on" for name in KINDS.values())
    if changes and not confirmation.is_possible(arguments):
        return confirmation.EXIT_UNCONFIRMED
    console = terminal.console()
    with patient(wait_notice.patience(settings, console)):
        async with application.library(settings) as library:
            base = find(await library.catalog.knowledge_bases(), arguments.name)
            before = await _kinds(library, base)
            wanted: set[Expansion] = {
                kind
                for kind, name in KINDS.items()
                if (getattr(arguments, name) or ("on" if kind in before else "off")) == "on"
            }
            if wanted - before:
                cost = await estimate(settings, library, base.id, tuple(wanted))
                question = (
                    f"{' and '.join(KINDS[kind] for kind in sorted(wanted - before))} of the passages in {base.name}: about"
                    f" {cost.calls:,} calls of the language model with {cost.prompt_tokens:,} tokens, and"
                    f" {cost.reply_tokens:,} tokens of replies."
                )
                console.print(Text(question[0].upper() + question[1:]))
                if not await confirmation.confirmed("Make them?", arguments):
                    print("Nothing was changed.")
                    return 1
            if wanted != before:
                await library.catalog.expansions.switch(base.id, wanted)
            elif arguments.again:
                await library.catalog.expansions.queue(base.id)
            await make(settings, library, base.id, console)
            await _show(library, base, as_json=arguments.json)
    return 0


async def make(
    settings: Settings,
    library: IndexingComponents,
    knowledge_base: KnowledgeBaseId | None,
    console: Console,
) -> None:
    """What waits; an outage leaves it waiting."""

    def progress(record: DocumentRecord, report: ExpansionReport) -> None:
        line = f"{record.document.title}: {report.made} made, {report.failed} failed"
        console.print(Text(line, style="dim"))

    try:
        await expand(settings, library, knowledge_base, progress)
    except (BadSettings, Unavailable) as error:
        console.print(Text(f"Summaries and questions of passages wait: {error}"))


async def _kinds(library: IndexingComponents, base: KnowledgeBase) -> set[Expansion]:
    return {*await library.catalog.expansions.enabled([base.id])}


async def _show(library: IndexingComponents, base: KnowledgeBase, *, as_json: bool) -> None:
    kinds = await _kinds(library, base)
    counts = await library.catalog.expansions.counts(base.id)
    failures = await library.catalog.expansions.failures(base.id)
    if as_json:
        found: dict[str, object] = {name: "on" if kind in kinds else "off" for kind, name in KINDS.items()}
        found["made"] = sum(made for made, _ in counts.values())
        found["failed"] = [
            {
                "document": record.document.title,
                "passage": made.passage,
                "kind": made.kind,
                "reason": made.failure,
            }
            for record, made in failures
        ]
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for kind, name in KINDS.items():
        made, failed = counts.get(kind, (0, 0))
        terminal.print_text(
            f"{name}: {'on' if kind in kinds else 'off'}, {made} passages have them, {failed} failed"
        )
    for record, made in failures:
        terminal.print_text(
            f"  {record.document.title}, passage {made.passage + 1}, {made.kind}: {made.failure}"
        )
