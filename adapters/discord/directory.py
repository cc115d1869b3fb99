"""Who may see what, from the server's roles and overwrites as Discord keeps them up to date with us."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.discord.border import calls
from adapters.discord.permissions import EVERYONE, Access, Overwrite, open_to_all, within
from bot.port import Channel, Gone, Standing, Unreachable

if TYPE_CHECKING:
    from adapters.discord.connection import Connection

_Found: TypeAlias = "discord.abc.GuildChannel | discord.Thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectDirectory:
    """The directory of direct messages: one person and us."""

    id: str
    person: str

    async def channel(self, channel: str) -> Channel:
        if channel != self.id:
            raise Gone("there is no such channel in these direct messages")
        return Channel(id=channel, name="", kind="direct")

    async def standing(self, person: str) -> Standing:
        """Nobody administers direct messages."""
        return Standing()

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        if channel != self.id:
            return False
        return everyone_in == channel or (bool(person) and person == self.person)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildDirectory:
    """The directory of one server. Channels and roles are kept by events; members are asked for, at most once a minute."""

    connection: Connection
    guild_id: int

    async def channel(self, channel: str) -> Channel:
        found = await self._find(channel)
        return Channel(id=channel, name=found.name, kind="public" if _is_public(found) else "private")

    async def standing(self, person: str) -> Standing:
        member = await self._member(person)
        if member is None:
            return Standing()
        granted = member.guild_permissions
        roles = frozenset(role.name for role in member.roles if not role.is_default())
        return Standing(admin=granted.administrator or granted.manage_guild, roles=roles, member=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """Private threads are read by nobody but their own members, of whom we have no list: False for them."""
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
            return within(_access(await self._find(everyone_in)), _access(target))
        member = await self._member(person)
        return member is not None and _may_read(target, member)

    def _guild(self) -> discord.Guild:
        guild = self.connection.client.get_guild(self.guild_id)
        if guild is None or guild.unavailable:
            raise Unreachable("Discord does not tell us about this server now")
        return guild

    def _channels(self) -> set[str]:
        guild = self._guild()
        return {str(each.id) for each in (*guild.channels, *guild.threads)}

    async def _find(self, channel: str) -> _Found:
        guild = self._guild()
        found = guild.get_channel_or_thread(int(channel)) if channel.isdecimal() else None
        if found is None:
            raise Gone("there is no such channel in this server")
        return found

    async def _member(self, person: str) -> discord.Member | None:
        """None when they are not, or no longer, in the server."""
        if not person.isdecimal():
            return None
        known = self.connection.members.get(self.guild_id, int(person))
        if known is not None:
            return known[0]
        guild = self._guild()
        async with calls(self.connection.settings.call_seconds):
            try:
                member = await guild.fetch_member(int(person))
            except discord.NotFound:
                member = None
        self.connection.members.put(self.guild_id, int(person), member)
        return member


def _parent(channel: _Found) -> discord.abc.GuildChannel:
    if not isinstance(channel, discord.Thread):
        return channel
    if channel.parent is None:
        raise Gone("the channel of this thread is not there any more")
    return channel.parent


def _is_public(channel: _Found) -> bool:
    private_thread = isinstance(channel, discord.Thread) and channel.is_private()
    return not private_thread and open_to_all(_access(channel))


def _may_read(channel: _Found, member: discord.Member) -> bool:
    parent = _parent(channel)
    granted = parent.permissions_for(member)
    joins = granted.connect or not isinstance(parent, discord.VoiceChannel | discord.StageChannel)
    return granted.view_channel and granted.read_message_history and joins


def _access(channel: _Found) -> Access:
    """A thread is seen by those who see its channel, a private one by some of them."""
    of = _parent(channel)
    guild = of.guild
    roles = {_role(role, guild): role.permissions.value for role in guild.roles}
    by_role: dict[str, Overwrite] = {}
    by_member: dict[str, Overwrite] = {}
    for target, overwrite in of.overwrites.items():
        allow, deny = overwrite.pair()
        made = Overwrite(allow=allow.value, deny=deny.value)
        if isinstance(target, discord.Role) or guild.get_role(target.id):
            by_role[_role(target, guild)] = made
        else:
            by_member[str(target.id)] = made
    return Access(
        roles=roles,
        role_overwrites=by_role,
        member_overwrites=by_member,
        voice=isinstance(of, discord.VoiceChannel | discord.StageChannel),
        restricted=bool(getattr(of, "nsfw", False)),
    )


def _role(role: discord.Role | discord.Member | discord.Object, guild: discord.Guild) -> str:
    return EVERYONE if role.id == guild.id else str(role.id)
