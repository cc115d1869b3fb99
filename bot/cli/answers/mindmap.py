"""`footnote mindmap`: the headings of a document as a list and a picture."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bot.access import document_lookup
from bot.access.permissions import all_of, find
from bot.composition import application
from bot.composition.language_models import language_model
from bot.composition.model_chain import model_choices, with_tasks
from bot.composition.storage import storage as open_storage
from bot.observability import Observers
from bot.rendering import printable
from rag_engine.errors import UserError
from rag_engine.mind_maps import picture
from rag_engine.summaries.mind_map import TASK, MindMaps

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings

EXAMPLE = "footnote mindmap handbook.pdf --to handbook.png"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", metavar="DOCUMENT", help="its title, its id or the beginning of the id")
    parser.add_argument(
        "--kb", metavar="NAME", default="", help="the knowledge base it is in (all are searched by default)"
    )
    parser.add_argument("--to", metavar="FILE.png", type=Path, help="where to write the picture")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    async with open_storage(settings) as storage:
        known = await all_of(storage.catalog)
        bases = [find(known, arguments.kb)] if arguments.kb else known
        records = [record for base in bases for record in await storage.catalog.records(base.id)]
        record = document_lookup.find(
            records, arguments.document, base=arguments.kb or "all knowledge bases", show="footnote kb show"
        )
        sections = await storage.catalog.sections(record.document.id)
    async with AsyncExitStack() as stack:
        found = await (await _maps(settings, stack)).of_document(record.document.title, sections)
    if found is None:
        raise UserError(f"{printable(record.document.title)} has no headings, so there is nothing to draw.")
    print(found.outline(literal=printable).replace("**", ""))
    if found.left_out:
        print(f"\n{found.left_out} more headings are left out.")
    if arguments.to:
        content = await asyncio.to_thread(picture.png, found)
        try:
            await asyncio.to_thread(arguments.to.write_bytes, content)
        except OSError as error:
            raise UserError(f"{arguments.to} cannot be written: {error.strerror}.") from error
    return 0


async def _maps(settings: Settings, stack: AsyncExitStack) -> MindMaps:
    if TASK not in settings.tasks:
        return MindMaps()
    library = await stack.enter_async_context(application.library(settings))
    _, own = with_tasks(settings, model_choices(settings)[:-1])
    return MindMaps(model=await stack.enter_async_context(language_model(own[TASK], library, Observers())))
