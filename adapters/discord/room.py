"""The place of one event, as the service sees it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import discord

from adapters.discord import places, reading
from adapters.discord.border import NO_THREAD, THREAD_EXISTS, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, calls
from adapters.discord.directory import DirectDirectory, GuildDirectory
from adapters.discord.interactions import InteractionOutlet
from adapters.discord.outlets import ChannelOutlet, Doubt, Target
from bot.port import ChatError, Person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.discord.connection import Connection
    from adapters.discord.interactions import Response
    from bot.port import Directory, IncomingMessage, Outlet, Place

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Which:
    """An outlet among those of one event: its messages have a key of their own."""

    key: str
    doubtful: bool
    """It is the one of the answer, and what stands there unrecorded is of the answer."""


class ChannelRoom:
    """A `Room`. `event` is the id of what happened: earlier messages are those before it."""

    def __init__(
        self,
        connection: Connection,
        place: Place,
        *,
        event: int,
        key: str = "",
        person: int = 0,
        question: int = 0,
        thread_name: str = "",
        response: Response | None = None,
        doubtful: bool = False,
    ) -> None:
        """`doubtful`: the process before us may have written here what it could not record."""
        self._connection = connection
        self._place = place
        self._event = event
        self._key = key or str(event)
        self._person = person
        self._question = question
        self._thread_name = thread_name
        self._response = response
        self._doubtful = doubtful
        self._outlets = {True: 0, False: 0}
        self._stands = 0

    @property
    def directory(self) -> Directory:
        if self._place.workspace == places.DIRECT:
            return DirectDirectory(id=self._place.channel, person=str(self._person))
        return GuildDirectory(connection=self._connection, guild_id=int(self._place.workspace))

    @property
    def place(self) -> Place:
        return self._place

    # --- where the answer stands ---

    async def settle(self) -> Place:
        """See `bot.port.Room`. What we may do in a channel is told for certain by doing it only."""
        if not self._opens_thread:
            return self._place
        try:
            async with calls(self._connection.settings.call_seconds):
                stands = await self._open()
        except ChatError as error:
            _log.warning("no thread in channel %s yet: %s", self._place.channel, error)
            return self._place
        return self._place if stands == self._question else self._place.parent

    async def _open(self) -> int:
        """The thread made from the question, or its channel where there can be none; found out once."""
        if not self._stands:
            self._stands = await self._thread()
        return self._stands

    async def _thread(self) -> int:
        channel = int(self._place.channel)
        above = self._connection.client.get_partial_messageable(channel, guild_id=int(self._place.workspace))
        try:
            await above.get_partial_message(self._question).create_thread(
                name=self._thread_name or "Answer",
                auto_archive_duration=self._connection.settings.thread_minutes,
            )
        except discord.HTTPException as error:
            if error.code in NO_THREAD:
                _log.warning("no thread in channel %s (code %s)", channel, error.code)
                return channel
            if error.code != THREAD_EXISTS:
                raise
        return self._question

    @property
    def _opens_thread(self) -> bool:
        return bool(self._question) and self._place.thread == str(self._question)

    # --- writing ---

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        """The messages of several outlets of one event are told apart by the order in which they are asked for.

        Those for one person are counted by themselves: after a restart, not all that was told in private is told again.
        """
        alone = private is not None
        number = self._outlets[alone]
        self._outlets[alone] += 1
        key = f"{self._key}:{'private' if alone else 'public'}:{number}"
        which = _Which(key=key, doubtful=self._doubtful and number == 0)
        if self._response is not None and str(self._response.original) in posted:
            self._response.waiting = False
        if private is None and not self._only_seen_by_one(posted):
            return self._public(posted, which=which)
        private = private or Person(id=str(self._person))
        if self._response is not None and int(private.id) == self._person:
            return InteractionOutlet(
                self._connection,
                self._response,
                public=False,
                posted=posted,
                later=lambda _: self._direct(private, which=which),
            )
        if self._place.workspace == places.DIRECT and int(private.id) == self._person:
            return self._channel(posted, which=which)
        return self._direct(private, which=which, posted=posted)

    def _only_seen_by_one(self, posted: Sequence[str]) -> bool:
        """Whether these are messages that nobody but the person who pressed a button under them sees."""
        used = None if self._response is None else self._response.used
        return used is not None and used.alone and str(used.message) in posted

    def _public(self, posted: Sequence[str], *, which: _Which) -> Outlet:
        response = self._response
        if response is None or posted or not response.used.public or not response.waiting:
            return self._channel(posted, which=which)
        return InteractionOutlet(
            self._connection, response, public=True, later=lambda known: self._channel(known, which=which)
        )

    def _direct(self, person: Person, *, which: _Which, posted: Sequence[str] = ()) -> ChannelOutlet:
        target = Target(person=int(person.id))
        return self._made(target, which=which, posted=posted)

    def _channel(self, posted: Sequence[str], *, which: _Which) -> ChannelOutlet:
        guild = None if self._place.workspace == places.DIRECT else int(self._place.workspace)
        if self._opens_thread:
            target = Target(
                channel=int(self._place.channel),
                guild=guild,
                question=self._question,
                opens=self._open,
            )
        elif self._place.thread:
            target = Target(channel=int(self._place.thread), guild=guild)
        else:
            question = self._question if guild is not None else 0
            target = Target(channel=int(self._place.channel), guild=guild, question=question)
        return self._made(target, which=which, posted=posted)

    def _made(self, target: Target, *, which: _Which, posted: Sequence[str]) -> ChannelOutlet:
        doubt = Doubt(since=self._event, others=self._recorded) if which.doubtful else None
        return ChannelOutlet(self._connection, target, key=which.key, posted=posted, doubt=doubt)

    async def _recorded(self) -> frozenset[int]:
        in_channel = self._opens_thread and self._stands == int(self._place.channel)
        place = self._place.parent if in_channel else self._place
        return frozenset(map(int, await self._connection.answers_in(place)))

    # --- reading ---

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """A thread begins with the message that it was made from, which stands in the channel above it."""
        in_thread = bool(self._place.thread) and not self._opens_thread
        channel_id = int(self._place.thread if in_thread else self._place.channel)
        async with calls(self._connection.settings.call_seconds):
            channel = await places.locate(self._connection, channel_id)
            if not isinstance(channel, discord.abc.Messageable):
                return []
            before = discord.Object(self._event)
            newest_first = [each async for each in channel.history(limit=limit, before=before)]
            if in_thread and len(newest_first) < limit:
                newest_first += await self._starter(newest_first)
        found = [each for each in reversed(newest_first) if reading.is_written(each)]
        return [reading.incoming(each, self._place, self._connection) for each in found]

    async def _starter(self, seen: Sequence[discord.Message]) -> list[discord.Message]:
        """The message that the thread was made from, unless it is seen already, as the first of a forum's post is."""
        thread = int(self._place.thread)
        if thread == self._event or any(each.id == thread for each in seen):
            return []
        parent = self._connection.client.get_partial_messageable(
            int(self._place.channel), guild_id=int(self._place.workspace)
        )
        try:
            return [await parent.fetch_message(thread)]
        except discord.HTTPException as error:
            if error.code not in {UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, *NO_THREAD}:
                raise
            return []  # the thread was made without a message, or that was deleted

    async def fetch(self, link: str) -> IncomingMessage | None:
        """Never a message of another server, of other direct messages, or of a private thread that this is not."""
        found = places.linked(link)
        if found is None or found[0] != self._place.workspace:
            return None
        workspace, channel_id, message_id = found
        if workspace == places.DIRECT and str(channel_id) != self._place.channel:
            return None
        async with calls(self._connection.settings.call_seconds):
            try:
                channel = await places.locate(self._connection, channel_id)
                if not isinstance(channel, discord.abc.Messageable) or not self._readable(channel):
                    return None
                message = await channel.fetch_message(message_id)
            except (discord.NotFound, discord.Forbidden):
                return None
        guild = None if workspace == places.DIRECT else int(workspace)
        place = places.place(channel, guild=guild, channel_id=channel_id)
        return reading.incoming(message, place, self._connection)

    def _readable(self, channel: discord.abc.Messageable) -> bool:
        guild = getattr(channel, "guild", None)
        workspace = places.DIRECT if guild is None else str(guild.id)
        return workspace == self._place.workspace and (
            not isinstance(channel, discord.Thread)
            or not channel.is_private()
            or str(channel.id) == self._place.thread
        )
