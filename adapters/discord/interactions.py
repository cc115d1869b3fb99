"""Answers to commands and buttons: written through the token of the interaction, while it lasts."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import discord

from adapters.discord import messages
from adapters.discord.border import ACKNOWLEDGED, Expired, calls
from bot.port import ChatError, Gone, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.discord.connection import Connection
    from adapters.discord.used import Used
    from bot.port import Limits, Outlet, Page, Route, Write

_log = logging.getLogger(__name__)
_ACKNOWLEDGE_SECONDS = 3.0


class Response:
    """The first response to an interaction: "thinking…" after a command, until one message takes its place.

    With `interaction` it is new; without, another process may have begun to respond, and `recover` finds out what stands there.
    """

    def __init__(
        self, client: discord.Client, used: Used, interaction: discord.Interaction | None = None
    ) -> None:
        self.used = used
        self.interaction = interaction or used.interaction(client)
        self.original = used.message
        """The message that Discord takes for the first response: that of the button, or what took the place of "thinking…"."""
        self.waiting = False
        """The first message can still take the place of what stands there."""
        self._client = client
        self._thinks = False

    async def acknowledge(self, *, seconds: float) -> bool:
        """The one acknowledgement, due in three seconds: before any work. False when there is nothing to answer any more."""
        try:
            try:
                await self._defer(seconds)
            except Unreachable:
                await self._defer(seconds, again=True)
        except ChatError as error:
            _log.warning("interaction %s could not be acknowledged: %s", self.used.id, error)
            return False
        self.waiting = self._thinks = self.used.is_command
        return True

    async def _defer(self, seconds: float, *, again: bool = False) -> None:
        command = self.used.is_command
        async with calls(seconds, prompt=True):
            try:
                private = command and not self.used.public
                await self.interaction.response.defer(ephemeral=private, thinking=command)
            except discord.HTTPException as error:
                # The first attempt did arrive. Told so at once, it was another process with the same token.
                if not (again and error.code == ACKNOWLEDGED):
                    raise

    async def recover(self, *, seconds: float) -> None:
        """Go on with a response that another process began. Raises `ChatError`, but not when it is too late for any."""
        age = datetime.now(UTC) - discord.utils.snowflake_time(self.used.id)
        try:
            if age.total_seconds() < _ACKNOWLEDGE_SECONDS:
                await self._defer(seconds, again=True)
            if self.used.is_command:
                await self._look(seconds)
        except (Expired, Gone):
            self.waiting = self._thinks = False

    async def _look(self, seconds: float) -> None:
        """Whatever stands there, nobody has recorded it: the next message takes its place."""
        async with calls(seconds):
            message = await self.used.interaction(self._client).original_response()
        self.original = message.id
        self.waiting, self._thinks = True, message.flags.loading

    async def dismiss(self, *, seconds: float) -> None:
        """Take "thinking…" away when nothing took its place: it would stand there for a quarter of an hour."""
        if self.waiting and self._thinks:
            async with calls(seconds):
                await self._discard()

    async def place(self, *, public: bool) -> bool:
        """Whether the next message takes the place of "thinking…"; gone after that.

        Discord shows the first message after it as it announced it. A private one therefore cannot follow a public one.
        """
        if not self.waiting:
            return False
        if self.used.public == public:
            self.waiting = False
            return True
        if self._thinks:
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

    @property
    def limits(self) -> Limits:
        return messages.LIMITS

    @property
    def routes(self) -> Sequence[Route]:
        return messages.routes("interaction", str(self._response.used.id))

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
            self._response.original = made.id
            return made.id
        made = messages.fresh(page)
        sent = await self._interaction.followup.send(wait=True, ephemeral=not self._public, **made)
        return sent.id

    async def _edit(self, write: Write, page: Page) -> str:
        message = self._messages[write.part]
        if message == self._response.original:
            await self._interaction.edit_original_response(**messages.changes(write, page))
        else:
            await self._interaction.followup.edit_message(message, **messages.changes(write, page))
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
