from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot.commands.context import code, known_by_id, paged, reply
from bot.commands.kb import channel_source
from bot.commands.specs import KNOWLEDGE_BASE, kb_command
from bot.messages.refusals import Invalid
from bot.messages.translation import in_language
from bot.port import Option
from rag_engine.sync import interval

if TYPE_CHECKING:
    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import SourceService
    from bot.port import Reply
    from rag_engine.sync.types import SyncedSource

_EXAMPLE: Final = "/kb source add https://docs.example.org/sitemap.xml"
_FAILURES: Final = 3
_LINK: Final = re.compile(r"<?([^\s<>|]+)(?:\|[^>]*)?>?")


async def source(use: CommandContext) -> Reply:
    action, address = use.values.get("action", "list"), use.values.get("address", "")
    name = use.values.get("name", "")
    if action in ("optout", "optin"):
        return await channel_source.opt(use, out=action == "optout")
    if channel_source.is_channel(address) and action in ("add", "run", "remove"):
        return await channel_source.change(use, action, address)
    if action == "add" and not name:
        await use.dependencies.access.check(use.person, use.place, use.directory, act="administer")
        await use.dependencies.audiences.own(use.place)
    known = await use.known(name)
    if action == "list":
        return await _listed(use, known, page=1)
    await use.check_administers(known)
    if action == "add":
        every = use.values.get("every", "")
        return await add_source(
            use,
            known,
            address,
            kind=use.values.get("kind", ""),
            every=interval.interval(every) if every else None,
        )
    chosen = await _chosen(use, known, address)
    if action == "run":
        use.audit("read source", known)
        return reply(use.say("synced_soon", address=code((await _sources(use).run_now(chosen)).address)))

    async def removed(again: CommandContext) -> None:
        await _sources(again).remove(chosen)
        again.audit("remove source", known)

    return channel_source.ask_to_remove(use, known, chosen.address, removed)


async def add_source(
    use: CommandContext,
    known: NamedKnowledgeBase,
    address: str,
    *,
    kind: str = "",
    every: float | None = None,
) -> Reply:
    """The caller has checked that the person administers it."""
    link = _LINK.fullmatch(address.strip())
    sources = _sources(use)
    added = await sources.add(
        known.knowledge_base.id, link[1] if link else address, kind=kind, every_seconds=every, from_chat=True
    )
    use.audit("add source", known)
    said = use.say(
        "synced_added",
        address=code(added.address),
        name=use.called(known),
        every=interval.shown(added.every_seconds),
    )
    use.show(reply(said))
    lines = [said, _line(use, await sources.first_run(added))]
    for entry in await sources.store.unread(added.id, limit=_FAILURES):
        reason = in_language(entry.reason, use.language)
        lines.append(use.say("fact", fact=code(entry.uri), value=reason))
    return reply("\n".join(lines))


async def source_lines(use: CommandContext, known: NamedKnowledgeBase) -> list[str]:
    if use.dependencies.sources is None:
        return []
    synced = await use.dependencies.sources.store.all(known.knowledge_base.id)
    return [*(_line(use, each) for each in synced), *await channel_source.lines(use, known)]


async def _listed(use: CommandContext, known: NamedKnowledgeBase, *, page: int) -> Reply:
    lines = await source_lines(use, known)
    if not lines:
        return reply(use.say("synced_none", name=use.called(known), usage=_EXAMPLE))
    heading = use.say("synced_heading", name=use.called(known))
    return paged(use, heading, lines, page=page, value=f"source:{known.knowledge_base.id}")


async def turn_page(use: CommandContext, identity: str, page: int) -> Reply:
    return await _listed(use, await known_by_id(use, identity), page=page)


async def _chosen(use: CommandContext, known: NamedKnowledgeBase, reference: str) -> SyncedSource:
    link = _LINK.fullmatch(reference.strip())
    wanted = link[1] if link else reference.strip()
    found = [
        each
        for each in await _sources(use).store.all(known.knowledge_base.id)
        if wanted in (str(each.id), each.address)
    ]
    if len(found) != 1:
        raise Invalid("synced_which")
    return found[0]


def _sources(use: CommandContext) -> SourceService:
    if use.dependencies.sources is None:
        raise Invalid("no_such_command")
    return use.dependencies.sources


def _line(use: CommandContext, each: SyncedSource) -> str:
    if each.state == "running":
        state = use.say("synced_running")
    elif each.error:
        state = use.say("synced_failed", reason=in_language(each.error, use.language))
    elif each.ran_at is None:
        state = use.say("synced_waiting")
    else:
        counts = each.counts
        state = use.say(
            "synced_read",
            count=each.entries,
            new=counts.new,
            changed=counts.changed,
            gone=counts.gone,
            failed=counts.failed,
        )
    state = use.say("synced_every", state=state, every=interval.shown(each.every_seconds))
    return f"- {each.id}. {use.say('fact', fact=code(each.address), value=state)}"


COMMANDS = (
    kb_command(
        "source",
        "Web pages, channels and other sources that I keep reading: list them, add, read or remove one",
        Option(
            name="action",
            description="Add, read or remove one, leave out your messages (optout); empty: list them",
            choices=("list", "add", "run", "remove", "optout", "optin"),
        ),
        Option(
            name="address", description="A web page, sitemap, feed or #channel; or the number of a source"
        ),
        Option(name="every", description="How often I read it: 30m, 6h, 1d", named=True),
        Option(name="kind", description="page, site or feed; empty: as the address looks", named=True),
        replace(KNOWLEDGE_BASE, named=True),
        position=155,
        summary="command_kb_source",
        execute=source,
        turn_page=turn_page,
    ),
)
