"""Discord's REST endpoints, one function each: arguments (path, query, body) and files in, response out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.doubles.discord_double import messages, payloads, validation
from tests.doubles.discord_double.gateway import DIRECT_TYPING, GUILD_MEMBERS, GUILD_REACTIONS, GUILD_TYPING
from tests.doubles.discord_double.world import (
    ADD_REACTIONS,
    ATTACH_FILES,
    CREATE_PRIVATE_THREADS,
    CREATE_PUBLIC_THREADS,
    DIRECT,
    MANAGE_CHANNELS,
    MANAGE_MESSAGES,
    MANAGE_THREADS,
    READ_MESSAGE_HISTORY,
    SEND_MESSAGES,
    SEND_MESSAGES_IN_THREADS,
    permissions,
    permissions_in_guild,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.doubles.chat_server import Upload
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import Channel, Guild, Message


Arguments = dict[str, Any]


OLD_SECONDS = 3600.0


def channel_of(server: DiscordServer, arguments: Arguments) -> Channel:
    """The channel of the call, if the bot can see it."""
    channel = server.world.channels.get(str(arguments["channel"]))
    if channel is None or channel.deleted:
        raise validation.unknown("Channel", 10003)
    if not permissions(channel, server.bot.id):
        raise validation.MISSING_ACCESS
    return channel


def message_of(server: DiscordServer, arguments: Arguments) -> Message:
    channel = channel_of(server, arguments)
    message = server.world.messages.get(str(arguments["message"]))
    if message is None or message.deleted or message.channel is not channel or message.only_for:
        raise validation.unknown("Message", 10008)
    return message


def require(server: DiscordServer, channel: Channel, needed: int) -> None:
    if permissions(channel, server.bot.id) & needed != needed:
        raise validation.MISSING_PERMISSIONS


def as_read(server: DiscordServer, message: Message) -> payloads.Payload:
    """REST content depends on the application's intents; the nonce is not stored."""
    readable = messages.readable(server, message, intents=server.privileged_intents)
    payload = payloads.message(message, server.world, base_url=server.base_url, readable=readable)
    payload.pop("nonce", None)
    return payload


def as_sent(server: DiscordServer, message: Message) -> payloads.Payload:
    return as_read(server, message) | ({} if message.nonce is None else {"nonce": message.nonce})


def create_message(server: DiscordServer, arguments: Arguments, files: Sequence[Upload]) -> Any:
    channel = channel_of(server, arguments)
    require(server, channel, SEND_MESSAGES_IN_THREADS if channel.is_thread else SEND_MESSAGES)
    if files:
        require(server, channel, ATTACH_FILES)
    _check_reachable(server, channel)
    if repeated := _sent_before(server, channel, arguments):
        return as_sent(server, repeated)
    if arguments.get("message_reference") and not permissions(channel, server.bot.id) & READ_MESSAGE_HISTORY:
        raise validation.CANNOT_REPLY
    if channel.is_thread:
        messages.enter(server, channel, server.bot.id)
    return as_sent(server, messages.create(server, channel, server.bot, arguments, files))


def _check_reachable(server: DiscordServer, channel: Channel) -> None:
    closed = {user.id for user in channel.recipients} & server.closed_to_us
    if channel.kind == DIRECT and closed:
        raise validation.CANNOT_MESSAGE


def _sent_before(server: DiscordServer, channel: Channel, arguments: Arguments) -> Message | None:
    """With `enforce_nonce`, the message of the same nonce in the past few minutes."""
    if not arguments.get("enforce_nonce") or arguments.get("nonce") is None:
        return None
    for message in reversed(server.world.in_channel(channel)):
        young = server.wall() - message.created < server.nonce_seconds
        if young and message.author is server.bot and message.nonce == str(arguments["nonce"]):
            return message
    return None


def edit_message(server: DiscordServer, arguments: Arguments, files: Sequence[Upload]) -> Any:
    message = message_of(server, arguments)
    if message.author is not server.bot:
        raise validation.NOT_THE_AUTHOR
    if message.channel.archived:
        raise validation.ARCHIVED
    if server.wall() - message.created > OLD_SECONDS:
        server.count_old_edit(message.channel)
    messages.change(server, message, arguments, files)
    return as_read(server, message)


def delete_message(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    message = message_of(server, arguments)
    if message.author is not server.bot:
        require(server, message.channel, MANAGE_MESSAGES)
    if message.channel.archived:
        raise validation.ARCHIVED
    messages.remove(server, message)


def get_message(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    message = message_of(server, arguments)
    require(server, message.channel, READ_MESSAGE_HISTORY)
    return as_read(server, message)


def list_messages(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    """Newest first; empty without the permission to read the history."""
    channel = channel_of(server, arguments)
    limit = int(arguments.get("limit") or 50)
    if not 1 <= limit <= 100:
        raise validation.invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
    if not permissions(channel, server.bot.id) & READ_MESSAGE_HISTORY:
        return []
    found = [message for message in server.world.in_channel(channel) if not message.only_for]
    if "before" in arguments:
        found = [message for message in found if int(message.id) < int(arguments["before"])][-limit:]
    elif "after" in arguments:
        found = [message for message in found if int(message.id) > int(arguments["after"])][:limit]
    elif "around" in arguments:
        found = _around(found, int(arguments["around"]), limit)
    else:
        found = found[-limit:]
    return [as_read(server, message) for message in reversed(found)]


def _around(found: list[Message], middle: int, limit: int) -> list[Message]:
    earlier = [message for message in found if int(message.id) < middle][-(limit // 2) :]
    later = [message for message in found if int(message.id) >= middle]
    return [*earlier, *later[: limit - len(earlier)]]


def typing(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    channel = channel_of(server, arguments)
    require(server, channel, SEND_MESSAGES_IN_THREADS if channel.is_thread else SEND_MESSAGES)
    payload = {"channel_id": channel.id, "user_id": server.bot.id, "timestamp": int(server.wall())}
    wanted = DIRECT_TYPING if channel.guild is None else GUILD_TYPING
    if channel.guild is not None:
        payload["guild_id"] = channel.guild.id
    server.gateway.dispatch("TYPING_START", lambda session: payload if session.reads(wanted) else None)


def react(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    message = message_of(server, arguments)
    require(server, message.channel, READ_MESSAGE_HISTORY | ADD_REACTIONS)
    if message.channel.archived:
        raise validation.ARCHIVED
    emoji = unquote(arguments["emoji"])
    message.reactions.setdefault(emoji, set()).add(server.bot.id)
    told = _reaction(server, message, emoji)
    server.gateway.dispatch(
        "MESSAGE_REACTION_ADD", lambda session: told if session.reads(GUILD_REACTIONS) else None
    )


def unreact(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    message = message_of(server, arguments)
    message.reactions.get(unquote(arguments["emoji"]), set()).discard(server.bot.id)


def _reaction(server: DiscordServer, message: Message, emoji: str) -> payloads.Payload:
    told: payloads.Payload = {
        "user_id": server.bot.id,
        "channel_id": message.channel.id,
        "message_id": message.id,
        "emoji": {"id": None, "name": emoji},
        "burst": False,
        "type": 0,
    }
    return told | ({"guild_id": message.channel.guild.id} if message.channel.guild else {})


def create_thread(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    root = message_of(server, arguments)
    if root.channel.guild is None or root.channel.is_thread:
        raise validation.ApiError(400, 50024, "Cannot execute action on this channel type")
    require(server, root.channel, CREATE_PUBLIC_THREADS)
    _check_name(arguments)
    thread = messages.open_thread(server, root.channel, arguments["name"], server.bot.id, root=root)
    thread.archive_minutes = int(arguments.get("auto_archive_duration") or 1440)
    return payloads.thread(thread, viewer=server.bot.id)


def create_thread_alone(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    parent = channel_of(server, arguments)
    private = arguments.get("type", 12) == 12
    require(server, parent, CREATE_PRIVATE_THREADS if private else CREATE_PUBLIC_THREADS)
    _check_name(arguments)
    thread = messages.open_thread(server, parent, arguments["name"], server.bot.id, private=private)
    return payloads.thread(thread, viewer=server.bot.id)


def _check_name(arguments: Arguments) -> None:
    if not 1 <= validation.units(arguments.get("name") or "") <= 100:
        raise validation.invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    if arguments.get("auto_archive_duration", 1440) not in (60, 1440, 4320, 10080):
        raise validation.invalid(
            "auto_archive_duration", "BASE_TYPE_CHOICES", "One of 60, 1440, 4320, 10080."
        )


def join_thread(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    thread = channel_of(server, arguments)
    if thread.archived:
        raise validation.ARCHIVED
    thread.members.add(server.bot.id)


def thread_member(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    thread = channel_of(server, arguments)
    user = str(arguments["user"])
    if user not in thread.members:
        raise validation.unknown("Member", 10007)
    return {"id": thread.id, "user_id": user, "join_timestamp": "2026-01-01T00:00:00+00:00", "flags": 0}


def active_threads(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    guild = guild_of(server, arguments)
    found = [
        channel
        for channel in server.world.channels.values()
        if channel.guild is guild
        and channel.is_thread
        and not channel.archived
        and not channel.deleted
        and permissions(channel, server.bot.id)
    ]
    return {"threads": [payloads.thread(each, viewer=server.bot.id) for each in found], "members": []}


def get_channel(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    return payloads.channel(channel_of(server, arguments), viewer=server.bot.id)


def edit_channel(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    channel = channel_of(server, arguments)
    reopening = arguments.get("archived") is False and not channel.locked
    if not (channel.is_thread and (channel.owner == server.bot.id or reopening)):
        require(server, channel, MANAGE_THREADS if channel.is_thread else MANAGE_CHANNELS)
    channel.name = arguments.get("name", channel.name)
    channel.archived = arguments.get("archived", channel.archived)
    channel.locked = arguments.get("locked", channel.locked)
    if channel.is_thread:
        messages.announce_thread(server, "THREAD_UPDATE", channel)
    return payloads.channel(channel, viewer=server.bot.id)


def open_direct(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    user = server.world.users.get(str(arguments.get("recipient_id")))
    if user is None:
        raise validation.unknown("User", 10013)
    return payloads.channel(server.world.direct(user, server.bot), viewer=server.bot.id)


def guild_of(server: DiscordServer, arguments: Arguments) -> Guild:
    guild = server.world.guilds.get(str(arguments["guild"]))
    if guild is None:
        raise validation.unknown("Guild", 10004)
    if server.bot.id not in guild.members:
        raise validation.MISSING_ACCESS
    return guild


def get_guild(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    guild = guild_of(server, arguments)
    count = len(guild.members)
    return payloads.guild_summary(guild) | {
        "approximate_member_count": count,
        "approximate_presence_count": 0,
    }


def list_channels(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    guild = guild_of(server, arguments)
    return [
        payloads.channel(each, viewer=server.bot.id)
        for each in server.world.channels.values()
        if each.guild is guild and not each.is_thread and not each.deleted
    ]


def list_roles(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    return [payloads.role(each) for each in guild_of(server, arguments).roles.values()]


def get_member(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    guild = guild_of(server, arguments)
    wanted = server.bot.id if arguments["user"] == "@me" else str(arguments["user"])
    if wanted not in guild.members:
        raise validation.unknown("Member", 10007)
    return payloads.member(guild.members[wanted])


def list_members(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    guild = guild_of(server, arguments)
    if not server.privileged_intents & GUILD_MEMBERS:
        raise validation.MISSING_ACCESS
    after = int(arguments.get("after") or 0)
    found = sorted(guild.members.values(), key=lambda each: int(each.user.id))
    later = [each for each in found if int(each.user.id) > after]
    return [payloads.member(each) for each in later[: int(arguments.get("limit") or 1)]]


def get_user(server: DiscordServer, arguments: Arguments, _files: Sequence[Upload]) -> Any:
    if arguments["user"] == "@me":
        return payloads.user(server.bot) | {"verified": True, "mfa_enabled": False, "flags": 0}
    user = server.world.users.get(str(arguments["user"]))
    if user is None:
        raise validation.unknown("User", 10013)
    return payloads.user(user)


def my_guilds(server: DiscordServer, _arguments: Arguments, _files: Sequence[Upload]) -> Any:
    ours = [guild for guild in server.world.guilds.values() if server.bot.id in guild.members]
    return [
        {
            "id": guild.id,
            "name": guild.name,
            "owner": False,
            "permissions": str(permissions_in_guild(guild, server.bot.id)),
        }
        for guild in ours
    ]
