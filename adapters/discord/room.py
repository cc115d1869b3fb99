from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import discord

from adapters.discord import locations, markdown
from adapters.discord.api import THREAD_EXISTS, THREAD_REFUSED, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, api_calls
from adapters.discord.directory import DirectDirectory, GuildDirectory
from adapters.discord.incoming import history, message_reader
from adapters.discord.incoming.history import newest_messages
from adapters.discord.outlets.channel import ChannelOutlet, DiscordTarget, EarlierAttempt
from adapters.discord.outlets.interaction import InteractionOutlet
from bot.port import ChatError, Person, PlainRoom, Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.discord.context import DiscordContext
    from adapters.discord.outlets.interaction import InitialResponse
    from bot.port import Directory, HistoryPage, IncomingMessage, Outlet, Place

_log = logging.getLogger(__name__)
_READ = "✅"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OutletKey:
    key: str
    doubtful: bool


class ChannelRoom(PlainRoom):
    def __init__(
        self,
        context: DiscordContext,
        place: Place,
        *,
        event: int,
        key: str = "",
        person: int = 0,
        question: int = 0,
        thread_title: str = "",
        response: InitialResponse | None = None,
        doubtful: bool = False,
    ) -> None:
        """`key` names this event's messages, by default its id; an answer replies to `question` or opens a
        thread from it.

        `doubtful`: an earlier process may have posted messages without recording them.
        """
        self._context = context
        self._place = place
        self._event = event
        self._key = key or str(event)
        self._person = person
        self._question = question
        self._thread_title = thread_title
        self._response = response
        self._doubtful = doubtful
        self._outlet_counts = {True: 0, False: 0}
        self._answer_channel = 0
        self._opened: discord.Thread | None = None

    @classmethod
    def for_message(
        cls, event: IncomingMessage, context: DiscordContext, *, in_thread: bool, doubtful: bool
    ) -> Self:
        """`in_thread`: also for the first message of a forum post."""
        texts = (event.text, *(attachment.name for attachment in event.attachments))
        return cls(
            context,
            event.place,
            event=int(event.id),
            key=event.handle,
            person=int(event.person.id),
            question=0 if in_thread else int(event.id),
            thread_title=next((title for text in texts if (title := markdown.thread_title(text))), ""),
            doubtful=doubtful,
        )

    @classmethod
    def for_interaction(
        cls, response: InitialResponse, context: DiscordContext, *, doubtful: bool = False
    ) -> Self:
        record = response.record
        return cls(
            context,
            record.place,
            event=record.id,
            person=int(record.person.id),
            response=response,
            doubtful=doubtful,
        )

    @property
    def directory(self) -> Directory:
        if self._place.workspace == locations.DIRECT:
            return DirectDirectory(context=self._context, id=self._place.channel, person=str(self._person))
        return GuildDirectory(context=self._context, guild_id=int(self._place.workspace))

    @property
    def place(self) -> Place:
        return self._place

    async def open_thread(self) -> Place:
        """Only the attempt shows whether it may be opened."""
        if not self._opens_thread:
            return self._place
        try:
            async with api_calls(self._context.settings.call_seconds):
                channel = await self._open_thread_once()
        except ChatError as error:
            _log.warning("no thread in channel %s yet: %s", self._place.channel, error)
            return self._place
        return self._place if channel == self._question else self._place.parent

    async def _open_thread_once(self) -> int:
        if not self._answer_channel:
            self._answer_channel = await self._open_thread()
        return self._answer_channel

    async def _open_thread(self) -> int:
        channel = int(self._place.channel)
        parent = self._context.client.get_partial_messageable(channel, guild_id=int(self._place.workspace))
        try:
            self._opened = await parent.get_partial_message(self._question).create_thread(
                name=self._thread_title or "Answer",
                auto_archive_duration=self._context.settings.thread_minutes,
            )
        except discord.HTTPException as error:
            if error.code in THREAD_REFUSED:
                _log.warning("no thread in channel %s (code %s)", channel, error.code)
                return channel
            if error.code != THREAD_EXISTS:
                raise
        return self._question

    @property
    def _opens_thread(self) -> bool:
        return bool(self._question) and self._place.thread == str(self._question)

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        """Numbered by call, private ones apart."""
        is_private = private is not None
        number = self._outlet_counts[is_private]
        self._outlet_counts[is_private] += 1
        name = f"{self._key}:{'private' if is_private else 'public'}:{number}"
        key = _OutletKey(key=name, doubtful=self._doubtful and number == 0)
        if self._response is not None and str(self._response.original) in posted:
            self._response.waiting = False
        if private is None and not self._is_private_message(posted):
            return self._public_outlet(posted, key=key)
        private = private or Person(id=str(self._person))
        if self._response is not None and int(private.id) == self._person:
            return InteractionOutlet(
                self._context,
                self._response,
                public=False,
                posted=posted,
                make_fallback=lambda _: self._direct_outlet(private, key=key),
            )
        if self._place.workspace == locations.DIRECT and int(private.id) == self._person:
            return self._place_outlet(posted, key=key)
        return self._direct_outlet(private, key=key, posted=posted)

    def _is_private_message(self, posted: Sequence[str]) -> bool:
        record = None if self._response is None else self._response.record
        return record is not None and record.alone and str(record.message) in posted

    def _public_outlet(self, posted: Sequence[str], *, key: _OutletKey) -> Outlet:
        response = self._response
        if response is None or posted or not response.record.public or not response.waiting:
            return self._place_outlet(posted, key=key)
        return InteractionOutlet(
            self._context,
            response,
            public=True,
            make_fallback=lambda known: self._place_outlet(known, key=key),
        )

    def _direct_outlet(self, person: Person, *, key: _OutletKey, posted: Sequence[str] = ()) -> ChannelOutlet:
        target = DiscordTarget(person=int(person.id))
        return self._channel_outlet(target, key=key, posted=posted)

    def _place_outlet(self, posted: Sequence[str], *, key: _OutletKey) -> ChannelOutlet:
        guild = None if self._place.workspace == locations.DIRECT else int(self._place.workspace)
        if self._opens_thread:
            target = DiscordTarget(
                channel=int(self._place.channel),
                guild=guild,
                question=self._question,
                open_thread=self._open_thread_once,
            )
        elif self._place.thread:
            target = DiscordTarget(channel=int(self._place.thread), guild=guild)
        else:
            question = self._question if guild is not None else 0
            target = DiscordTarget(channel=int(self._place.channel), guild=guild, question=question)
        return self._channel_outlet(target, key=key, posted=posted)

    def _channel_outlet(
        self, target: DiscordTarget, *, key: _OutletKey, posted: Sequence[str]
    ) -> ChannelOutlet:
        earlier = (
            EarlierAttempt(after=self._event, recorded=self._recorded_messages) if key.doubtful else None
        )
        return ChannelOutlet(self._context, target, key=key.key, posted=posted, earlier=earlier)

    async def _recorded_messages(self) -> frozenset[int]:
        in_channel = self._opens_thread and self._answer_channel == int(self._place.channel)
        place = self._place.parent if in_channel else self._place
        return frozenset(map(int, await self._context.answer_messages(place)))

    async def mark_read(self) -> bool:
        if not self._event or self._response is not None:
            return False
        in_thread = bool(self._place.thread) and not self._opens_thread
        channel = self._context.client.get_channel(
            int(self._place.thread if in_thread else self._place.channel)
        )
        if isinstance(channel, discord.abc.GuildChannel | discord.Thread):
            granted = channel.permissions_for(channel.guild.me)
            if not (granted.add_reactions and granted.read_message_history):
                return False
        messageable = self._context.client.get_partial_messageable(
            int(self._place.thread if in_thread else self._place.channel)
        )
        try:
            async with api_calls(self._context.settings.call_seconds):
                await messageable.get_partial_message(self._event).add_reaction(_READ)
        except ChatError as error:
            _log.info("no reaction in channel %s: %s", self._place.channel, error)
            return False
        return True

    @property
    def can_be_renamed(self) -> bool:
        return self._opened is not None

    async def rename(self, title: str) -> None:
        if self._opened is not None and (name := markdown.thread_title(title)):
            async with api_calls(self._context.settings.call_seconds):
                await self._opened.edit(name=name)

    async def history(self, *, cursor: str = "", until: str = "", thread: str = "") -> HistoryPage:
        if thread:
            return await history.thread_page(self._context, self._place, thread=thread, cursor=cursor)
        return await history.channel_page(self._context, self._place, cursor=cursor, until=until)

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        in_thread = bool(self._place.thread) and not self._opens_thread
        channel_id = int(self._place.thread if in_thread else self._place.channel)
        self._context.history_pace.note()
        async with api_calls(self._context.settings.call_seconds):
            channel = await locations.find_channel(self._context, channel_id)
            if not isinstance(channel, discord.abc.Messageable):
                return []
            client = self._context.client
            newest_first = await newest_messages(client, channel, limit=limit, before=self._event)
            if in_thread and len(newest_first) < limit:
                newest_first += await self._starter(newest_first)
        written = [each for each in reversed(newest_first) if message_reader.is_written(each)]
        return [read for each in written if (read := self._read_if_readable(each)) is not None]

    def _read_if_readable(self, message: discord.Message) -> IncomingMessage | None:
        try:
            return message_reader.incoming(message, self._place, self._context)
        except Unreadable as error:
            _log.warning("an earlier message is left out: %s", error)
            return None

    async def _starter(self, seen: Sequence[discord.Message]) -> list[discord.Message]:
        thread = int(self._place.thread)
        if thread == self._event or any(each.id == thread for each in seen):
            return []
        parent = self._context.client.get_partial_messageable(
            int(self._place.channel), guild_id=int(self._place.workspace)
        )
        try:
            return [await parent.fetch_message(thread)]
        except discord.HTTPException as error:
            if error.code not in {UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, *THREAD_REFUSED}:
                raise
            return []

    async def fetch(self, link: str) -> IncomingMessage | None:
        """None for other servers, direct messages and private threads."""
        target = locations.parse_link(link)
        if target is None or target[0] != self._place.workspace:
            return None
        workspace, channel_id, message_id = target
        if workspace == locations.DIRECT and str(channel_id) != self._place.channel:
            return None
        async with api_calls(self._context.settings.call_seconds):
            try:
                channel = await locations.find_channel(self._context, channel_id)
                if not isinstance(channel, discord.abc.Messageable) or not self._is_readable(channel):
                    return None
                message = await channel.fetch_message(message_id)
            except (discord.NotFound, discord.Forbidden):
                return None
        guild = None if workspace == locations.DIRECT else int(workspace)
        place = locations.answer_place(channel, guild=guild, channel_id=channel_id)
        return message_reader.incoming(message, place, self._context)

    def _is_readable(self, channel: discord.abc.Messageable) -> bool:
        guild = getattr(channel, "guild", None)
        workspace = locations.DIRECT if guild is None else str(guild.id)
        return workspace == self._place.workspace and (
            not isinstance(channel, discord.Thread)
            or not channel.is_private()
            or str(channel.id) == self._place.thread
        )
