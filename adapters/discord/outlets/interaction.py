from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import discord

from adapters.discord.api import ACKNOWLEDGED, InteractionExpired, api_calls
from adapters.discord.outlets import limits, page_content
from bot.port import ChatError, Gone, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.discord.context import DiscordContext
    from adapters.discord.incoming.interaction_record import InteractionRecord
    from bot.port import Outlet, Page, PlatformLimits, Route, Write

_log = logging.getLogger(__name__)
_ACKNOWLEDGE_SECONDS = 3.0


class InitialResponse:
    """ "thinking…" after a command, until a message replaces it."""

    def __init__(
        self,
        client: discord.Client,
        record: InteractionRecord,
        interaction: discord.Interaction | None = None,
    ) -> None:
        self.record = record
        self.interaction = interaction or record.interaction(client)
        self.original = record.message
        self.waiting = False
        """The next message can still replace "thinking…"."""
        self._client = client
        self._shows_thinking = False

    async def acknowledge(self, *, seconds: float) -> bool:
        """Within three seconds. False if too late."""
        try:
            try:
                await self._defer(seconds)
            except Unreachable:
                await self._defer(seconds, retry=True)
        except ChatError as error:
            _log.warning("interaction %s could not be acknowledged: %s", self.record.id, error)
            return False
        self.waiting = self._shows_thinking = self.record.is_command
        return True

    async def _defer(self, seconds: float, *, retry: bool = False) -> None:
        command = self.record.is_command
        async with api_calls(seconds, fail_fast=True):
            try:
                private = command and not self.record.public
                await self.interaction.response.defer(ephemeral=private, thinking=command)
            except discord.HTTPException as error:
                # after a retry the acknowledgement is ours, else another process's
                if not (retry and error.code == ACKNOWLEDGED):
                    raise

    async def recover(self, *, seconds: float) -> None:
        age = datetime.now(UTC) - discord.utils.snowflake_time(self.record.id)
        try:
            if age.total_seconds() < _ACKNOWLEDGE_SECONDS:
                await self._defer(seconds, retry=True)
            if self.record.is_command:
                await self._find_original(seconds)
        except (InteractionExpired, Gone):
            self.waiting = self._shows_thinking = False

    async def _find_original(self, seconds: float) -> None:
        async with api_calls(seconds):
            message = await self.record.interaction(self._client).original_response()
        self.original = message.id
        self.waiting, self._shows_thinking = True, message.flags.loading

    async def dismiss(self, *, seconds: float) -> None:
        if self.waiting and self._shows_thinking:
            async with api_calls(seconds):
                await self._delete_thinking()

    async def claim(self, *, public: bool) -> bool:
        """True once at most.

        The acknowledgement fixed the visibility; the other kind is deleted.
        """
        if not self.waiting:
            return False
        if self.record.public == public:
            self.waiting = False
            return True
        if self._shows_thinking:
            await self._delete_thinking()
        return False

    async def _delete_thinking(self) -> None:
        await self.interaction.delete_original_response()
        self.waiting = False


class InteractionOutlet:
    """Writes through the token; later through the outlet from `make_fallback`."""

    def __init__(
        self,
        context: DiscordContext,
        response: InitialResponse,
        *,
        public: bool,
        make_fallback: Callable[[Sequence[str]], Outlet],
        posted: Sequence[str] = (),
    ) -> None:
        self._context = context
        self._response = response
        self._interaction = response.interaction
        self._public = public
        self._make_fallback = make_fallback
        self._fallback: Outlet | None = None
        self._messages = {part: int(message) for part, message in enumerate(posted)}

    @property
    def limits(self) -> PlatformLimits:
        return limits.LIMITS

    @property
    def routes(self) -> Sequence[Route]:
        return limits.routes("interaction", str(self._response.record.id))

    async def write(self, write: Write) -> str:
        if self._fallback is None:
            try:
                return await self._write(write)
            except InteractionExpired:
                pass
        if self._fallback is None:
            # only public messages can be edited without the token
            known = [str(self._messages[part]) for part in sorted(self._messages)] if self._public else []
            self._fallback = self._make_fallback(known)
        return await self._fallback.write(write)

    async def _write(self, write: Write) -> str:
        async with api_calls(self._context.settings.call_seconds, fail_fast=True):
            if write.page is None:
                return await self._delete(write.part)
            if write.part in self._messages:
                return await self._edit(write, write.page)
            self._messages[write.part] = await self._create(write, write.page)
        return str(self._messages[write.part])

    async def _create(self, write: Write, page: Page) -> int:
        if await self._response.claim(public=self._public):
            try:
                message = await self._interaction.edit_original_response(
                    **page_content.edit_arguments(write, page)
                )
            except BaseException:
                self._response.waiting = True
                raise
            self._response.original = message.id
            return message.id
        arguments = page_content.new_message(page)
        sent = await self._interaction.followup.send(wait=True, ephemeral=not self._public, **arguments)
        return sent.id

    async def _edit(self, write: Write, page: Page) -> str:
        message = self._messages[write.part]
        if message == self._response.original:
            await self._interaction.edit_original_response(**page_content.edit_arguments(write, page))
        else:
            await self._interaction.followup.edit_message(message, **page_content.edit_arguments(write, page))
        return str(message)

    async def _delete(self, part: int) -> str:
        message = self._messages.pop(part, None)
        if message is None:
            return ""
        try:
            if message == self._response.original:
                await self._interaction.delete_original_response()
            else:
                await self._interaction.followup.delete_message(message)
        except discord.NotFound:
            return str(message)
        return str(message)
