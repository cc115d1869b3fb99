"""What is searched outside the files. A question not addressed to us leaves no trace there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.access.permissions import answer_or_none
from bot.port import ChatError
from rag_engine.errors import Unavailable
from rag_engine.retrieval.found_messages import FoundMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from bot.conversation.turn.context import TurnContext, TurnOptions
    from bot.port import ChannelMessage
    from bot.store.places import WebPolicy
    from rag_engine.retrieval.found_messages import FindMessages
    from rag_engine.types import WebUse

    LeaveOut = Callable[[str, Collection[str]], Awaitable[set[str]]]
    """Of a platform's people, those who want to be left out."""


_WEB_USES: dict[WebPolicy, WebUse] = {"off": "never", "ask": "on_request", "auto": "if_nothing"}


def web_use(options: TurnOptions) -> WebUse:
    return "never" if options.unprompted else _WEB_USES[options.settings.web]


def message_search(context: TurnContext, leave_out: LeaveOut) -> FindMessages | None:
    """Of messages whose channel everyone who reads the answer may read."""
    options, room = context.options, context.room
    if options.unprompted or options.settings.messages == "off" or not room.finds_messages:
        return None

    async def find(question: str, limit: int) -> Sequence[FoundMessage]:
        try:
            found = await room.find_messages(question, limit=limit)
        except ChatError as error:
            raise Unavailable(str(error), backend="chat", reason="failed") from error
        channels = list({each.channel for each in found})
        checked = await asyncio.gather(*(_is_open(each, context) for each in channels))
        allowed = {each for each, is_open in zip(channels, checked, strict=True) if is_open}
        platform = context.recorder.turn.place.platform
        left_out = await leave_out(platform, {each.person.id for each in found})
        return [_found(each) for each in found if each.channel in allowed and each.person.id not in left_out]

    return find


async def _is_open(channel: str, context: TurnContext) -> bool:
    """Public, and read by all who read the reply; not if the platform does not say so."""
    turn, directory = context.recorder.turn, context.room.directory
    info = await answer_or_none(directory.channel(channel))
    if info is None or info.kind != "public":
        return False
    here = await answer_or_none(directory.channel(turn.place.channel))
    if here is None:
        return False
    if turn.private or here.kind == "direct":
        may = directory.may_read(channel, person=turn.person.id)
    else:
        may = directory.may_read(channel, everyone_in=turn.place.channel)
    return bool(await answer_or_none(may))


def _found(message: ChannelMessage) -> FoundMessage:
    return FoundMessage(
        uri=message.uri,
        title=f"#{message.channel_name.removeprefix('#') or message.channel}",
        author=message.person.name or message.person.id,
        text=message.text,
        at=message.at,
    )
