"""Answers to commands and buttons: written through the token of the interaction, while it lasts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import discord

from adapters.discord import messages
from adapters.discord.border import ACKNOWLEDGED, Expired, calls
from bot.port import ChatError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.discord.connection import Connection
    from bot.port import Limits, Outlet, Page, Route, Write

_log = logging.getLogger(__name__)


class Response:
    """The first response to an interaction: "thinking…" after a command, until one message takes its place."""

    def __init__(self, interaction: discord.Interaction, *, public: bool) -> None:
        self.interaction = interaction
        self.public = public
        self.waiting = False

    async def acknowledge(self, *, seconds: float) -> bool:
        """The one acknowledgement, due in three seconds: before any work. False when there is nothing to answer any more."""
        command = self.interaction.type is discord.InteractionType.application_command
        try:
            try:
                await self._defer(command, seconds)
            except Unreachable:
                await self._defer(command, seconds, again=True)
        except ChatError as error:
            _log.warning("interaction %s could not be acknowledged: %s", self.interaction.id, error)
            return False
        self.waiting = command
        return True

    async def _defer(self, command: bool, seconds: float, *, again: bool = False) -> None:
        async with calls(seconds, prompt=True):
            try:
                await self.interaction.response.defer(ephemeral=command and not self.public, thinking=command)
            except discord.HTTPException as error:
                # The first attempt did arrive. Told so at once, it was another process with the same token.
                if not (again and error.code == ACKNOWLEDGED):
                    raise

    async def dismiss(self, *, seconds: float) -> None:
        """Take "thinking…" away when nothing took its place: it would stand there for a quarter of an hour."""
        if self.waiting:
            async with calls(seconds):
                await self._discard()

    async def place(self, *, public: bool) -> bool:
        """Whether the next message takes the place of "thinking…"; gone after that.

        Discord shows the first message after it as it announced it. A private one therefore cannot follow a public one.
        """
        if not self.waiting:
            return False
        if self.public == public:
            self.waiting = False
            return True
        await self._discard()
        return False

    async def _discard(self) -> None:
        await self.interaction.delete_original_response()
        self.waiting = False


class InteractionOutlet:
    """An `Outlet` through the token. When that has run out, writing goes on in the outlet that `later` makes."""

    def __init__(
        self,
        connection: Connection,
        response: Response,
        *,
        public: bool,
        later: Callable[[Sequence[str]], Outlet],
        posted: Sequence[str] = (),
    ) -> None:
        self._connection = connection
        self._response = response
        self._interaction = response.interaction
        self._public = public
        self._later = later
        self._after: Outlet | None = None
        self._messages = {part: int(message) for part, message in enumerate(posted)}
        pressed_on = self._interaction.message
        self._original = pressed_on.id if pressed_on is not None else 0

    @property
    def limits(self) -> Limits:
        return messages.LIMITS

    @property
    def routes(self) -> Sequence[Route]:
        return messages.routes("interaction", str(self._interaction.id))

    async def write(self, write: Write) -> str:
        if self._after is None:
            try:
                return await self._write(write)
            except Expired:
                pass
        if self._after is None:
            # Messages of one person's own cannot be edited without the token; those of all can.
            known = [str(self._messages[part]) for part in sorted(self._messages)] if self._public else []
            self._after = self._later(known)
        return await self._after.write(write)

    async def _write(self, write: Write) -> str:
        async with calls(self._connection.settings.call_seconds, prompt=True):
            if write.page is None:
                return await self._delete(write.part)
            if write.part in self._messages:
                return await self._edit(write, write.page)
            self._messages[write.part] = await self._create(write, write.page)
        return str(self._messages[write.part])

    async def _create(self, write: Write, page: Page) -> int:
        if await self._response.place(public=self._public):
            try:
                made = await self._interaction.edit_original_response(**messages.changes(write, page))
            except BaseException:
                self._response.waiting = True  # whoever tries again, or dismisses it, finds it as it was
                raise
            self._original = made.id
            return made.id
        made = messages.fresh(page)
        sent = await self._interaction.followup.send(wait=True, ephemeral=not self._public, **made)
        return sent.id

    async def _edit(self, write: Write, page: Page) -> str:
        message = self._messages[write.part]
        if message == self._original:
            await self._interaction.edit_original_response(**messages.changes(write, page))
        else:
            await self._interaction.followup.edit_message(message, **messages.changes(write, page))
        return str(message)

    async def _delete(self, part: int) -> str:
        message = self._messages.pop(part, None)
        if message is None:
            return ""
        try:
            if message == self._original:
                await self._interaction.delete_original_response()
            else:
                await self._interaction.followup.delete_message(message)
        except discord.NotFound:
            return str(message)
        return str(message)
