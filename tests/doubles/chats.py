"""Both doubles behind one set of verbs: what people do and see. All ids are strings.

`people` are ada (an administrator), ben and cleo; `rooms` are `general` for all and `projects` for ada and ben. In texts, `@footnote`
mentions the bot and `@ben` ben.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.discord_double.world import VIEW_CHANNEL
from tests.doubles.slack_double import text as slack_text
from tests.doubles.slack_double.server import SlackServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from tests.doubles.chat_server import ChatServer, Shown, ShownFile, Text, Upload

PLATFORMS = ("slack", "discord")
TYPING_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A channel in a person's list; `kind` is `public`, `private` or `direct`."""

    id: str
    name: str
    kind: str


class Chat(Protocol):
    """One platform with its people."""

    platform: str
    people: Mapping[str, str]
    rooms: Mapping[str, str]
    bots: Mapping[str, str]

    @property
    def server(self) -> ChatServer: ...

    def environment(self) -> dict[str, str]:
        """The bot's settings."""
        ...

    async def connected(self) -> None: ...

    def rooms_of(self, person: str) -> list[Room]: ...

    def add_room(self, name: str, people: Sequence[str], *, private: bool = False) -> str:
        """A new channel with the bot and these people; public ones on Discord are open to all."""
        ...

    def add_group(self, name: str, people: Sequence[str]) -> str:
        """A user group or role; returns how commands carry its mention."""
        ...

    def leaves(self, person: str, room: str) -> None:
        """The person is in the private channel no longer."""
        ...

    def mention(self, name: str) -> str: ...

    async def dislikes(self, person: str, message: str) -> None: ...

    def direct(self, person: str) -> str:
        """The person's direct messages with the bot."""
        ...

    def visible(self, person: str, channel: str, thread: str = "") -> list[Shown]:
        """What the person sees, oldest first; a thread starts with its root."""
        ...

    def shown(self, message: str) -> Shown: ...

    def status(self, channel: str, thread: str) -> str:
        """The line that says that the bot is working."""
        ...

    def statuses(self, channel: str, thread: str) -> list[Text]:
        """All versions of that line."""
        ...

    def name_of(self, person: str) -> str: ...

    def parts(self, message: str) -> list[tuple[str, str]]:
        """The texts of a message with their format: `mrkdwn`, `markdown`, `plain_text` or `discord`; `small` for small print."""
        ...

    def content(self, file: ShownFile) -> tuple[bytes, str]: ...

    async def says(
        self,
        person: str,
        channel: str,
        text: str,
        *,
        thread: str = "",
        files: Sequence[Upload] = (),
        reply_to: str = "",
    ) -> str:
        """Returns the message's id. On Slack a reply is a message in a thread."""
        ...

    async def edits(self, message: str, text: str) -> None: ...

    async def deletes(self, message: str) -> None: ...

    async def unfolds(self, message: str) -> None:
        """Add a link preview to a message."""
        ...

    async def clicks(self, person: str, message: str, button: str) -> None: ...

    async def fills(self, person: str, text: str) -> str:
        """Types into the form that is open, and submits it; returns what was there."""
        ...

    async def commands(self, person: str, channel: str, line: str, *, thread: str = "") -> None: ...

    async def shortcut(self, person: str, message: str, name: str) -> None: ...

    async def redelivers(self, message: str) -> None: ...

    async def drops(self) -> None: ...

    def limits(self, seconds: float, *, times: int = 1) -> None:
        """Refuse the next edits of a message with 429."""
        ...


class _Acting(ABC):
    """What people do in the same way on both servers."""

    server: SlackServer | DiscordServer
    people: Mapping[str, str]

    def mention(self, name: str) -> str:
        return f"<@{self.people[name]}>"

    async def edits(self, message: str, text: str) -> None:
        await self.server.user_edits(message, self._marked(text))

    async def deletes(self, message: str) -> None:
        await self.server.user_deletes(message)

    async def clicks(self, person: str, message: str, button: str) -> None:
        await self.server.user_clicks(person, message, button)

    async def shortcut(self, person: str, message: str, name: str) -> None:
        await self.server.user_shortcut(person, message, name)

    async def redelivers(self, message: str) -> None:
        await self.server.redeliver(message)

    @abstractmethod
    def _marked(self, text: str) -> str:
        """The text with the platform's mentions."""


class SlackChat(_Acting):
    server: SlackServer
    platform = "slack"

    def __init__(self, server: SlackServer) -> None:
        self.server = server
        ada, ben, cleo = server.add_user("ada", admin=True), server.add_user("ben"), server.add_user("cleo")
        self.people = {user.name: user.id for user in (ada, ben, cleo)}
        self.bots = {"robot": server.add_bot("robot").id}
        general = server.add_channel("general", [ada, ben, cleo, server.world.users[self.bots["robot"]]])
        projects = server.add_channel("projects", [ada, ben], kind="private")
        self.rooms = {"general": general.id, "projects": projects.id}
        for user in (ada, ben, cleo):
            server.direct(user)

    def environment(self) -> dict[str, str]:
        return self.server.environment()

    async def connected(self) -> None:
        await self.server.connected()

    def rooms_of(self, person: str) -> list[Room]:
        listed: list[Room] = []
        for each in self.server.world.channels.values():
            if person in each.members or each.kind == "public":
                kind = "direct" if each.kind == "im" else "public" if each.kind == "public" else "private"
                listed.append(Room(id=each.id, name="Footnote" if kind == "direct" else each.name, kind=kind))
        return listed

    def add_room(self, name: str, people: Sequence[str], *, private: bool = False) -> str:
        users = [self.server.world.users[person] for person in (*people, *self.bots.values())]
        return self.server.add_channel(name, users, kind="private" if private else "public").id

    def add_group(self, name: str, people: Sequence[str]) -> str:
        identity = f"S{name.upper()}"
        self.server.world.groups[identity] = (name, list(people))
        return f"<!subteam^{identity}|@{name}>"

    def leaves(self, person: str, room: str) -> None:
        self.server.user_leaves(person, room)

    async def dislikes(self, person: str, message: str) -> None:
        await self.clicks(person, message, "Not helpful")

    def direct(self, person: str) -> str:
        return self.server.direct(person).id

    def visible(self, person: str, channel: str, thread: str = "") -> list[Shown]:
        return self.server.visible(person, channel, thread)

    def shown(self, message: str) -> Shown:
        return self.server.shown(message)

    def status(self, channel: str, thread: str) -> str:
        return self.server.status(channel, thread)

    def statuses(self, channel: str, thread: str) -> list[Text]:
        return [each for each in self.server.statuses.get((channel, thread), ()) if each.text]

    def name_of(self, person: str) -> str:
        user = self.server.world.users.get(person)
        return user.name if user else person

    def parts(self, message: str) -> list[tuple[str, str]]:
        found = self.server.world.messages[message]
        if not (found.markdown or found.blocks):
            return [("mrkdwn", found.text)]
        listed = [("markdown", found.markdown)] if found.markdown else []
        for block in found.blocks:
            small = "small " if block.get("type") == "context" else ""
            listed += [(small + kind, text) for text, kind in slack_text.texts_of(block)]
            listed += [("markdown", "---")] if block.get("type") == "divider" else []
        return listed

    def content(self, file: ShownFile) -> tuple[bytes, str]:
        found = self.server.world.files[file.url.rpartition("-")[2]]
        return found.content, found.media_type

    async def says(
        self,
        person: str,
        channel: str,
        text: str,
        *,
        thread: str = "",
        files: Sequence[Upload] = (),
        reply_to: str = "",
    ) -> str:
        return await self.server.user_says(
            person, channel, self._marked(text), thread=thread or reply_to, files=files
        )

    async def fills(self, person: str, text: str) -> str:
        def opened() -> list[Any]:
            return [each for each in self.server.views.modals.values() if each.user == person and each.open]

        view = (await self.server.wait_for(opened))[-1]
        (block,) = view.content["blocks"]
        element = block["element"]
        await self.server.user_submits(
            view.id, {block["block_id"]: {element["action_id"]: {"type": element["type"], "value": text}}}
        )
        return str(element.get("initial_value", ""))

    async def unfolds(self, message: str) -> None:
        await self.server.unfurl(message)

    async def commands(self, person: str, channel: str, line: str, *, thread: str = "") -> None:
        if thread:
            raise LookupError("Slack has no slash commands in threads")
        await self.server.user_commands(person, channel, line)

    async def drops(self) -> None:
        self.server.drop_connection()

    def limits(self, seconds: float, *, times: int = 1) -> None:
        for method in ("chat.update", "chat.appendStream", "chat.stopStream"):
            self.server.fail(method, status=429, retry_after=seconds, times=times)

    def _marked(self, text: str) -> str:
        return _mentions(text, {"footnote": self.server.world.bot.id, **self.people, **self.bots})


class DiscordChat(_Acting):
    server: DiscordServer
    platform = "discord"

    def __init__(self, server: DiscordServer) -> None:
        self.server = server
        ada, ben, cleo = server.add_user("ada", admin=True), server.add_user("ben"), server.add_user("cleo")
        self.people = {user.name: user.id for user in (ada, ben, cleo)}
        self.bots = {"robot": server.add_bot("robot").id}
        projects = server.add_channel("projects", only=[ada, ben])
        self.rooms = {"general": server.general.id, "projects": projects.id}
        self._private = {projects.id}
        for user in (ada, ben, cleo):
            server.world.direct(user, server.bot)

    def environment(self) -> dict[str, str]:
        return {
            "DISCORD_TOKEN": self.server.token,
            "DISCORD_API_BASE": self.server.api_url,
            "DISCORD_GATEWAY_URL": self.server.gateway_url,
        }

    async def connected(self) -> None:
        await self.server.connected(60)

    def rooms_of(self, person: str) -> list[Room]:
        listed: list[Room] = []
        names = {identifier: name for name, identifier in self.rooms.items()}
        for each in self.server.world.channels.values():
            if each.id in names and self._sees(person, each.id):
                kind = "private" if each.id in self._private else "public"
                listed.append(Room(id=each.id, name=names[each.id], kind=kind))
        return [*listed, Room(id=self.direct(person), name="Footnote", kind="direct")]

    def add_room(self, name: str, people: Sequence[str], *, private: bool = False) -> str:
        users = [self.server.world.users[person] for person in (*people, *self.bots.values())]
        made = self.server.add_channel(name, only=users if private else None)
        self.rooms[name] = made.id
        self._private |= {made.id} if private else set()
        return made.id

    def add_group(self, name: str, people: Sequence[str]) -> str:
        role = self.server.add_role(name)
        for person in people:
            self.server.gives_role(self.server.world.users[person], role)
        return f"<@&{role.id}>"

    def leaves(self, person: str, room: str) -> None:
        world = self.server.world
        self.server.set_rights(world.channels[room], world.users[person], deny=VIEW_CHANNEL)

    async def dislikes(self, person: str, message: str) -> None:
        await self.clicks(person, message, "Not helpful")

    def direct(self, person: str) -> str:
        return self.server.world.direct(self.server.world.users[person], self.server.bot).id

    def visible(self, person: str, channel: str, thread: str = "") -> list[Shown]:
        if not self._sees(person, channel) or (thread and thread not in self.server.world.channels):
            return []
        listed = self.server.visible(person, channel, thread or None)
        root = self.server.world.messages.get(thread)
        return [self.server.shown(thread), *listed] if root is not None and not root.deleted else listed

    def shown(self, message: str) -> Shown:
        return self.server.shown(message)

    def status(self, channel: str, thread: str) -> str:
        since = self.server.now() - TYPING_SECONDS
        recent = [
            call
            for call in self.server.calls_of("typing")
            if call.at > since and call.arguments["channel"] == (thread or channel)
        ]
        return "Footnote is typing…" if recent else ""

    def statuses(self, channel: str, thread: str) -> list[Text]:
        return []

    def name_of(self, person: str) -> str:
        user = self.server.world.users.get(person)
        return user.name if user else person

    def parts(self, message: str) -> list[tuple[str, str]]:
        return [("discord", self.server.shown(message).text)]

    def content(self, file: ShownFile) -> tuple[bytes, str]:
        found = self.server.world.attachments[file.url.partition("?")[0].split("/")[-2]]
        return found.content, found.media_type

    async def says(
        self,
        person: str,
        channel: str,
        text: str,
        *,
        thread: str = "",
        files: Sequence[Upload] = (),
        reply_to: str = "",
    ) -> str:
        if thread and thread not in self.server.world.channels:
            self.server.add_thread(self.server.world.users[person], thread)
        return await self.server.user_says(
            person, channel, self._marked(text), thread or None, files, reply_to=reply_to
        )

    async def fills(self, person: str, text: str) -> str:
        def opened() -> list[Any]:
            made = self.server.interactions.values()
            return [each for each in made if each.user.id == person and each.modal is not None]

        shown = (await self.server.wait_for(opened))[-1]
        (row,) = shown.modal["components"]
        (field,) = row["components"]
        await self.server.user_submits(shown, {field["custom_id"]: text})
        return str(field.get("value") or "")

    async def unfolds(self, message: str) -> None:
        await self.server.unfolds(message)

    async def commands(self, person: str, channel: str, line: str, *, thread: str = "") -> None:
        await self.server.user_commands(person, channel, line, thread or None)

    async def drops(self) -> None:
        await self.server.drop_connection()

    def limits(self, seconds: float, *, times: int = 1) -> None:
        self.server.fail("edit_message", status=429, retry_after=seconds, times=times)

    def _sees(self, person: str, channel: str) -> bool:
        try:
            self.server.visible(person, channel)
        except PermissionError:
            return False
        return True

    def _marked(self, text: str) -> str:
        return _mentions(text, {"footnote": self.server.bot.id, **self.people, **self.bots})


def _mentions(text: str, names: Mapping[str, str]) -> str:
    pattern = rf"@({'|'.join(names)})\b"
    return re.sub(pattern, lambda found: f"<@{names[found[1].lower()]}>", text, flags=re.IGNORECASE)


@asynccontextmanager
async def serve(platform: str, port: int = 0) -> AsyncGenerator[Chat]:
    if platform == "slack":
        async with SlackServer.serving(port) as slack:
            yield SlackChat(slack)
    else:
        async with DiscordServer.serving(port) as discord:
            yield DiscordChat(discord)
