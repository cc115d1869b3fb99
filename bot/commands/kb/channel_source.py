"""`/kb source` for channels."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from bot.access.permissions import answer_or_none
from bot.commands.context import code, reply
from bot.messages.refusals import Invalid, Refusal
from bot.store.channel_sources import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.access.audience import NamedKnowledgeBase
    from bot.commands.context import CommandContext
    from bot.commands.dependencies import ChannelSourceService, Show
    from bot.port import Place, Reply, Room
    from bot.store.channel_sources import ChannelSource

_MENTION: Final = re.compile(r"<#([^|>\s]+)(?:\|[^>]*)?>")
_NUMBER: Final = re.compile(r"c(\d+)", re.IGNORECASE)
_CHANNELS: Final = ("public", "private")


def is_channel(address: str) -> bool:
    text = address.strip()
    return bool(_MENTION.fullmatch(text) or _NUMBER.fullmatch(text)) or text.startswith("#")


async def change(use: CommandContext, action: str, address: str) -> Reply:
    if action == "add":
        return await _add(use, address)
    known = await use.known(use.values.get("name", ""))
    await use.check_administers(known)
    act = _read_again if action == "run" else _remove
    return await act(use, known, await _chosen(use, known, address))


async def _add(use: CommandContext, address: str) -> Reply:
    place, name = await _place(use, address)
    await _check(use, place)
    label = use.values.get("name", "")
    own = await use.dependencies.audiences.own(place)
    known = await use.known(label or f"<#{place.channel}>")
    if known.audience is None or known.audience.place != place or (not label and known.knowledge_base != own):
        raise Invalid("channel_other_base", channel=code(name), name=use.called(known))
    channels = _channels(use)
    if await channels.sources.add(known.knowledge_base.id, place, name=name, asked=use.command) is None:
        raise Invalid("channel_known", channel=code(name))
    channels.hurry()
    use.audit("add channel source", known)
    return reply(use.say("channel_added", channel=code(name), name=use.called(known)))


async def _read_again(use: CommandContext, known: NamedKnowledgeBase, source: ChannelSource) -> Reply:
    await _channels(use).sources.read_again(source)
    _channels(use).hurry()
    use.audit("read channel source", known)
    return reply(use.say("synced_soon", address=code(source.name)))


async def _remove(use: CommandContext, known: NamedKnowledgeBase, source: ChannelSource) -> Reply:
    async def removed(again: CommandContext) -> None:
        await _channels(again).remove(source)
        again.audit("remove channel source", known)

    return ask_to_remove(use, known, source.name, removed)


def ask_to_remove(
    use: CommandContext,
    known: NamedKnowledgeBase,
    address: str,
    remove: Callable[[CommandContext], Awaitable[None]],
) -> Reply:
    """Permissions are checked again when the question is answered."""

    async def confirmed(room: Room, show: Show) -> Reply:
        again = replace(use, room=room, show=show)
        await again.check_administers(known)
        await remove(again)
        return reply(use.say("synced_removed", address=code(address), name=use.called(known)))

    question = use.say("synced_remove_question", address=code(address), name=use.called(known))
    return use.ask(question, label=use.say("remove"), confirmed=confirmed)


async def opt(use: CommandContext, *, out: bool) -> Reply:
    channels = _channels(use)
    if out:
        await channels.opt_out(use.place.platform, use.person.id)
    else:
        await channels.sources.opt_in(use.place.platform, use.person.id)
    use.audit("opt out of channel sources" if out else "opt in to channel sources")
    return reply(use.say("channel_opted_out" if out else "channel_opted_in"))


async def lines(use: CommandContext, known: NamedKnowledgeBase) -> list[str]:
    if use.dependencies.channels is None:
        return []
    sources = await use.dependencies.channels.sources.all(known.knowledge_base.id)
    return [await _line(use, use.dependencies.channels, each) for each in sources]


async def _line(use: CommandContext, channels: ChannelSourceService, source: ChannelSource) -> str:
    progress = await channels.sources.progress(source)
    if progress.oldest is None:
        state = use.say("synced_waiting")
    else:
        day = datetime.fromtimestamp(progress.oldest, UTC).date().isoformat()
        state = use.say("channel_read", count=progress.messages, day=day)
    if source.error:
        reason = use.say("channel_unreadable") if source.error == UNREADABLE else source.error
        state = use.say("synced_failed", reason=reason)
    elif progress.is_reading:
        state = use.say("channel_reading", state=state)
    if progress.unreadable_files:
        state = use.say("channel_unread_files", state=state, count=progress.unreadable_files)
    return f"- c{source.id}. {use.say('fact', fact=code(source.name), value=state)}"


async def _place(use: CommandContext, address: str) -> tuple[Place, str]:
    mention = _MENTION.fullmatch(address.strip())
    if mention is None:
        raise Invalid("name_unpicked", name=code(address))
    channel = await answer_or_none(use.directory.channel(mention[1]))
    if channel is None:
        raise Refusal("channel_unknown", reason=use.cause)
    if channel.kind not in _CHANNELS:
        raise Invalid("channel_few")
    name = f"#{channel.name.removeprefix('#')}" if channel.name else mention[1]
    return replace(use.place.parent, channel=mention[1]), name


async def _check(use: CommandContext, place: Place) -> None:
    access = use.dependencies.access
    await access.check_present(use.person, place, use.directory)
    await access.check_administers(use.person, place, use.directory)


async def _chosen(use: CommandContext, known: NamedKnowledgeBase, address: str) -> ChannelSource:
    address = address.strip()
    mention, number = _MENTION.fullmatch(address), _NUMBER.fullmatch(address)
    for source in await _channels(use).sources.all(known.knowledge_base.id):
        is_mentioned = mention and source.place.channel == mention[1]
        if is_mentioned or (number and source.id == int(number[1])) or source.name == address:
            return source
    raise Invalid("synced_which")


def _channels(use: CommandContext) -> ChannelSourceService:
    if use.dependencies.channels is None:
        raise Invalid("no_such_command")
    return use.dependencies.channels
