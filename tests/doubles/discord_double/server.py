"""A loopback server that speaks Discord's REST interface and Gateway to the unmodified discord.py.

It has one application, its bot, and guilds and people made by tests. Calls beyond Discord's limits are refused and counted in
`violations`.
"""

from __future__ import annotations

import hmac
import json
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.doubles.chat_server import ERROR, ChatServer, Shown, Upload
from tests.doubles.discord_double import interactions, messages, payloads, people, validation
from tests.doubles.discord_double.changes import Changes
from tests.doubles.discord_double.gateway import GUILD_MEMBERS, MESSAGE_CONTENT, PRESENCES, RECONNECT, Gateway
from tests.doubles.discord_double.rate_limits import Buckets, Limited
from tests.doubles.discord_double.routes import ENDPOINTS, Endpoint, read
from tests.doubles.discord_double.world import Channel, Guild, Message, User, World

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence

    from tests.doubles.chat_server import Fault
    from tests.doubles.discord_double.interactions import Interaction

TOKEN = "MTIz.double.of-a-token"
JSON = "application/json"
API = "/api/v10"
FLAG_OF_INTENT = {GUILD_MEMBERS: 1 << 14, MESSAGE_CONTENT: 1 << 18, PRESENCES: 1 << 12}


class DiscordServer(Changes, ChatServer):
    """`privileged_intents` are allowed for the application; its clock is so many seconds `behind` ours."""

    def __init__(
        self,
        *,
        token: str = TOKEN,
        privileged_intents: int = GUILD_MEMBERS | MESSAGE_CONTENT,
        name: str = "Footnote",
        behind: float = 0.0,
    ) -> None:
        super().__init__()
        self._ahead = -behind
        self._started = time.time() - time.monotonic()
        self.token = token
        self.public = False
        """Whether anyone can invite the bot."""
        self.privileged_intents = privileged_intents
        self.world = World(self.wall)
        self.gateway = Gateway(self)
        self.buckets = Buckets(self.now, self.windows.violations)
        self.bot = self.world.user(name, bot=True)
        self.application_id = self.bot.id
        self.owner = self.world.user("owner")
        self.commands: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}
        """Registered commands by guild ("" = everywhere), then by name and type."""
        self.command_creates = 0
        """Created commands; Discord allows 200 a day."""
        self.interactions: dict[str, Interaction] = {}
        self.closed_to_us: set[str] = set()
        """People who take no direct messages from the bot."""
        self.changed_answers: dict[str, Callable[[Any], Any]] = {}
        """By endpoint: what is answered instead."""
        self.nonce_seconds = 180.0
        """Seconds that a nonce is remembered; Discord only says "the past few minutes"."""
        self.old_edits = (5, 60.0)
        """Edits of messages older than an hour, per channel: calls, seconds."""
        self.guild = self.add_guild("Team")
        self.general = self.add_channel("general")

    # --- facts -----------------------------------------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """The value for `discord.http.Route.BASE`."""
        return self.base_url + API

    @property
    def gateway_url(self) -> str:
        return self.base_url.replace("http", "ws", 1) + "/gateway"

    @property
    def application_flags(self) -> int:
        return sum(flag for intent, flag in FLAG_OF_INTENT.items() if self.privileged_intents & intent)

    @property
    def violations(self) -> list[tuple[str, ...]]:
        """Calls that broke a limit."""
        return self.windows.violations

    def wall(self) -> float:
        """Seconds since the epoch, by the platform's clock."""
        return self._started + self.now()

    # --- serving ---------------------------------------------------------------------------------------------------------

    def routes(self) -> Iterable[web.RouteDef]:
        yield web.get("/gateway", self.gateway.handle)
        yield web.get("/attachments/{channel}/{attachment}/{name}", self._download)
        for endpoint in ENDPOINTS:
            yield web.route(endpoint.verb, API + endpoint.path, self._handler(endpoint))

    def _handler(self, endpoint: Endpoint) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            arguments, files = await read(request)
            logged = {**arguments, "files": files} if files else arguments

            async def apply() -> web.StreamResponse:
                return self._apply(request, endpoint, arguments, files)

            return await self.answer(request, endpoint.name, logged, apply)

        return handle

    def _apply(
        self, request: web.Request, endpoint: Endpoint, arguments: dict[str, Any], files: Sequence[Upload]
    ) -> web.Response:
        headers: dict[str, str] = {}
        try:
            if endpoint.authorized:
                self._authorize(request)
                self.buckets.count_global()
            if endpoint.limit is not None:
                limit = endpoint.limit
                key = (limit.name, str(arguments.get(limit.per, "")))
                headers = self.buckets.take(key, limit.calls, limit.seconds)
            told = endpoint.function(self, arguments, files)
            change = self.changed_answers.get(endpoint.name)
            return _json(200, change(told) if change else told, headers)
        except Limited as limited:
            return _json(429, limited.body, limited.headers)
        except validation.ApiError as error:
            body = {"message": error.message, "code": error.code}
            return _json(error.status, body | ({"errors": error.errors} if error.errors else {}), headers)

    def _authorize(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bot {self.token}":
            raise validation.ApiError(401, 0, "401: Unauthorized")

    def count_old_edit(self, channel: Channel) -> None:
        calls, seconds = self.old_edits
        self.buckets.count_sub_limit(("old edits", channel.id), calls, seconds, code=30046)

    def refusal(self, fault: Fault) -> web.Response:
        """A 429 has `Via` and a body; one with its own body comes from Cloudflare."""
        if fault.body is not None:
            return super().refusal(fault)
        if fault.status == 429:
            wait = fault.retry_after or 0.0
            body: dict[str, Any] = {
                "message": "You are being rate limited.",
                "retry_after": wait,
                "global": False,
            }
            headers = {"Via": "1.1 google", "Retry-After": f"{wait:g}", "X-RateLimit-Scope": "user"}
        else:
            body = {"message": f"{fault.status}: Fault", "code": 0}
            headers = {"Via": "1.1 google"}
        return _json(fault.status, body, headers | dict(fault.headers))

    async def _download(self, request: web.Request) -> web.StreamResponse:
        async def apply() -> web.StreamResponse:
            return self._content(request)

        return await self.answer(request, "download", dict(request.match_info), apply)

    def _content(self, request: web.Request) -> web.Response:
        identity, expires = request.match_info["attachment"], request.query.get("ex", "0")
        found = self.world.attachments.get(identity)
        signed = hmac.compare_digest(request.query.get("hm", ""), payloads.signature(identity, expires))
        if found is None or not signed or int(expires, 16) < self.wall():
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=found.content, headers={"Content-Type": found.media_type})

    async def close(self) -> None:
        await self.gateway.close()

    # --- people write ----------------------------------------------------------------------------------------------------

    async def user_says(
        self,
        user: User | str,
        channel: Channel | str,
        text: str,
        thread: Channel | str | None = None,
        files: Sequence[Upload] = (),
        *,
        reply_to: str = "",
        ping: bool = True,
    ) -> str:
        """A person or bot writes; returns the message's id. With a person as the channel, it is a direct message to the bot."""
        author = people.user_of(self, user)
        where = people.place_of(self, channel, thread)
        return people.say(self, author, where, text, files, reply_to=reply_to, ping=ping).id

    bot_says = user_says

    async def user_uploads(
        self,
        user: User | str,
        channel: Channel | str,
        *files: Upload,
        text: str = "",
        thread: Channel | str | None = None,
    ) -> str:
        return await self.user_says(user, channel, text, thread, files)

    async def user_posts(self, user: User | str, forum: Channel, title: str, text: str) -> str:
        """A forum post: a thread with the id of its first message."""
        return people.post(self, people.user_of(self, user), forum, title, text).id

    async def user_speaks(self, user: User | str, channel: Channel | str, content: bytes = b"OggS") -> str:
        return people.speak(self, people.user_of(self, user), people.place_of(self, channel), content).id

    async def user_edits(self, message: str, text: str) -> None:
        messages.change(self, self.message(message), {"content": text})

    async def user_deletes(self, message: str) -> None:
        messages.remove(self, self.message(message))

    async def user_reacts(self, user: User | str, message: str, emoji: str) -> None:
        people.react(self, people.user_of(self, user), self.message(message), emoji)

    async def unfolds(self, message: str) -> None:
        """Add a preview: an update without a new text."""
        people.unfold(self, self.message(message))

    # --- people act ------------------------------------------------------------------------------------------------------

    async def user_commands(
        self,
        user: User | str,
        channel: Channel | str,
        line: str,
        thread: Channel | str | None = None,
        files: Sequence[Upload] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Interaction:
        """A slash command: `/kb show name:handbook`, or options by name; files fill the attachment options."""
        who, where = people.user_of(self, user), people.place_of(self, channel, thread)
        data = people.command_data(self, who, where, line, options or {}, files)
        return people.interact(self, interactions.COMMAND, who, where, data)

    async def user_types(
        self, user: User | str, channel: Channel | str, line: str, option: str
    ) -> Interaction:
        """Ask for suggestions while an option is typed."""
        who, where = people.user_of(self, user), people.place_of(self, channel)
        data = people.command_data(self, who, where, line, {}, typing=option)
        return people.interact(self, interactions.AUTOCOMPLETE, who, where, data)

    async def user_shortcut(self, user: User | str, message: str, name: str) -> Interaction:
        who, found = people.user_of(self, user), self.message(message)
        data = people.shortcut_data(self, found.channel, found, name)
        return people.interact(self, interactions.COMMAND, who, found.channel, data)

    async def user_clicks(
        self, user: User | str, message: str, button: str, values: Sequence[str] = ()
    ) -> Interaction:
        """Press a button by label or id, or choose values of a select by id."""
        who, found = people.user_of(self, user), self.message(message)
        data = people.click_data(found, button, values)
        return people.interact(self, interactions.COMPONENT, who, found.channel, data, source=found)

    async def user_submits(self, interaction: Interaction, values: Mapping[str, str]) -> Interaction:
        """Fill in a modal; values by custom id."""
        assert interaction.modal is not None
        data = people.modal_data(interaction.modal, values)
        where = interaction.channel
        return people.interact(
            self, interactions.MODAL, interaction.user, where, data, source=interaction.source
        )

    # --- people look -----------------------------------------------------------------------------------------------------

    def visible(
        self, user: User | str, channel: Channel | str, thread: Channel | str | None = None
    ) -> list[Shown]:
        """What the person sees, oldest first."""
        return people.look(self, people.user_of(self, user), people.place_of(self, channel, thread))

    def message(self, identity: str) -> Message:
        found = self.world.messages[identity]
        if found.deleted:
            raise LookupError(f"message {identity} was deleted")
        return found

    def shown(self, identity: str) -> Shown:
        return people.shown(self, self.message(identity))

    def ours(self) -> list[Shown]:
        """All messages of the bot, oldest first."""
        found = sorted(self.world.messages.values(), key=lambda each: int(each.id))
        return [
            people.shown(self, each)
            for each in found
            if each.author is self.bot and not each.deleted and each.kind != messages.THREAD_STARTER
        ]

    # --- the Gateway misbehaves ------------------------------------------------------------------------------------------

    async def connected(self, seconds: float = 10.0) -> None:
        await self.wait_for(lambda: self.gateway.connected, seconds)

    async def redeliver(self, message: str) -> None:
        """Send the same MESSAGE_CREATE again."""
        messages.announce(self, "MESSAGE_CREATE", self.message(message))

    async def drop_connection(self, code: int | None = None) -> None:
        """End all connections: cut, or closed with a code."""
        self.gateway.drop(code)

    async def reconnect_requested(self) -> None:
        """Opcode 7: the client must reconnect and resume."""
        self.gateway.tell_everyone({"op": RECONNECT, "d": None})

    async def lose_session(self) -> None:
        """Opcode 9: the client must start a new session and loses the events between."""
        self.gateway.forget()

    async def broken_frame(self) -> None:
        """Send a frame that ends the client's connection with an error."""
        self.gateway.tell_everyone({"op": 10, "d": {}})

    async def unparsable_dispatch(self) -> None:
        """Send an event that discord.py cannot parse."""
        self.gateway.dispatch("MESSAGE_CREATE", lambda _session: {"id": self.world.snowflake()})


def _json(status: int, data: Any, headers: Mapping[str, str]) -> web.Response:
    """Discord's content type has no charset; clients compare all of it."""
    if data is None:
        return web.Response(status=204, headers=headers)
    body = json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
    response = web.Response(status=status, body=body, headers={**headers, "Content-Type": JSON})
    if status >= 400 and isinstance(data, dict):
        response[ERROR] = str(data.get("code", status))
    return response


@asynccontextmanager
async def serve(port: int = 0, **options: Any) -> AsyncGenerator[DiscordServer]:
    """The double with one guild, "Team", and the channel "general"."""
    async with DiscordServer.serving(port, **options) as server:
        yield server


__all__ = ["DiscordServer", "Guild", "serve"]
