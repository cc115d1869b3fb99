from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from adapters.slack.api import call_api
from adapters.slack.assistant import rename, show_activity
from adapters.slack.incoming import history
from adapters.slack.incoming.message_search import find_messages
from adapters.slack.locations import is_direct
from adapters.slack.outlets.channel import SlackOutlet, SlackTarget
from adapters.slack.outlets.private import PrivateOutlet
from bot.port import ChatError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from adapters.slack.incoming.message_reader import MessageReader
    from bot import port
    from bot.port import ChannelMessage, ChatService, HistoryPage, IncomingMessage, Person, Place


_REACT = "reactions.add"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackRoom:
    reader: MessageReader
    target: SlackTarget
    answer_messages: Callable[[Place], Awaitable[frozenset[str]]]
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def of(cls, reader: MessageReader, target: SlackTarget, service: ChatService) -> Self:
        return cls(reader=reader, target=target, answer_messages=service.answer_messages)

    @property
    def directory(self) -> port.Directory:
        return self.reader.directory

    async def open_thread(self) -> Place:
        """Its first message creates it."""
        return self.target.place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> port.Outlet:
        if private is not None:
            return PrivateOutlet(self.reader.context, self.target, person=private.id, posted=posted)
        return SlackOutlet(
            self.reader.context,
            self.target,
            posted=posted,
            number=next(self._numbers),
            answer_messages=self.answer_messages,
        )

    async def mark_read(self) -> bool:
        target, context = self.target, self.reader.context
        if not target.question or target.by_command or not context.optional_calls.is_offered(_REACT):
            return False
        call = context.write_client.reactions_add(
            channel=target.place.channel, timestamp=target.question, name="white_check_mark"
        )
        try:
            await call_api(_REACT, call)
        except ChatError as error:
            return context.optional_calls.refused(_REACT, error) == "already_reacted"
        return True

    async def show_activity(self, *, title: str, status: str) -> None:
        """Only conversations with the bot have these."""
        if self.can_be_renamed:
            await show_activity(self.reader.context, self.target.place, title=title, status=status)

    @property
    def can_be_renamed(self) -> bool:
        place = self.target.place
        return is_direct(place.channel) and bool(place.thread) and not self.target.by_command

    async def rename(self, title: str) -> None:
        await rename(self.reader.context, self.target.place, title)

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        target = self.target
        thread = target.place.thread if target.in_thread else ""
        return await self.reader.before(target.place.channel, ts=target.question, thread=thread, limit=limit)

    async def history(self, *, cursor: str = "", until: str = "", thread: str = "") -> HistoryPage:
        channel = self.target.place.channel
        if thread:
            return await history.thread_page(self.reader, channel, thread=thread, cursor=cursor)
        return await history.channel_page(self.reader, channel, cursor=cursor, until=until)

    @property
    def finds_messages(self) -> bool:
        return True

    async def find_messages(self, question: str, *, limit: int) -> Sequence[ChannelMessage]:
        return await find_messages(self.reader, self.target, question, limit=limit)

    async def fetch(self, link: str) -> IncomingMessage | None:
        return await self.reader.fetch(link)
