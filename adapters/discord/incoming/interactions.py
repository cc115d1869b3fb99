from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discord import app_commands

from adapters.discord.api import api_calls
from adapters.discord.incoming import command_reader, interaction_record, message_reader
from adapters.discord.installation.commands import SAVE_AS_VERIFIED
from adapters.discord.locations import PLATFORM
from adapters.discord.outlets import buttons, form
from adapters.discord.outlets.interaction import InitialResponse
from adapters.discord.room import ChannelRoom
from bot.port import Action, ChatError, opens_form

if TYPE_CHECKING:
    from collections.abc import Mapping

    import discord

    from adapters.discord.context import DiscordContext
    from adapters.discord.incoming.interaction_record import InteractionRecord
    from bot.port import ChatService

_log = logging.getLogger(__name__)
_EVENT_PREFIX = "interaction:"
_NAME_UNITS = 100
_STORE_SECONDS = 1.0
"""Discord waits three seconds for the acknowledgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordInteractions:
    context: DiscordContext
    service: ChatService

    async def handle(self, interaction: discord.Interaction) -> None:
        record = interaction_record.from_interaction(interaction)
        response = InitialResponse(self.context.client, record, interaction)
        if record.is_button and await self._shows_form(response):
            return
        await self._store(record)
        if await response.acknowledge(seconds=self._call_seconds):
            await self._serve(response, ChannelRoom.for_interaction(response, self.context))
            await response.dismiss(seconds=self._call_seconds)
        await self._done(_event_id(record))

    async def _shows_form(self, response: InitialResponse) -> bool:
        record = response.record
        pressed = buttons.parse_custom_id(str(record.data.get("custom_id", "")))
        if pressed is None or not opens_form(pressed[0]):
            return False
        room = ChannelRoom.for_interaction(response, self.context)
        asked = await self.service.form(_action(record, *pressed), room)
        return asked is not None and await form.show(
            asked, response.interaction, custom_id=str(record.data["custom_id"]), seconds=self._call_seconds
        )

    async def suggest(self, interaction: discord.Interaction) -> None:
        """There is no way to show an error here."""
        record = interaction_record.from_interaction(interaction)
        room = ChannelRoom.for_interaction(InitialResponse(self.context.client, record), self.context)
        command = command_reader.command(record, self.context)
        option = command_reader.option_being_written(record.data)
        names = await self.service.suggestions(command, option, room)
        shown = dict.fromkeys(filter(None, (_shortened(name) for name in names)))
        choices = [app_commands.Choice(name=name, value=name) for name in shown]
        try:
            async with api_calls(self._call_seconds):
                await interaction.response.autocomplete(choices)
        except ChatError as error:
            _log.info("the names for interaction %s came too late: %s", record.id, type(error).__name__)

    async def resume(
        self, event: str, payload: Mapping[str, object], *, answers_resumed: asyncio.Event
    ) -> None:
        """Until `answers_resumed`, "thinking…" may be one of those answers."""
        try:
            record = interaction_record.from_json(payload)
        except (KeyError, TypeError, ValueError) as error:
            _log.warning("%s cannot be read any more: %s", event, type(error).__name__)
            return await self._done(event)
        response = await self._recover_response(record)
        await self._serve(response, ChannelRoom.for_interaction(response, self.context, doubtful=True))
        await answers_resumed.wait()
        await (await self._recover_response(record)).dismiss(seconds=self._call_seconds)
        return await self._done(event)

    async def _recover_response(self, record: InteractionRecord) -> InitialResponse:
        response = InitialResponse(self.context.client, record)
        try:
            await response.recover(seconds=self._call_seconds)
        except ChatError as error:
            _log.warning("The response to interaction %s cannot be recovered: %s", record.id, error)
        return response

    async def _serve(self, response: InitialResponse, room: ChannelRoom) -> None:
        record = response.record
        pressed = buttons.parse_custom_id(str(record.data.get("custom_id", "")))
        if record.target and record.data.get("name") == SAVE_AS_VERIFIED:
            await self.service.on_action(_save(record), room)
        elif record.target:
            question = message_reader.question_about(record, self.context)
            if question is not None:
                await self.service.on_message(question, room)
        elif record.is_command:
            await self.service.on_command(command_reader.command(record, self.context), room)
        elif pressed is not None:
            await self.service.on_action(_action(record, *pressed), room)

    async def _store(self, record: InteractionRecord) -> None:
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                payload = interaction_record.to_json(record)
                await self.service.inbox.add(PLATFORM, _event_id(record), payload)
        except Exception as error:  # noqa: BLE001 - storage may raise anything
            _log.warning("interaction %s could not be stored: %s", record.id, type(error).__name__)

    async def _done(self, event: str) -> None:
        await self.service.inbox.remove(PLATFORM, event)

    @property
    def _call_seconds(self) -> float:
        return self.context.settings.call_seconds


def _shortened(name: str) -> str:
    units = " ".join(name.split()).encode("utf-16-le", "replace")[: 2 * _NAME_UNITS]
    return units.decode("utf-16-le", "ignore").strip()


def _event_id(record: InteractionRecord) -> str:
    return f"{_EVENT_PREFIX}{record.id}"


def _save(record: InteractionRecord) -> Action:
    return Action(
        id=str(record.id),
        name="save_verified",
        value=f"https://discord.com/channels/{record.place.workspace}/{record.channel}/{record.target}",
        place=record.place,
        person=record.person,
        message=str(record.target),
    )


def _action(record: InteractionRecord, name: str, value: str) -> Action:
    return Action(
        id=str(record.id),
        name=name,
        value=value,
        place=record.place,
        person=record.person,
        message=str(record.message) if record.message else "",
        text=form.typed(record.data),
    )
