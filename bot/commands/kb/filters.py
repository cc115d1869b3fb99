from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bot.access import document_lookup
from bot.commands.context import code, reply
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.port import Option
from rag_engine.errors import InvalidFilter
from rag_engine.metadata.conditions import MOST_CONDITIONS, described, filter_of

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.port import Reply
    from bot.store.places import PlaceSettings


async def filter_(use: CommandContext) -> Reply:
    places = use.dependencies.places
    text, change = use.values.get("filter", ""), use.values.get("change", "add")
    if not text and change != "clear":
        return _shown(use, await places.settings(use.place))
    await use.dependencies.access.check(use.person, use.place, use.directory, act="administer")
    changed = await places.change(use.place, partial(_changed, change=change, text=text))
    use.audit("filter")
    return _shown(use, changed)


async def tag(use: CommandContext) -> Reply:
    known = await use.known(use.values.get("name", ""))
    records = await use.dependencies.library.records(known.knowledge_base.id)
    record = document_lookup.find(
        records, use.values["document"], base=use.called(known), show="/kb show", quoted=code
    )
    add, remove = _listed(use, "add"), _listed(use, "remove")
    if add or remove:
        await use.check_administers(known)
        await use.dependencies.metadata.tag(record.document.id, add=add, remove=remove)
        use.audit("tag", known)
    tags = await use.dependencies.metadata.tags(record.document.id)
    title = code(record.document.title)
    if not tags:
        return reply(use.say("tags_none", title=title))
    return reply(use.say("tags_of", title=title, tags=", ".join(map(code, tags))))


def _changed(settings: PlaceSettings, *, change: str, text: str) -> PlaceSettings:
    saved = settings.filter.splitlines()
    if change == "clear":
        saved = []
    elif change == "remove":
        gone = {text, _normal(text)}
        saved = [line for line in saved if line not in gone]
    else:
        saved = list(dict.fromkeys([*saved, described([filter_of(text)])]))[-MOST_CONDITIONS:]
    return replace(settings, filter="\n".join(saved))


def _shown(use: CommandContext, settings: PlaceSettings) -> Reply:
    saved = settings.filter.splitlines()
    if not saved:
        return reply(use.say("filter_none"))
    return reply(use.say("filter_saved", filter=", ".join(map(code, saved))))


def _normal(text: str) -> str:
    try:
        return described([filter_of(text)])
    except InvalidFilter:
        return text


def _listed(use: CommandContext, name: str) -> list[str]:
    return [tag for tag in (part.strip() for part in use.values.get(name, "").split(",")) if tag]


COMMANDS = (
    kb_command(
        "tag",
        "The tags of a document: show, add, remove",
        Option(name="document", description="The document: its title or id", required=True),
        Option(name="add", description="Tags to add, with commas between them"),
        Option(name="remove", description="Tags to remove, with commas between them"),
        KNOWLEDGE_BASE,
        position=165,
        summary="command_kb_tag",
        execute=tag,
    ),
    kb_command(
        "filter",
        "The filter of this channel: show it, add to it, remove from it",
        Option(
            name="filter",
            description="Only files with this: type:pdf, or year >= 2024 and author contains anna",
        ),
        Option(
            name="change",
            description="Add the filter (without this), remove it as it is shown, or clear all",
            choices=("add", "remove", "clear"),
        ),
        position=195,
        summary="command_kb_filter",
        execute=filter_,
    ),
)
