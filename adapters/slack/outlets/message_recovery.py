"""Finds messages with unconfirmed creation: none is posted twice."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from adapters.slack.api import call_api
from adapters.slack.incoming.message_reader import is_ours

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from adapters.slack.context import SlackContext
    from bot.port import Fields, Place

_EVENT_TYPE = "footnote_message"
_MOST_MESSAGES = 50
_MOST_REMEMBERED = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedMessages:
    """Open streams carry no mark."""

    _messages: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    _locks: WeakValueDictionary[Place, asyncio.Lock] = field(
        default_factory=WeakValueDictionary["Place", asyncio.Lock]
    )

    @property
    def messages(self) -> frozenset[str]:
        return frozenset(self._messages)

    def add(self, *messages: str) -> None:
        for message in messages:
            self._messages[message] = None
            self._messages.move_to_end(message)
        while len(self._messages) > _MOST_REMEMBERED:
            self._messages.popitem(last=False)

    def lock(self, place: Place) -> asyncio.Lock:
        """Hold it while opening or searching a stream there."""
        return self._locks.setdefault(place, asyncio.Lock())


def first_mark(source: str, answer: int) -> dict[str, Any]:
    return {"event_type": _EVENT_TYPE, "event_payload": {"source": source, "answer": answer, "part": 0}}


def part_mark(first_message: str, part: int) -> dict[str, Any]:
    return {"event_type": _EVENT_TYPE, "event_payload": {"behind": first_message, "part": part}}


async def our_messages_since(context: SlackContext, place: Place, question: str) -> list[Fields]:
    """After the question, oldest first. Raises `ChatError`."""
    context.history_pace.note()
    client = context.read_client
    window: dict[str, Any] = {
        "channel": place.channel,
        "oldest": question or None,
        "include_all_metadata": True,
        "limit": _MOST_MESSAGES,
    }
    if place.thread:
        page = await call_api(
            "conversations.replies", client.conversations_replies(ts=place.thread, **window)
        )
    else:
        page = await call_api("conversations.history", client.conversations_history(**window))
    workspace = context.workspace
    ours = [
        message
        for message in page.need_objects("messages")
        if message.text("ts") > question and is_ours(message, workspace.user, workspace.bot)
    ]
    return sorted(ours, key=lambda message: message.text("ts"))


def find_marked(messages: Sequence[Fields], mark: Mapping[str, Any]) -> str:
    payload = mark["event_payload"]
    found = [message.text("ts") for message in messages if _payload(message).values == payload]
    return found[-1] if found else ""


def find_unmarked(messages: Sequence[Fields], *, others: Collection[str], text: str | None = None) -> str:
    """It may be an open stream."""
    for message in reversed(messages):
        shown = message.text("text").strip()
        matches = text is None or shown == text.strip()
        if (
            matches
            and not message.object("metadata").values
            and not message.objects("files")
            and message.text("ts") not in others
        ):
            return message.text("ts")
    return ""


def later_parts(messages: Sequence[Fields], first_message: str) -> list[str]:
    parts = [
        (payload.number("part"), each.text("ts"))
        for each in messages
        if (payload := _payload(each)).text("behind") == first_message
    ]
    return [ts for _, ts in sorted(parts, reverse=True)]


def _payload(message: Fields) -> Fields:
    mark = message.object("metadata")
    return mark.object("event_payload" if mark.text("event_type") == _EVENT_TYPE else "")
