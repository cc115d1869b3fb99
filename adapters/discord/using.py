"""Commands, the menu of a message, and buttons: each is kept before Discord is told that it arrived, until it is dealt with."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.discord import buttons, commands, places, reading, rooms, used
from adapters.discord.interactions import Response
from bot.port import Action, ChatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import discord

    from adapters.discord.connection import Connection
    from adapters.discord.room import ChannelRoom
    from adapters.discord.used import Used
    from bot.port import ChatService

_log = logging.getLogger(__name__)
_PREFIX = "interaction:"
_KEEP_SECONDS = 1.0
"""Of the three in which Discord waits for the acknowledgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Using:
    """From a use of ours to calls of the service, in this process or the one after it."""

    connection: Connection
    service: ChatService

    async def begin(self, interaction: discord.Interaction) -> None:
        """Deal with a new one to its end."""
        use = used.of(interaction)
        response = Response(self.connection.client, use, interaction)
        await self._keep(use)
        if await response.acknowledge(seconds=self._seconds):
            await self._serve(response, rooms.of_use(response, self.connection))
            await response.dismiss(seconds=self._seconds)
        await self._done(_event(use))

    async def left(self) -> list[tuple[str, Mapping[str, object]]]:
        """What the process before us did not deal with to the end, oldest first."""
        kept = await self.service.inbox.kept(places.PLATFORM)
        return [(event, payload) for event, payload in kept if event.startswith(_PREFIX)]

    async def take_up(self, event: str, payload: Mapping[str, object], *, resumed: asyncio.Event) -> None:
        """Tell the service once more of what is left. `resumed`: the answers of the process before us are all written.

        Only then is it known that "thinking…" does not wait for one of them.
        """
        try:
            use = used.unpacked(payload)
        except (KeyError, TypeError, ValueError) as error:
            _log.warning("%s cannot be read any more: %s", event, type(error).__name__)
            return await self._done(event)
        response = await self._recovered(use)
        await self._serve(response, rooms.of_use(response, self.connection, doubtful=True))
        await resumed.wait()
        await (await self._recovered(use)).dismiss(seconds=self._seconds)
        return await self._done(event)

    async def _recovered(self, use: Used) -> Response:
        response = Response(self.connection.client, use)
        try:
            await response.recover(seconds=self._seconds)
        except ChatError as error:
            _log.warning("Discord does not tell what stands after interaction %s: %s", use.id, error)
        return response

    async def _serve(self, response: Response, room: ChannelRoom) -> None:
        use = response.used
        pressed = buttons.pressed(str(use.data.get("custom_id", "")))
        if use.target:
            asked = reading.asked_about(use, self.connection)
            if asked is not None:
                await self.service.on_message(asked, room)
        elif use.is_command:
            await self.service.on_command(commands.command(use, self.connection), room)
        elif pressed is not None:
            await self.service.on_action(_action(use, *pressed), room)

    # --- kept ---

    async def _keep(self, use: Used) -> None:
        """What cannot be kept is done all the same: Discord does not send it again, and the person waits."""
        try:
            async with asyncio.timeout(_KEEP_SECONDS):
                await self.service.inbox.keep(places.PLATFORM, _event(use), used.packed(use))
        except Exception as error:  # noqa: BLE001 - whatever the storage says
            _log.warning("interaction %s could not be kept: %s", use.id, type(error).__name__)

    async def _done(self, event: str) -> None:
        await self.service.inbox.done(places.PLATFORM, event)

    @property
    def _seconds(self) -> float:
        return self.connection.settings.call_seconds


def _event(use: Used) -> str:
    return f"{_PREFIX}{use.id}"


def _action(use: Used, name: str, value: str) -> Action:
    return Action(
        id=str(use.id),
        name=name,
        value=value,
        place=use.place,
        person=use.person,
        message=str(use.message) if use.message else "",
    )
