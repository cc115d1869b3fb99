"""Pages of a channel's history, read in the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from adapters.slack.api import call_api, next_cursor
from adapters.slack.incoming.message_reader import is_written
from bot.port import HistoryPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.incoming.message_reader import MessageReader
    from bot.port import Fields, IncomingMessage

_PAGE_SIZE: Final = 200


async def channel_page(reader: MessageReader, channel: str, *, cursor: str, until: str) -> HistoryPage:
    context = reader.context
    await context.history_pace.turn()
    page = await call_api(
        "conversations.history",
        context.read_client.conversations_history(
            channel=channel, latest=cursor or None, oldest=until or None, limit=_PAGE_SIZE
        ),
    )
    raw = page.need_objects("messages")
    seen = [each.text("ts") for each in raw if each.text("ts")]
    return HistoryPage(
        messages=await _read(reader, channel, raw),
        seen=tuple(seen),
        threads=tuple(each.text("ts") for each in raw if each.number("reply_count")),
        cursor=min(seen) if seen and _continues(page) else "",
    )


async def thread_page(reader: MessageReader, channel: str, *, thread: str, cursor: str) -> HistoryPage:
    """Slack repeats the first message per page."""
    context = reader.context
    await context.history_pace.turn()
    page = await call_api(
        "conversations.replies",
        context.read_client.conversations_replies(
            channel=channel, ts=thread, oldest=cursor or None, limit=_PAGE_SIZE
        ),
    )
    raw = page.need_objects("messages")
    seen = [each.text("ts") for each in raw if each.text("ts")]
    return HistoryPage(
        messages=await _read(reader, channel, raw),
        seen=tuple(seen),
        cursor=max(seen) if len(seen) > 1 and _continues(page) else "",
    )


def _continues(page: Fields) -> bool:
    return page.flag("has_more") or bool(next_cursor(page))


async def _read(reader: MessageReader, channel: str, raw: Sequence[Fields]) -> tuple[IncomingMessage, ...]:
    """People first, one by one: a page may have two hundred."""
    people = dict.fromkeys(each.text("user") for each in raw if is_written(each) and not each.text("bot_id"))
    for person in people:
        if person and person not in reader.context.known_people:
            await reader.context.people_pace.turn()
            await reader.directory.person(person)
            reader.context.known_people.add(person)
    read = await asyncio.gather(
        *(reader.read_if_readable(each, channel=channel, direct=False) for each in raw)
    )
    return tuple(each for each in read if each is not None)
