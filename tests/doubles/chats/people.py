from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.slack_double.server import SlackServer


Server = TypeVar("Server", "SlackServer", "DiscordServer")


class People(ABC, Generic[Server]):
    """What people do in the same way on both servers."""

    server: Server
    people: dict[str, str]

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


def mentions(text: str, names: Mapping[str, str]) -> str:
    pattern = rf"@({'|'.join(names)})\b"
    return re.sub(pattern, lambda found: f"<@{names[found[1].lower()]}>", text, flags=re.IGNORECASE)
