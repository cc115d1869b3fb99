from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.discord import locations
from adapters.discord.api import UNKNOWN_CHANNEL, api_calls
from adapters.discord.visibility import EVERYONE, Overwrite, VisibilityRules, is_within, open_to_all
from bot.port import Channel, Gone, Membership, People, Place, Unreachable

if TYPE_CHECKING:
    from collections.abc import Collection

    from adapters.discord.context import DiscordContext

_PEOPLE = re.compile(r"<@(?:!?(?P<person>\d+)|&(?P<role>\d+))>")
_MEMBERS_PAGE = 1000
_MOST_PAGES = 10
_Channel: TypeAlias = "discord.abc.GuildChannel | discord.Thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectDirectory:
    context: DiscordContext
    id: str
    person: str
    home: str = ""

    def of_workspace(self, workspace: str) -> GuildDirectory | None:
        return _of_workspace(self.context, workspace)

    async def channel(self, channel: str) -> Channel:
        if channel != self.id:
            raise Gone("there is no such channel in these direct messages")
        return Channel(id=channel, name="", kind="direct")

    async def membership(self, person: str) -> Membership:
        return Membership()

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        if channel != self.id:
            return False
        return everyone_in == channel or (bool(person) and person == self.person)

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        return False

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        return frozenset()

    async def may_read_place(self, place: Place, person: str) -> bool:
        return await self.may_read(place.channel, person=person)

    async def shares_thread(self, place: Place) -> bool:
        return True

    async def present(self, place: Place, person: str) -> bool:
        return await self.may_read(place.channel, person=person)

    async def people(self, mention: str) -> People:
        raise Gone("direct messages have no members")

    async def direct(self, person: str) -> Place:
        return await _direct(self.context, person)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildDirectory:
    """Anyone may have invited the bot: no server is a home."""

    context: DiscordContext
    guild_id: int
    home: str = ""

    def of_workspace(self, workspace: str) -> GuildDirectory | None:
        return _of_workspace(self.context, workspace)

    async def channel(self, channel: str) -> Channel:
        found = await self._find(channel)
        return Channel(id=channel, name=found.name, kind="public" if _is_public(found) else "private")

    async def membership(self, person: str) -> Membership:
        member = await self._member(person)
        if member is None:
            return Membership()
        granted = member.guild_permissions
        roles = frozenset(role.name for role in member.roles if not role.is_default())
        return Membership(admin=granted.administrator or granted.manage_guild, roles=roles, member=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """False for private threads: members cannot be listed."""
        if everyone_in and everyone_in == channel:
            return True
        if channel not in self._channels():
            return False
        target = await self._find(channel)
        if isinstance(target, discord.Thread) and target.is_private():
            return False
        if everyone_in:
            if everyone_in not in self._channels():
                return False
            return is_within(_visibility_rules(await self._find(everyone_in)), _visibility_rules(target))
        member = await self._member(person)
        return member is not None and _may_read(target, member)

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        if everyone_in:
            await self._find(everyone_in)
        return bool(everyone_in) if not person else await self._member(person) is not None

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        member = await self._member(person)
        guild = self._guild()
        if member is None:
            return frozenset()
        found = {str(each.id): each for each in guild.channels if str(each.id) in channels}
        return frozenset(identity for identity, each in found.items() if _may_read(each, member))

    async def may_read_place(self, place: Place, person: str) -> bool:
        if not await self.may_read(place.channel, person=person):
            return False
        member = await self._member(person)
        if not place.thread.isdecimal() or member is None:
            return member is not None and not place.thread
        thread = self._guild().get_thread(int(place.thread))
        if thread is not None and not thread.is_private():
            return True
        return await self._may_read_thread(int(place.thread), await self._find(place.channel), member)

    async def shares_thread(self, place: Place) -> bool:
        async with api_calls(self.context.settings.call_seconds):
            try:
                thread = await locations.find_channel(self.context, int(place.thread))
            except (discord.NotFound, discord.Forbidden):
                return False
        return not isinstance(thread, discord.Thread) or not thread.is_private()

    async def present(self, place: Place, person: str) -> bool:
        self._guild()
        self.context.members.forget(self.guild_id, int(person) if person.isdecimal() else 0)
        member = await self._member(person)
        try:
            channel = await self._find(place.channel)
        except Gone:
            return False
        if member is None or not _may_read(channel, member):
            return False
        return not place.thread or await self._may_read_thread(int(place.thread), channel, member)

    async def people(self, mention: str) -> People:
        named = _PEOPLE.fullmatch(mention.strip())
        if named is None:
            raise Gone("this names neither a person nor a role")
        if named["person"]:
            member = await self._member(named["person"])
            if member is None:
                raise Gone("this person is not in this server")
            found = () if member.bot else (str(member.id),)
            return People(id=str(member.id), name=member.display_name, members=found)
        role = self._guild().get_role(int(named["role"]))
        if role is None:
            raise Gone("there is no such role in this server")
        return People(id=str(role.id), name=role.name, members=await self._members_of(role))

    async def _members_of(self, role: discord.Role) -> tuple[str, ...]:
        found: list[str] = []
        after: int | None = None
        async with api_calls(self.context.settings.call_seconds):
            for _ in range(_MOST_PAGES):
                page = await self.context.client.http.get_members(self.guild_id, _MEMBERS_PAGE, after)
                found += [
                    str(each["user"]["id"])
                    for each in page
                    if not each["user"].get("bot") and (role.is_default() or str(role.id) in each["roles"])
                ]
                if len(page) < _MEMBERS_PAGE:
                    break
                after = int(page[-1]["user"]["id"])
        return tuple(found)

    async def direct(self, person: str) -> Place:
        return await _direct(self.context, person)

    async def _may_read_thread(self, thread_id: int, channel: _Channel, member: discord.Member) -> bool:
        async with api_calls(self.context.settings.call_seconds):
            try:
                thread = await locations.find_channel(self.context, thread_id)
                if not isinstance(thread, discord.Thread) or not thread.is_private():
                    return True
                if _parent(channel).permissions_for(member).manage_threads:
                    return True
                await thread.fetch_member(member.id)
            except discord.NotFound as error:
                return error.code == UNKNOWN_CHANNEL
            except discord.Forbidden:
                return False
        return True

    def _guild(self) -> discord.Guild:
        guild = self.context.client.get_guild(self.guild_id)
        if guild is None or guild.unavailable:
            raise Unreachable("Discord has not sent this server yet")
        return guild

    def _channels(self) -> set[str]:
        guild = self._guild()
        return {str(each.id) for each in (*guild.channels, *guild.threads)}

    async def _find(self, channel: str) -> _Channel:
        guild = self._guild()
        found = guild.get_channel_or_thread(int(channel)) if channel.isdecimal() else None
        if found is None:
            raise Gone("there is no such channel in this server")
        return found

    async def _member(self, person: str) -> discord.Member | None:
        if not person.isdecimal():
            return None
        known = self.context.members.get(self.guild_id, int(person))
        if known is not None:
            return known[0]
        guild = self._guild()
        async with api_calls(self.context.settings.call_seconds):
            try:
                member = await guild.fetch_member(int(person))
            except discord.NotFound:
                member = None
        self.context.members.put(self.guild_id, int(person), member)
        return member


def _of_workspace(context: DiscordContext, workspace: str) -> GuildDirectory | None:
    if not workspace.isdecimal() or context.client.get_guild(int(workspace)) is None:
        return None
    return GuildDirectory(context=context, guild_id=int(workspace))


async def _direct(context: DiscordContext, person: str) -> Place:
    async with api_calls(context.settings.call_seconds):
        opened = await context.client.create_dm(discord.Object(int(person)))
    return Place(platform=locations.PLATFORM, workspace=locations.DIRECT, channel=str(opened.id))


def _parent(channel: _Channel) -> discord.abc.GuildChannel:
    if not isinstance(channel, discord.Thread):
        return channel
    if channel.parent is None:
        raise Gone("the channel of this thread no longer exists")
    return channel.parent


def _is_public(channel: _Channel) -> bool:
    private_thread = isinstance(channel, discord.Thread) and channel.is_private()
    return not private_thread and open_to_all(_visibility_rules(channel))


def _may_read(channel: _Channel, member: discord.Member) -> bool:
    parent = _parent(channel)
    granted = parent.permissions_for(member)
    may_join = granted.connect or not isinstance(parent, discord.VoiceChannel | discord.StageChannel)
    return granted.view_channel and granted.read_message_history and may_join


def _visibility_rules(channel: _Channel) -> VisibilityRules:
    parent = _parent(channel)
    guild = parent.guild
    roles = {_role_key(role, guild): role.permissions.value for role in guild.roles}
    by_role: dict[str, Overwrite] = {}
    by_member: dict[str, Overwrite] = {}
    for target, overwrite in parent.overwrites.items():
        allow, deny = overwrite.pair()
        rule = Overwrite(allow=allow.value, deny=deny.value)
        if isinstance(target, discord.Role) or guild.get_role(target.id):
            by_role[_role_key(target, guild)] = rule
        else:
            by_member[str(target.id)] = rule
    return VisibilityRules(
        roles=roles,
        role_overwrites=by_role,
        member_overwrites=by_member,
        voice=isinstance(parent, discord.VoiceChannel | discord.StageChannel),
        restricted=bool(getattr(parent, "nsfw", False)),
    )


def _role_key(role: discord.Role | discord.Member | discord.Object, guild: discord.Guild) -> str:
    return EVERYONE if role.id == guild.id else str(role.id)
