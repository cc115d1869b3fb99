from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import discord

from adapters.discord.api import ARCHIVED, CANNOT_REPLY, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, api_calls
from adapters.discord.outlets import limits, message_recovery, page_content
from adapters.discord.outlets.message_recovery import PartSearch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from adapters.discord.context import DiscordContext
    from bot.port import Page, PlatformLimits, Route, Write

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordTarget:
    """Exactly one of `channel` and `person` is set."""

    channel: int = 0
    guild: int | None = None
    person: int = 0
    question: int = 0
    open_thread: Callable[[], Awaitable[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierAttempt:
    after: int
    recorded: Callable[[], Awaitable[frozenset[int]]]


class ChannelOutlet:
    def __init__(
        self,
        context: DiscordContext,
        target: DiscordTarget,
        *,
        key: str,
        posted: Sequence[str] = (),
        earlier: EarlierAttempt | None = None,
    ) -> None:
        self._context = context
        self._target = target
        self._key = key
        self._messages = {part: int(message) for part, message in enumerate(posted)}
        self._attempts: defaultdict[int, int] = defaultdict(int)
        self._earlier = earlier
        self._channel = target.channel
        self._is_open = not target.open_thread
        if target.open_thread and posted:
            # A thread has the id of its first message.
            self._channel, self._is_open = target.question, True

    @property
    def limits(self) -> PlatformLimits:
        return limits.LIMITS

    @property
    def routes(self) -> Sequence[Route]:
        if self._target.person:
            return limits.routes("person", str(self._target.person))
        return limits.routes(str(self._channel if self._is_open else self._target.question))

    async def write(self, write: Write) -> str:
        async with api_calls(self._context.settings.call_seconds, fail_fast=True):
            if self._earlier is not None:
                await self._find_unrecorded(self._earlier, write.page)
                self._earlier = None
            if write.page is None:
                return await self._delete(write.part)
            if write.part in self._messages:
                return await self._edit(write, write.page)
            return await self._create(write, write.page)

    async def _find_unrecorded(self, earlier: EarlierAttempt, page: Page | None) -> None:
        if page is not None:
            await self._open()
        elif not self._is_open:
            self._channel = self._target.question
        part = len(self._messages)
        search = PartSearch(
            own_id=self._context.own_id,
            page=page,
            question=self._target.question,
            previous_part=self._messages.get(part - 1, 0),
            in_own_thread=self._channel == self._target.question,
            recorded=await earlier.recorded(),
        )
        newer = await message_recovery.written_after(
            self._context.client, self._messageable(), after=earlier.after
        )
        message = message_recovery.find_part(search, newer)
        if message:
            self._messages[part] = message
        if message and part:
            await self._delete(part)

    async def _create(self, write: Write, page: Page) -> str:
        await self._open()
        message = await self._unarchive_if_needed(lambda: self._send(write.part, page))
        self._messages[write.part] = message.id
        if message.content.strip() != page_content.content(page).strip():
            # Discord returned an earlier message for the nonce.
            await self._edit(write, page)
        return str(message.id)

    async def _send(self, part: int, page: Page) -> discord.Message:
        try:
            return await self._post(part, page)
        except discord.NotFound as error:
            if error.code != UNKNOWN_MESSAGE:
                raise
        self._attempts[part] += 1
        return await self._post(part, page)

    async def _post(self, part: int, page: Page) -> discord.Message:
        nonce = page_content.nonce(self._key, part, self._attempts[part])
        channel = self._messageable()
        if part == 0 and self._is_reply:
            try:
                return await channel.send(
                    **page_content.new_message(page), nonce=nonce, reference=self._reference()
                )
            except discord.Forbidden as error:
                if error.code != CANNOT_REPLY:
                    raise
        return await channel.send(**page_content.new_message(page), nonce=nonce)

    async def _edit(self, write: Write, page: Page) -> str:
        message = self._messages[write.part]
        try:
            await self._unarchive_if_needed(
                lambda: self._partial(message).edit(**page_content.edit_arguments(write, page))
            )
        except discord.NotFound as error:
            if error.code != UNKNOWN_CHANNEL or self._channel == self._target.channel:
                raise
            self._channel = self._target.channel
            await self._partial(message).edit(**page_content.edit_arguments(write, page))
        return str(message)

    async def _delete(self, part: int) -> str:
        message = self._messages.pop(part, None)
        if message is None:
            return ""
        self._attempts[part] += 1
        if await self._remove(message):
            return str(message)
        if self._channel != self._target.channel:
            self._channel = self._target.channel
            await self._remove(message)
        return str(message)

    async def _remove(self, message: int) -> bool:
        try:
            await self._unarchive_if_needed(lambda: self._partial(message).delete())
        except discord.NotFound as error:
            if error.code not in {UNKNOWN_MESSAGE, UNKNOWN_CHANNEL}:
                raise
            return error.code == UNKNOWN_MESSAGE
        return True

    async def _open(self) -> None:
        if self._target.person and not self._channel:
            direct = await self._context.client.create_dm(discord.Object(self._target.person))
            self._channel = direct.id
        if self._is_open or self._target.open_thread is None:
            return
        self._channel = await self._target.open_thread()
        self._is_open = True

    async def _unarchive_if_needed(self, call: Callable[[], Awaitable[_Result]]) -> _Result:
        try:
            return await call()
        except discord.HTTPException as error:
            if error.code != ARCHIVED:
                raise
        await self._context.client.http.edit_channel(self._channel, archived=False)
        return await call()

    @property
    def _is_reply(self) -> bool:
        return bool(self._target.question) and self._channel == self._target.channel

    def _reference(self) -> discord.MessageReference:
        return discord.MessageReference(
            message_id=self._target.question,
            channel_id=self._target.channel,
            guild_id=self._target.guild,
            fail_if_not_exists=False,
        )

    def _messageable(self) -> discord.PartialMessageable:
        return self._context.client.get_partial_messageable(self._channel, guild_id=self._target.guild)

    def _partial(self, message: int) -> discord.PartialMessage:
        return self._messageable().get_partial_message(message)
