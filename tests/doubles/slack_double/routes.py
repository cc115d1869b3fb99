"""The double's HTTP side: API calls with tokens, scopes and limits, files, response URLs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from tests.doubles.chat_server import ERROR, ChatServer, Fault, Text
from tests.doubles.slack_double import chat
from tests.doubles.slack_double.api import METHODS, PREFIXES
from tests.doubles.slack_double.views import ResponseUrl, Views
from tests.doubles.slack_double.wire import Wire
from tests.doubles.slack_double.world import Channel, Message, SlackError, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

JSON_ARGUMENTS: Final = ("blocks", "chunks", "metadata", "view", "files", "attachments", "loading_messages")
SCOPES: Final = frozenset(
    {method.scope for method in METHODS.values() if method.scope}
    | {f"{prefix}:{verb}" for prefix in PREFIXES.values() for verb in ("history", "read", "write")}
    | {"app_mentions:read", "commands"}
)
LOGIN_PAGE: Final = (
    b"<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in</body></html>"
)


class SlackRoutes(ChatServer):
    def __init__(self, *, team: str = "ACME") -> None:
        super().__init__()
        self.world = World(now=self.now, base_url=lambda: self.base_url, team=team)
        self.bot_token = f"xoxb-double-{team.lower()}"
        self.app_token = f"xapp-1-double-{team.lower()}"
        self.scopes = set(SCOPES)
        self.limits = {name: (each.calls, each.seconds) for name, each in METHODS.items()}
        self.stream_lifetime = 300.0
        self.stream_characters = 12_000
        """The characters of one stream."""
        self.changed_answers: dict[str, Callable[[Any], Any]] = {}
        """By method: what is answered instead."""
        self.login_pages = False
        """Downloads return the login page even with the token."""
        self.statuses: dict[tuple[str, str], list[Text]] = {}
        self.responses: dict[str, ResponseUrl] = {}
        self.wire = Wire(self)
        self.views = Views(self)

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.route("*", "/api/{method}", self._call),
            web.get("/link/", self.wire.link),
            web.post("/upload/{file}", self._upload),
            web.get("/files-pri/{file}/{tail:.*}", self._download),
            web.post("/response/{token}", self._respond),
        ]

    @property
    def api_url(self) -> str:
        return f"{self.base_url}/api/"

    def environment(self) -> dict[str, str]:
        """The bot's settings for this server."""
        keys = {"SLACK_BOT_TOKEN": self.bot_token, "SLACK_API_BASE_URL": self.api_url}
        if self.wire.request_url:
            return keys | {"SLACK_SIGNING_SECRET": self.wire.signing_secret}
        return keys | {"SLACK_APP_TOKEN": self.app_token}

    def refusal(self, fault: Fault) -> web.Response:
        response = super().refusal(fault)
        if fault.body is None and fault.status == 429:
            response.text = json.dumps({"ok": False, "error": "ratelimited"})
            response.content_type = "application/json"
        return response

    async def close(self) -> None:
        await self.wire.close()

    # calls

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = await _arguments(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or arguments.pop("token", "")

        async def apply() -> web.StreamResponse:
            try:
                self._allow(method, str(token))
                if wait := self._too_soon(method, arguments):
                    return _told({"ok": False, "error": "ratelimited"}, status=429, wait=wait)
                result = await METHODS[method].apply(self, arguments)
            except SlackError as error:
                return _told({"ok": False, "error": error.error, **error.more})
            scopes = ",".join(sorted(self.scopes))
            told = {"ok": True, **result}
            change = self.changed_answers.get(method)
            return _told(change(told) if change else told, scopes=scopes)

        return await self.answer(request, method, arguments, apply)

    def _allow(self, method: str, token: str) -> None:
        if method not in METHODS:
            raise SlackError("unknown_method", req_method=method)
        if not token:
            raise SlackError("not_authed")
        if token not in (self.bot_token, self.app_token):
            raise SlackError("invalid_auth")
        if (token == self.app_token) != (method == "apps.connections.open"):
            raise SlackError("not_allowed_token_type")
        self.need(METHODS[method].scope)

    def need(self, scope: str) -> None:
        if scope and scope not in self.scopes:
            raise SlackError("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))

    def _too_soon(self, method: str, arguments: Mapping[str, Any]) -> float:
        key = (method, str(arguments.get("channel"))) if METHODS[method].by_channel else (method,)
        return self.windows.take(key, *self.limits[method])

    def is_member(self, channel: str) -> bool:
        return self.world.bot.id in self.world.channels[channel].members

    def channel_for(self, arguments: Mapping[str, Any], *, member: bool = True, reads: str = "") -> Channel:
        """The channel of a call, if the bot may act in it."""
        named = str(arguments.get("channel") or "")
        if named in self.world.users:
            return self.world.direct(self.world.users[named])
        channel = self.world.channels.get(named)
        if channel is None or (channel.kind != "public" and not self.is_member(channel.id)):
            raise SlackError("channel_not_found")
        if member and not self.is_member(channel.id):
            raise SlackError("not_in_channel")
        if reads:
            self.need(f"{PREFIXES[channel.kind]}:{reads}")
        elif channel.archived:
            raise SlackError("is_archived")
        return channel

    def put(self, message: Message) -> None:
        self.world.messages[message.ts] = message
        if message.thread and message.user == self.world.bot.id:
            self.set_status(message.channel, message.thread, "")
        self.announce(message)
        self.changed()

    def remove(self, message: Message) -> None:
        self.world.messages.pop(message.ts, None)
        self.changed()

    def set_status(self, channel: str, thread: str, text: str) -> None:
        """Set the line under a thread; empty removes it."""
        said = self.statuses.setdefault((channel, thread), [])
        if text or (said and said[-1].text):
            said.append(Text(text=text, at=self.now()))
        self.changed()

    def announce(self, message: Message) -> None:
        """Send the message to the bot as an event."""

    def announce_change(self, message: Message) -> None:
        """Send the change to the bot as an event."""

    # files

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        file = self.world.files.get(request.match_info["file"])
        if request.content_type.startswith("multipart/"):
            part = next(iter((await request.post()).values()))
            content = part.file.read() if isinstance(part, web.FileField) else str(part).encode()
        else:
            content = await request.read()

        async def apply() -> web.StreamResponse:
            if file is None:
                return web.Response(status=404)
            file.content = content
            return web.Response(text=f"OK - {len(content)}")

        return await self.answer(request, "upload", {"file": request.match_info["file"]}, apply)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["file"].rpartition("-")[2]
        authorised = request.headers.get("Authorization") == f"Bearer {self.bot_token}"

        async def apply() -> web.StreamResponse:
            file = self.world.files.get(name)
            if not authorised or self.login_pages or "files:read" not in self.scopes:
                return web.Response(body=LOGIN_PAGE, content_type="text/html", charset="utf-8")
            if file is None or file.deleted:
                return web.Response(status=404)
            return web.Response(body=file.content, content_type=file.media_type)

        return await self.answer(request, "download", {"file": name, "authorised": authorised}, apply)

    def response_url(self, channel: str, user: str, *, message: str = "", thread: str = "") -> str:
        token = f"{self.world.number()}"
        made = ResponseUrl(channel=channel, user=user, at=self.now(), message=message, thread=thread)
        self.responses[token] = made
        return f"{self.base_url}/response/{token}"

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        sink = self.responses.get(request.match_info["token"])
        arguments = await _arguments(request)

        async def apply() -> web.StreamResponse:
            try:
                if sink is None:
                    raise SlackError("expired_url")
                sink.take(self.now())
                self.respond(sink, arguments)
            except SlackError as error:
                status = 404 if error.error in ("expired_url", "used_url") else 400
                return _told({"ok": False, "error": error.error, **error.more}, status=status)
            return web.Response(text="ok")

        return await self.answer(request, "response_url", arguments, apply)

    def respond(self, sink: ResponseUrl, arguments: Mapping[str, Any]) -> None:
        """Handle a post to a response URL or the body of an acknowledgement."""
        original = self.world.messages.get(sink.message)
        if arguments.get("delete_original") and original is not None:
            self.remove(original)
        elif arguments.get("replace_original") and original is not None:
            chat.write(self, original, arguments, chat.contents(arguments))
        else:
            channel = self.world.channels[sink.channel]
            threaded = {"thread_ts": sink.thread} if sink.thread else {}
            message = chat.made(self, channel, threaded | dict(arguments))
            message.only_for = "" if arguments.get("response_type") == "in_channel" else sink.user
            self.put(message)
            sink.message = sink.message or message.ts  # a command's URL replaces what it posted first


async def _arguments(request: web.Request) -> dict[str, Any]:
    """From query, form and JSON alike."""
    found: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        found |= json.loads(await request.text() or "{}")
    elif request.can_read_body:
        found |= dict(await request.post())
    for name in JSON_ARGUMENTS:
        if isinstance(found.get(name), str) and found[name]:
            found[name] = json.loads(found[name])
    return found


def _told(body: Any, *, status: int = 200, wait: float = 0.0, scopes: str = "") -> web.Response:
    response = web.json_response(body, status=status)
    response[ERROR] = str(body.get("error", "")) if isinstance(body, dict) else ""
    if wait:
        response.headers["Retry-After"] = str(math.ceil(wait))
    if scopes:
        response.headers["x-oauth-scopes"] = scopes
    return response
