"""Changes to the doubled Discord from outside: people, guilds, channels, permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.discord_double import messages, payloads
from tests.doubles.discord_double.gateway import GUILD_MEMBERS, GUILDS
from tests.doubles.discord_double.world import (
    ADMINISTRATOR,
    KINDS,
    Channel,
    Guild,
    Overwrite,
    Role,
    User,
    permissions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.doubles.discord_double.gateway import Gateway
    from tests.doubles.discord_double.world import World


class Changes:
    """`guild` is the default guild."""

    world: World
    gateway: Gateway
    guild: Guild
    bot: User
    owner: User
    changed: Callable[[], None]

    # --- people ----------------------------------------------------------------------------------------------------------

    def add_user(
        self,
        name: str,
        guild: Guild | None = None,
        *,
        admin: bool = False,
        roles: Iterable[Role] = (),
        locale: str = "en-US",
    ) -> User:
        """A person who joins the guild."""
        user = self.world.user(name, locale=locale)
        self.joins(user, guild or self.guild, roles=roles)
        if admin:
            self.gives_role(user, self.add_role("Administrators", ADMINISTRATOR, guild), guild)
        return user

    def add_bot(self, name: str, guild: Guild | None = None) -> User:
        """Another bot."""
        user = self.world.user(name, bot=True)
        self.joins(user, guild or self.guild)
        return user

    def joins(self, user: User, guild: Guild, *, roles: Iterable[Role] = ()) -> None:
        member = self.world.join(guild, user, roles)
        self._tell_members(guild, "GUILD_MEMBER_ADD", payloads.member(member) | {"guild_id": guild.id})

    def leaves(self, user: User, guild: Guild | None = None) -> None:
        """A person leaves; the bot is kicked."""
        place = guild or self.guild
        del place.members[user.id]
        if user is self.bot:
            self.gateway.dispatch("GUILD_DELETE", lambda _session: {"id": place.id})
        else:
            told = {"guild_id": place.id, "user": payloads.user(user)}
            self._tell_members(place, "GUILD_MEMBER_REMOVE", told)

    def gives_role(self, user: User, role: Role, guild: Guild | None = None) -> None:
        place = guild or self.guild
        place.members[user.id].roles.add(role.id)
        self._member_changed(place, user)

    def takes_role(self, user: User, role: Role, guild: Guild | None = None) -> None:
        place = guild or self.guild
        place.members[user.id].roles.discard(role.id)
        self._member_changed(place, user)

    def _member_changed(self, guild: Guild, user: User) -> None:
        told = payloads.member(guild.members[user.id]) | {"guild_id": guild.id}
        if user is self.bot:
            self.gateway.dispatch("GUILD_MEMBER_UPDATE", lambda _session: told)
        else:
            self._tell_members(guild, "GUILD_MEMBER_UPDATE", told)

    def _tell_members(self, guild: Guild, event: str, told: dict[str, Any]) -> None:
        if self.bot.id in guild.members:
            self.gateway.dispatch(event, lambda session: told if session.reads(GUILD_MEMBERS) else None)

    # --- guilds and roles ------------------------------------------------------------------------------------------------

    def add_guild(self, name: str, *, bot: bool = True) -> Guild:
        """A guild, with the bot unless it was not invited."""
        guild = self.world.guild(name, self.owner)
        if bot:
            self.world.join(guild, self.bot)
            self.gateway.dispatch("GUILD_CREATE", lambda session: self.gateway.guild(guild, session))
        return guild

    def add_role(self, name: str, permissions: int = 0, guild: Guild | None = None) -> Role:
        place = guild or self.guild
        role = self.world.role(place, name, permissions)
        self._role_changed(place, role, "GUILD_ROLE_CREATE")
        return role

    def set_role(self, role: Role, permissions: int, guild: Guild | None = None) -> None:
        """Set what a role may do in the guild."""
        role.permissions = permissions
        self._role_changed(guild or self.guild, role, "GUILD_ROLE_UPDATE")

    def everyone(self, guild: Guild | None = None) -> Role:
        place = guild or self.guild
        return place.roles[place.id]

    def _role_changed(self, guild: Guild, role: Role, event: str) -> None:
        told = {"guild_id": guild.id, "role": payloads.role(role)}
        self.gateway.dispatch(event, lambda session: told if session.reads(GUILDS) else None)

    # --- channels --------------------------------------------------------------------------------------------------------

    def add_channel(
        self,
        name: str,
        kind: str = "text",
        guild: Guild | None = None,
        *,
        only: Iterable[User | Role] | None = None,
        bot: bool = True,
    ) -> Channel:
        """A channel ("text", "voice", "announcement", "forum"); `only` makes it private for those and the bot."""
        place = guild or self.guild
        readers = None if only is None else [*only, *([self.bot] if bot else [])]
        channel = self.world.channel(place, name, kind=KINDS[kind], only=readers)
        self._channel_changed(channel, "CHANNEL_CREATE")
        return channel

    def direct(self, user: User) -> Channel:
        """The person's direct messages with the bot."""
        return self.world.direct(user, self.bot)

    def add_thread(self, user: User, message: str, name: str = "A thread") -> Channel:
        """A person opens a thread from a message."""
        root = self.world.messages[message]
        return messages.open_thread(self, root.channel, name, user.id, root=root)

    def set_rights(self, channel: Channel, who: User | Role, *, allow: int = 0, deny: int = 0) -> None:
        """Set a person's or role's overwrite in one channel."""
        kind = 0 if isinstance(who, Role) else 1
        channel.overwrites[who.id] = Overwrite(id=who.id, kind=kind, allow=allow, deny=deny)
        self._channel_changed(channel, "CHANNEL_UPDATE")

    def set_thread(self, thread: Channel, *, archived: bool = False, locked: bool = False) -> None:
        thread.archived, thread.locked = archived, locked
        messages.announce_thread(self, "THREAD_UPDATE", thread)

    def delete_channel(self, channel: Channel) -> None:
        told = payloads.channel(channel, viewer=self.bot.id)
        seen = bool(permissions(channel, self.bot.id))
        channel.deleted = True
        event = "THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE"
        if seen:
            self.gateway.dispatch(event, lambda session: told if session.reads(GUILDS) else None)
        self.changed()

    def _channel_changed(self, channel: Channel, event: str) -> None:
        guild = channel.guild
        if guild is not None and self.bot.id in guild.members:
            told = payloads.channel(channel, viewer=self.bot.id)
            self.gateway.dispatch(event, lambda session: told if session.reads(GUILDS) else None)
        self.changed()
