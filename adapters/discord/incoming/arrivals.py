"""In the system channel, else to who invited the bot."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord

from adapters.discord.api import api_calls
from adapters.discord.locations import DIRECT, PLATFORM
from adapters.discord.room import ChannelRoom
from bot.port import Arrival, ChatError, Fields, Person, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.discord.context import DiscordContext
    from bot.port import ChatService

_log = logging.getLogger(__name__)
EVENT_PREFIX = "joined:"
_LATEST_BOTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordArrivals:
    context: DiscordContext
    service: ChatService

    async def on_joined(self, guild: discord.Guild) -> None:
        """Stored first: Discord sends it once."""
        joined_at = guild.me.joined_at
        event = f"{EVENT_PREFIX}{guild.id}:{joined_at.isoformat() if joined_at else ''}"
        await self.service.inbox.add(PLATFORM, event, {"guild": guild.id})
        await self._greet(guild, event)
        await self.service.inbox.remove(PLATFORM, event)

    async def resume(self, event: str, payload: Mapping[str, Any]) -> None:
        guild = self.context.client.get_guild(Fields(event, payload).number("guild"))
        if guild is not None:
            await self._greet(guild, event)
        await self.service.inbox.remove(PLATFORM, event)

    async def _greet(self, guild: discord.Guild, event: str) -> None:
        language = str(guild.preferred_locale).partition("-")[0]
        system = _writable_system_channel(guild)
        person = Person(id="", language=language)
        if system is not None:
            place = Place(platform=PLATFORM, workspace=str(guild.id), channel=str(system.id))
        else:
            inviter = await self._inviter(guild)
            channel = await self._direct_channel(inviter) if inviter else 0
            if not channel:
                _log.info("nobody in server %s could be greeted", guild.id)
                return
            person = Person(id=str(inviter), language=language)
            place = Place(platform=PLATFORM, workspace=DIRECT, channel=str(channel))
        arrival = Arrival(kind="joined", id=event.removeprefix(EVENT_PREFIX), place=place, person=person)
        room = ChannelRoom(self.context, place, event=guild.id, key=event, person=int(person.id or 0))
        await self.service.on_arrival(arrival, room)

    async def _inviter(self, guild: discord.Guild) -> int:
        if guild.me.guild_permissions.view_audit_log:
            try:
                async with api_calls(self.context.settings.call_seconds):
                    added = discord.AuditLogAction.bot_add
                    async for entry in guild.audit_logs(limit=_LATEST_BOTS, action=added):
                        if entry.user is not None and getattr(entry.target, "id", 0) == self.context.own_id:
                            return entry.user.id
            except ChatError as error:
                _log.info("the person who invited the bot is unknown: %s", error)
        return guild.owner_id or 0

    async def _direct_channel(self, person: int) -> int:
        try:
            async with api_calls(self.context.settings.call_seconds):
                return (await self.context.client.create_dm(discord.Object(person))).id
        except ChatError as error:
            _log.info("the person who invited the bot gets no direct message: %s", error)
            return 0


def _writable_system_channel(guild: discord.Guild) -> discord.TextChannel | None:
    channel = guild.system_channel
    if channel is None:
        return None
    granted = channel.permissions_for(guild.me)
    return channel if granted.view_channel and granted.send_messages else None
