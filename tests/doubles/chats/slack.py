from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.chats.chat import Room
from tests.doubles.chats.people import People, mentions
from tests.doubles.slack_double import text as slack_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.doubles.chat_server import Shown, ShownFile, Text, Upload
    from tests.doubles.slack_double.server import SlackServer


class SlackChat(People["SlackServer"]):
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
        return mentions(text, {"footnote": self.server.world.bot.id, **self.people, **self.bots})
