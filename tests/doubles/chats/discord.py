from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.chats.chat import Room
from tests.doubles.chats.people import People, mentions
from tests.doubles.discord_double.world import VIEW_CHANNEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.doubles.chat_server import Shown, ShownFile, Text, Upload
    from tests.doubles.discord_double.server import DiscordServer

TYPING_SECONDS = 10.0


class DiscordChat(People["DiscordServer"]):
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
        return mentions(text, {"footnote": self.server.bot.id, **self.people, **self.bots})
