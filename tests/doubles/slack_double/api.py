"""Slack's API methods other than `chat.*`, and the table of all with scopes and limits."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.doubles.slack_double import chat
from tests.doubles.slack_double.search import search_context
from tests.doubles.slack_double.world import SlackError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from tests.doubles.slack_double.server import SlackServer
    from tests.doubles.slack_double.world import Message, User

    Arguments = Mapping[str, Any]
    Apply = Callable[[SlackServer, Arguments], Awaitable[dict[str, Any]]]

PREFIXES: Final = {"public": "channels", "private": "groups", "im": "im", "mpim": "mpim"}
"""Scopes by kind of conversation: `channels:history`, `im:read`, ..."""


# --- who we are -----------------------------------------------------------------------------------------------------------


async def auth_test(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    world = server.world
    return {
        "url": f"https://{world.domain}.slack.com/",
        "team": world.team,
        "user": world.bot.name,
        "team_id": f"T{world.team}",
        "user_id": world.bot.id,
        "bot_id": world.bot.bot,
        "is_enterprise_install": False,
    }


async def team_info(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    world = server.world
    return {"team": {"id": f"T{world.team}", "name": world.team, "domain": world.domain}}


async def connections_open(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    return {"url": server.wire.ticket()}


async def bots_info(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    for user in server.world.users.values():
        if user.bot and user.bot == arguments.get("bot"):
            return {
                "bot": {"id": user.bot, "name": user.name, "user_id": user.id, "app_id": "A" + user.bot[1:]}
            }
    raise SlackError("bot_not_found")


# --- conversations ----------------------------------------------------------------------------------------------------------


async def conversations_info(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for(arguments, member=False, reads="read")
    return {"channel": server.world.channel_json(channel)}


async def conversations_list(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    world = server.world
    kinds = {"public_channel": "public", "private_channel": "private"}
    asked = [kinds.get(kind, kind) for kind in str(arguments.get("types") or "public_channel").split(",")]
    listed = [
        world.channel_json(channel)
        for channel in world.channels.values()
        if channel.kind in asked and (channel.kind == "public" or world.bot.id in channel.members)
    ]
    return _paged("channels", listed, arguments)


async def conversations_members(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for(arguments, member=False, reads="read")
    return _paged("members", sorted(channel.members), arguments)


async def conversations_open(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    users = str(arguments.get("users") or "").split(",")
    if len(users) != 1:
        raise SlackError("method_not_supported_for_channel_type")
    channel = server.world.direct(_user(server, users[0]))
    return {"channel": {"id": channel.id}, "already_open": True}


async def conversations_join(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for(arguments, member=False)
    if channel.kind != "public":
        raise SlackError("method_not_supported_for_channel_type")
    channel.members.add(server.world.bot.id)
    return {"channel": server.world.channel_json(channel)}


async def conversations_history(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    """Newest first, without replies."""
    channel = server.channel_for(arguments, reads="history")
    messages = [
        each
        for each in server.world.messages.values()
        if each.channel == channel.id and not each.thread and not each.only_for
    ]
    chosen = sorted(_between(messages, arguments), key=lambda each: each.ts, reverse=True)
    return _told(server, chosen, arguments)


async def conversations_replies(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    """The whole thread, oldest first, with its first message on every page."""
    channel = server.channel_for(arguments, reads="history")
    root = server.world.messages.get(str(arguments.get("ts")))
    if root is None or root.channel != channel.id:
        raise SlackError("thread_not_found")
    first, *replies = server.world.thread_of(root.thread or root.ts) or [root]
    return _told(server, [first, *_between(replies, arguments)], arguments)


def _between(messages: Sequence[Message], arguments: Arguments) -> list[Message]:
    oldest, latest = str(arguments.get("oldest") or "0"), str(arguments.get("latest") or "9")
    inclusive = str(arguments.get("inclusive") or "").lower() in ("1", "true")
    return [
        each for each in messages if oldest < each.ts < latest or (inclusive and each.ts in (oldest, latest))
    ]


def _told(server: SlackServer, messages: Sequence[Message], arguments: Arguments) -> dict[str, Any]:
    metadata = str(arguments.get("include_all_metadata") or "").lower() in ("1", "true")
    page = _paged("messages", messages, arguments)
    replies = server.world.replies(page["messages"][0].channel) if page["messages"] else {}
    page["messages"] = [
        server.world.message_json(message, metadata=metadata, replies=replies) for message in page["messages"]
    ]
    return page | {"has_more": bool(page["response_metadata"]["next_cursor"])}


def _paged(name: str, listed: Sequence[Any], arguments: Arguments) -> dict[str, Any]:
    start, limit = int(arguments.get("cursor") or 0), int(arguments.get("limit") or 100)
    following = str(start + limit) if start + limit < len(listed) else ""
    return {name: list(listed[start : start + limit]), "response_metadata": {"next_cursor": following}}


# --- people -------------------------------------------------------------------------------------------------------------------


def _user(server: SlackServer, identifier: object) -> User:
    user = server.world.users.get(str(identifier))
    if user is None:
        raise SlackError("user_not_found")
    return user


async def users_info(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    return {"user": server.world.user_json(_user(server, arguments.get("user")))}


async def users_conversations(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    """Private channels only if the bot is in them too."""
    user, world = _user(server, arguments.get("user")), server.world
    kinds = {"public_channel": "public", "private_channel": "private"}
    asked = [kinds.get(kind, kind) for kind in str(arguments.get("types") or "public_channel").split(",")]
    listed = [
        world.channel_json(channel)
        for channel in world.channels.values()
        if channel.kind in asked
        and user.id in channel.members
        and (channel.kind == "public" or world.bot.id in channel.members)
    ]
    return _paged("channels", listed, arguments)


async def users_list(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    return _paged(
        "members", [server.world.user_json(user) for user in server.world.users.values()], arguments
    )


async def usergroups_list(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    users = str(arguments.get("include_users") or "").lower() in ("1", "true")
    return {
        "usergroups": [
            {"id": group, "team_id": f"T{server.world.team}", "handle": handle, "name": handle.title()}
            | ({"users": members} if users else {})
            for group, (handle, members) in server.world.groups.items()
        ]
    }


async def usergroups_users(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    if arguments.get("usergroup") not in server.world.groups:
        raise SlackError("no_such_subteam")
    return {"users": server.world.groups[arguments["usergroup"]][1]}


# --- files ----------------------------------------------------------------------------------------------------------------------


async def files_info(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    file = server.world.files.get(str(arguments.get("file")))
    if file is None or not any(server.is_member(channel) for channel in file.channels):
        raise SlackError("file_not_found")
    if file.deleted:
        raise SlackError("file_deleted")
    return {"file": server.world.file_json(file)}


async def files_upload_url(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    if not arguments.get("filename") or not int(arguments.get("length") or 0):
        raise SlackError("missing_argument")
    file = server.world.add_file(server.world.bot.id, arguments["filename"], b"")
    return {"upload_url": f"{server.base_url}/upload/{file.id}", "file_id": file.id}


async def files_complete_upload(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    """Share the files as one message of ours."""
    world = server.world
    listed = [world.files.get(str(each.get("id"))) for each in arguments.get("files") or ()]
    files = [file for file in listed if file is not None and file.content]
    if not listed or len(files) != len(listed):
        raise SlackError("file_not_found")
    if arguments.get("channel_id"):
        channel = server.channel_for({"channel": arguments["channel_id"]})
        message = chat.made(
            server,
            channel,
            {**arguments, "text": arguments.get("initial_comment") or " ", "channel": channel.id},
        )
        message.files = [file.id for file in files]
        for file in files:
            file.channels.append(channel.id)
        server.put(message)
    return {"files": [world.file_json(file) for file in files]}


# --- reactions, views, the line under a thread ------------------------------------------------------------------------------------


async def reactions_add(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    people = _reactions(server, arguments)
    if server.world.bot.id in people:
        raise SlackError("already_reacted")
    people.add(server.world.bot.id)
    server.changed()
    return {}


async def reactions_remove(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    people = _reactions(server, arguments)
    if server.world.bot.id not in people:
        raise SlackError("no_reaction")
    people.discard(server.world.bot.id)
    server.changed()
    return {}


def _reactions(server: SlackServer, arguments: Arguments) -> set[str]:
    server.channel_for(arguments)
    message = chat.found(server, arguments.get("channel"), arguments.get("timestamp"))
    return message.reactions.setdefault(str(arguments.get("name")), set())


async def views_open(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    return {"view": server.views.open(str(arguments.get("trigger_id")), arguments.get("view") or {})}


async def views_push(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    return {"view": server.views.open(str(arguments.get("trigger_id")), arguments.get("view") or {})}


async def views_update(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    return {"view": server.views.update(str(arguments.get("view_id")), arguments.get("view") or {})}


async def views_publish(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    user = _user(server, arguments.get("user_id"))
    return {"view": server.views.publish(user.id, arguments.get("view") or {})}


async def set_status(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    channel = server.channel_for({"channel": arguments.get("channel_id")})
    if not arguments.get("thread_ts"):
        raise SlackError("invalid_thread_ts")
    if len(arguments.get("loading_messages") or ()) > 10:
        raise SlackError("invalid_arguments")
    server.set_status(channel.id, arguments["thread_ts"], str(arguments.get("status") or ""))
    return {}


async def accepted(server: SlackServer, arguments: Arguments) -> dict[str, Any]:
    """A method without effect in the double."""
    return {}


# --- the table --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """`calls` in any `seconds` per workspace, or per channel with `by_channel`."""

    apply: Apply
    scope: str = ""
    calls: int
    seconds: float = 60.0
    by_channel: bool = False


def _tier(calls: int, **methods: tuple[Apply, str]) -> dict[str, Method]:
    named = ((name.replace("__", "."), rule) for name, rule in methods.items())
    return {name: Method(apply=apply, scope=scope, calls=calls) for name, (apply, scope) in named}


TIER_2, TIER_3, TIER_4, SPECIAL = 20, 50, 100, 600
METHODS: Final[dict[str, Method]] = dict(
    itertools.chain(
        _tier(
            TIER_2,
            chat__startStream=(chat.start_stream, "chat:write"),
            chat__stopStream=(chat.stop_stream, "chat:write"),
            conversations__list=(conversations_list, "channels:read"),
            users__list=(users_list, "users:read"),
            usergroups__list=(usergroups_list, "usergroups:read"),
            usergroups__users__list=(usergroups_users, "usergroups:read"),
        ).items(),
        _tier(
            TIER_3,
            apps__connections__open=(connections_open, "connections:write"),
            chat__update=(chat.update, "chat:write"),
            chat__delete=(chat.delete, "chat:write"),
            conversations__info=(conversations_info, ""),
            users__conversations=(users_conversations, "channels:read"),
            conversations__open=(conversations_open, "im:write"),
            conversations__join=(conversations_join, "channels:join"),
            conversations__history=(conversations_history, ""),
            conversations__replies=(conversations_replies, ""),
            bots__info=(bots_info, "users:read"),
            team__info=(team_info, "team:read"),
            reactions__add=(reactions_add, "reactions:write"),
            reactions__remove=(reactions_remove, "reactions:write"),
        ).items(),
        _tier(
            TIER_4,
            chat__appendStream=(chat.append_stream, "chat:write"),
            chat__postEphemeral=(chat.post_ephemeral, "chat:write"),
            conversations__members=(conversations_members, ""),
            users__info=(users_info, "users:read"),
            files__info=(files_info, "files:read"),
            files__getUploadURLExternal=(files_upload_url, "files:write"),
            files__completeUploadExternal=(files_complete_upload, "files:write"),
            views__open=(views_open, ""),
            views__push=(views_push, ""),
            views__update=(views_update, ""),
            views__publish=(views_publish, ""),
        ).items(),
        _tier(
            SPECIAL,
            auth__test=(auth_test, ""),
            chat__getPermalink=(chat.permalink, ""),
            assistant__search__context=(search_context, "search:read.public"),
            assistant__threads__setStatus=(set_status, "chat:write"),
            assistant__threads__setTitle=(accepted, "chat:write"),
            assistant__threads__setSuggestedPrompts=(accepted, "chat:write"),
        ).items(),
    )
)
METHODS["chat.postMessage"] = Method(
    apply=chat.post_message, scope="chat:write", calls=10, seconds=10.0, by_channel=True
)
"""One a second on average, ten at once."""
