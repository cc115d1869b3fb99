"""Slack's `assistant.search.context`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.doubles.slack_double.world import SlackError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.slack_double.server import SlackServer
    from tests.doubles.slack_double.world import Message


async def search_context(server: SlackServer, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Messages of public channels by their words, for a bot token only with the token of an event."""
    asker = server.action_tokens.get(str(arguments.get("action_token") or ""))
    if asker is None:
        raise SlackError("invalid_action_token")
    kinds = arguments.get("channel_types") or ["public_channel"]
    if set(kinds.split(",") if isinstance(kinds, str) else kinds) != {"public_channel"}:
        raise SlackError("missing_scope", needed="search:read.private", provided="search:read.public")
    if not arguments.get("query") or int(arguments.get("limit") or 20) > 20:
        raise SlackError("invalid_arguments")
    asked = set(_words(str(arguments["query"])))
    scored = [
        (len(asked & set(_words(each.shown))), each)
        for each in server.world.messages.values()
        if each.channel in server.searched or server.world.channels[each.channel].kind == "public"
    ]
    found = sorted((each for each in scored if each[0]), key=lambda each: (-each[0], each[1].ts))
    return {"results": {"messages": [_result(server, each) for _, each in found[:20] if not each.only_for]}}


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]{4,}", text.casefold())


def _result(server: SlackServer, message: Message) -> dict[str, Any]:
    world = server.world
    channel, author = world.channels[message.channel], world.users[message.user]
    return {
        "author_user_id": author.id,
        "author_name": author.name,
        "team_id": f"T{world.team}",
        "channel_id": channel.id,
        "channel_name": channel.name,
        "message_ts": message.ts,
        "content": message.shown,
        "is_author_bot": bool(author.bot),
        "permalink": f"https://{world.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}",
    }
