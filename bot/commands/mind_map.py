from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bot.access import document_lookup
from bot.commands.context import code, reply
from bot.commands.specs import KNOWLEDGE_BASE, SlashCommand
from bot.port import CommandSpec, File, Option
from bot.rendering.literal import literal
from rag_engine.mind_maps import picture
from rag_engine.parsing.media_types import shown
from rag_engine.text.place_names import place_in_language

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply
    from rag_engine.mind_maps.tree import MindMap
    from rag_engine.types import DocumentRecord

_FILE_NAME: Final = re.compile(r"[^\w.-]+")


async def draw(use: CommandContext) -> Reply:
    """Of a document or answers that the person may read here; they alone see it."""
    if "document" not in use.values:
        return await _answers(use)
    record = await _document(use)
    sections = await use.dependencies.library.sections(record.document.id)
    title = shown(record.document.title)
    found = await use.dependencies.mind_maps.of_document(record.document.title, sections)
    if found is None:
        return reply(use.say("mind_map_none", title=code(title)))
    return await _drawn(use, found, title)


async def _answers(use: CommandContext) -> Reply:
    thread = use.values.get("of") == "thread"
    answers = await use.dependencies.shown_answers(use.place, use.person, use.room, thread=thread)
    found = await use.dependencies.mind_maps.of_answers(answers)
    if found is None:
        return reply(use.say("mind_map_no_answer"))
    place = partial(place_in_language, language=use.language)
    sources = [
        f"\\[{number}\\] " + literal(" – ".join(filter(None, (shown(title), place(where)))))
        for number, (title, where) in enumerate(found.sources, 1)
    ]
    return await _drawn(use, found.map, found.map.root.label, "\n".join(sources))


async def _drawn(use: CommandContext, found: MindMap, title: str, sources: str = "") -> Reply:
    place = partial(place_in_language, language=use.language)
    text = found.outline(place=place, literal=literal)
    if found.left_out:
        text += f"\n\n{use.say('mind_map_cut', count=found.left_out)}"
    file = File(
        name=f"{_FILE_NAME.sub('-', title).strip('-.') or 'document'}-map.png",
        media_type="image/png",
        content=await asyncio.to_thread(picture.png, found, place=place),
        description=use.say("mind_map_described", title=title),
    )
    return replace(reply(f"{text}\n\n{sources}" if sources else text), files=(file,))


async def _document(use: CommandContext) -> DocumentRecord:
    name = use.values.get("name", "")
    bases = [await use.known(name)] if name else await use.readable(others=())
    records = [
        record
        for base in bases
        for record in await use.dependencies.library.records(base.knowledge_base.id)
        if record.state == "ready"
    ]
    where = use.called(bases[0]) if len(bases) == 1 else use.say("all_files_here")
    return document_lookup.find(records, use.values["document"], base=where, show="/kb show", quoted=code)


COMMANDS = (
    SlashCommand(
        position=17,
        summary="command_mindmap",
        spec=CommandSpec(
            name="mindmap",
            description="The headings of a file, or my answers here, as a picture and a list; only you see it",
            options=(
                Option(
                    name="document", description="The file: its title or id; empty: my last answer to you"
                ),
                KNOWLEDGE_BASE,
                Option(
                    name="of",
                    description="Without a file: my last answer, or all in this conversation",
                    choices=("answer", "thread"),
                    named=True,
                ),
            ),
        ),
        execute=draw,
    ),
)
