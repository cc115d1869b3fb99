from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.doubles.chat_server import Upload
from tests.doubles.discord_double import interactions, rest, rest_application

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiohttp import web

    from tests.doubles.discord_double.server import DiscordServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """`calls` in `seconds`, per value of the argument `per`."""

    name: str
    calls: int
    seconds: float
    per: str = "channel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    verb: str
    path: str
    name: str
    function: Callable[[DiscordServer, dict[str, Any], Sequence[Upload]], Any]
    limit: Limit | None = None
    authorized: bool = True
    """Needs the bot's token. Routes with a token of their own do not, and no global limit counts them."""


CREATE = Limit(name="create", calls=5, seconds=5.0)
EDIT = Limit(name="edit", calls=5, seconds=5.0)
DELETE = Limit(name="delete", calls=5, seconds=1.0)
REACTION = Limit(name="reaction", calls=1, seconds=0.25)
TYPING = Limit(name="typing", calls=5, seconds=5.0)
WEBHOOK = Limit(name="webhook", calls=5, seconds=2.0, per="token")

_MESSAGES = "/channels/{channel}/messages"
_MESSAGE = _MESSAGES + "/{message}"
_REACTION = _MESSAGE + "/reactions/{emoji}/@me"
_COMMANDS = "/applications/{application}/commands"
_GUILD_COMMANDS = "/applications/{application}/guilds/{guild}/commands"
_WEBHOOK = "/webhooks/{application}/{token}"


def _at(verb: str, path: str, name: str, function: Any, limit: Limit | None = None) -> Endpoint:
    return Endpoint(verb=verb, path=path, name=name, function=function, limit=limit)


def _open(verb: str, path: str, name: str, function: Any, limit: Limit | None = None) -> Endpoint:
    return Endpoint(verb=verb, path=path, name=name, function=function, limit=limit, authorized=False)


def _commands(base: str) -> list[Endpoint]:
    return [
        _at("GET", base, "get_commands", interactions.get_commands),
        _at("PUT", base, "put_commands", interactions.put_commands),
        _at("POST", base, "create_command", interactions.create_command),
        _at("PATCH", base + "/{command}", "edit_command", interactions.edit_command),
        _at("DELETE", base + "/{command}", "delete_command", interactions.delete_command),
    ]


ENDPOINTS = (
    _at("POST", _MESSAGES, "create_message", rest.create_message, CREATE),
    _at("GET", _MESSAGES, "list_messages", rest.list_messages),
    _at("GET", _MESSAGE, "get_message", rest.get_message),
    _at("PATCH", _MESSAGE, "edit_message", rest.edit_message, EDIT),
    _at("DELETE", _MESSAGE, "delete_message", rest.delete_message, DELETE),
    _at("POST", _MESSAGE + "/threads", "create_thread", rest.create_thread),
    _at("PUT", _REACTION, "react", rest.react, REACTION),
    _at("DELETE", _REACTION, "unreact", rest.unreact, REACTION),
    _at("POST", "/channels/{channel}/typing", "typing", rest.typing, TYPING),
    _at("POST", "/channels/{channel}/threads", "create_thread_alone", rest.create_thread_alone),
    _at("PUT", "/channels/{channel}/thread-members/@me", "join_thread", rest.join_thread),
    _at("GET", "/channels/{channel}/thread-members/{user}", "thread_member", rest.thread_member),
    _at("GET", "/channels/{channel}", "get_channel", rest.get_channel),
    _at("PATCH", "/channels/{channel}", "edit_channel", rest.edit_channel),
    _at("POST", "/users/@me/channels", "open_direct", rest.open_direct),
    _at("GET", "/users/@me/guilds", "my_guilds", rest.my_guilds),
    _at("GET", "/users/{user}", "get_user", rest.get_user),
    _at("GET", "/guilds/{guild}", "get_guild", rest.get_guild),
    _at("GET", "/guilds/{guild}/channels", "list_channels", rest.list_channels),
    _at("GET", "/guilds/{guild}/threads/active", "active_threads", rest.active_threads),
    _at("GET", "/guilds/{guild}/roles", "list_roles", rest.list_roles),
    _at("GET", "/guilds/{guild}/members", "list_members", rest.list_members),
    _at("GET", "/guilds/{guild}/members/{user}", "get_member", rest.get_member),
    _at("GET", "/applications/@me", "application", rest_application.application),
    _at("GET", "/oauth2/applications/@me", "application", rest_application.application),
    _at("GET", "/gateway/bot", "gateway", rest_application.gateway),
    _open("GET", "/gateway", "gateway", rest_application.gateway),
    _at("POST", "/attachments/refresh-urls", "refresh_links", rest_application.refresh_links),
    *_commands(_COMMANDS),
    *_commands(_GUILD_COMMANDS),
    _open("POST", "/interactions/{interaction}/{token}/callback", "callback", interactions.callback),
    _open("POST", _WEBHOOK, "follow_up", interactions.follow_up, WEBHOOK),
    _open("GET", _WEBHOOK + "/messages/{message}", "get_by_token", interactions.get_by_token),
    _open("PATCH", _WEBHOOK + "/messages/{message}", "edit_by_token", interactions.edit_by_token, WEBHOOK),
    _open(
        "DELETE", _WEBHOOK + "/messages/{message}", "delete_by_token", interactions.delete_by_token, WEBHOOK
    ),
)


async def read(request: web.Request) -> tuple[dict[str, Any], list[Upload]]:
    """The arguments of a call and its files. A list as body is called `list`."""
    files: list[Upload] = []
    body: Any = {}
    if request.content_type == "multipart/form-data":
        form = await request.post()
        body = json.loads(str(form.get("payload_json", "{}")))
        files = [
            Upload(name=value.filename, content=value.file.read(), media_type=value.content_type)
            for key, value in form.items()
            if key.startswith("files[") and not isinstance(value, (str, bytes))
        ]
    elif request.can_read_body:
        body = json.loads(await request.read() or b"{}")
    arguments = dict(body) if isinstance(body, dict) else {"list": body}
    return {**request.query, **arguments, **request.match_info}, files
