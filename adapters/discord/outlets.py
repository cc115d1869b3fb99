"""Our messages in channels, threads and direct messages."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import discord

from adapters.discord import lost, messages
from adapters.discord.border import (
    ARCHIVED,
    CANNOT_REPLY,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    calls,
)
from adapters.discord.lost import Sought

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from adapters.discord.connection import Connection
    from bot.port import Limits, Page, Route, Write

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where messages go. Exactly one of `channel` and `person` is set."""

    channel: int = 0
    """A channel or thread that is there."""
    guild: int | None = None
    person: int = 0
    """Somebody to write to directly."""
    question: int = 0
    """The message that is answered, when it stands in `channel` itself."""
    opens: Callable[[], Awaitable[int]] | None = None
    """Makes the thread from the question: where the answer stands then. None to write in `channel`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """The answer may have a message that the process before us could not record."""

    since: int
    """What is answered: the message came after it."""
    others: Callable[[], Awaitable[frozenset[int]]]
    """The messages that are recorded there."""


class ChannelOutlet:
    """An `Outlet` that any member of the channel can read (in direct messages: the one person)."""

    def __init__(
        self,
        connection: Connection,
        target: Target,
        *,
        key: str,
        posted: Sequence[str] = (),
        doubt: Doubt | None = None,
    ) -> None:
        self._connection = connection
        self._target = target
        self._key = key
        self._messages = {part: int(message) for part, message in enumerate(posted)}
        self._attempts: defaultdict[int, int] = defaultdict(int)
        self._doubt = doubt
        self._channel = target.channel
        self._opened = not target.opens
        if target.opens and posted:
            # A thread has the id of the message that it was made from.
            self._channel, self._opened = target.question, True

    @property
    def limits(self) -> Limits:
        return messages.LIMITS

    @property
    def routes(self) -> Sequence[Route]:
        if self._target.person:
            return messages.routes("person", str(self._target.person))
        return messages.routes(str(self._channel if self._opened else self._target.question))

    async def write(self, write: Write) -> str:
        async with calls(self._connection.settings.call_seconds, prompt=True):
            if self._doubt is not None:
                await self._look_back(self._doubt, write.page)
                self._doubt = None
            if write.page is None:
                return await self._delete(write.part)
            if write.part in self._messages:
                return await self._edit(write, write.page)
            return await self._create(write, write.page)

    async def _look_back(self, doubt: Doubt, page: Page | None) -> None:
        """What the program before us may have put there: the first part of an answer is gone on with, a later one goes."""
        if page is not None:
            await self._open()
        elif not self._opened:  # nothing is made to be looked into: the thread would have the question's id
            self._channel = self._target.question
        part = len(self._messages)
        sought = Sought(
            us=self._connection.us,
            page=page,
            question=self._target.question,
            behind=self._messages.get(part - 1, 0),
            in_its_own_thread=self._channel == self._target.question,
            others=await doubt.others(),
        )
        message = lost.found(sought, await lost.standing(self._messageable(), after=doubt.since))
        if message:
            self._messages[part] = message
        if message and part:
            await self._delete(part)

    # --- one write ---

    async def _create(self, write: Write, page: Page) -> str:
        await self._open()
        message = await self._living(lambda: self._send(write.part, page))
        self._messages[write.part] = message.id
        if message.content.strip() != messages.content(page).strip():
            # It was there already, from before an answer got lost or we were restarted.
            await self._edit(write, page)
        return str(message.id)

    async def _send(self, part: int, page: Page) -> discord.Message:
        try:
            return await self._post(part, page)
        except discord.NotFound as error:
            if error.code != UNKNOWN_MESSAGE:
                raise
        # The nonce is one of a message that was deleted a moment ago.
        self._attempts[part] += 1
        return await self._post(part, page)

    async def _post(self, part: int, page: Page) -> discord.Message:
        nonce = messages.nonce(self._key, part, self._attempts[part])
        where = self._messageable()
        if part == 0 and self._replies:
            try:
                return await where.send(**messages.fresh(page), nonce=nonce, reference=self._question())
            except discord.Forbidden as error:
                if error.code != CANNOT_REPLY:
                    raise
        return await where.send(**messages.fresh(page), nonce=nonce)

    async def _edit(self, write: Write, page: Page) -> str:
        message = self._messages[write.part]
        try:
            await self._living(lambda: self._partial(message).edit(**messages.changes(write, page)))
        except discord.NotFound as error:
            if error.code != UNKNOWN_CHANNEL or self._channel == self._target.channel:
                raise
            # No thread was made from the question after all: it was answered in the channel.
            self._channel = self._target.channel
            await self._partial(message).edit(**messages.changes(write, page))
        return str(message)

    async def _delete(self, part: int) -> str:
        message = self._messages.pop(part, None)
        if message is None:
            return ""
        self._attempts[part] += 1
        if await self._remove(message):
            return str(message)
        if self._channel != self._target.channel:
            # No thread was made from the question: it was answered in the channel.
            self._channel = self._target.channel
            await self._remove(message)
        return str(message)

    async def _remove(self, message: int) -> bool:
        """Delete the message; False where there is no channel that it could be in."""
        try:
            await self._living(lambda: self._partial(message).delete())
        except discord.NotFound as error:
            if error.code not in {UNKNOWN_MESSAGE, UNKNOWN_CHANNEL}:
                raise
            return error.code == UNKNOWN_MESSAGE
        return True

    # --- where it stands ---

    async def _open(self) -> None:
        """Make the channel that is written to: the thread from the question, or the direct messages with the person."""
        if self._target.person and not self._channel:
            direct = await self._connection.client.create_dm(discord.Object(self._target.person))
            self._channel = direct.id
        if self._opened or self._target.opens is None:
            return
        self._channel = await self._target.opens()
        self._opened = True

    async def _living(self, call: Callable[[], Awaitable[_Result]]) -> _Result:
        """The call, in a thread that Discord may have archived meanwhile."""
        try:
            return await call()
        except discord.HTTPException as error:
            if error.code != ARCHIVED:
                raise
        await self._connection.client.http.edit_channel(self._channel, archived=False)
        return await call()

    @property
    def _replies(self) -> bool:
        """Whether the answer stands beside its question, where no thread shows what belongs to what."""
        return bool(self._target.question) and self._channel == self._target.channel

    def _question(self) -> discord.MessageReference:
        return discord.MessageReference(
            message_id=self._target.question,
            channel_id=self._target.channel,
            guild_id=self._target.guild,
            fail_if_not_exists=False,
        )

    def _messageable(self) -> discord.PartialMessageable:
        return self._connection.client.get_partial_messageable(self._channel, guild_id=self._target.guild)

    def _partial(self, message: int) -> discord.PartialMessage:
        return self._messageable().get_partial_message(message)
