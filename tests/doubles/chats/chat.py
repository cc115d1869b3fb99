from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.doubles.chat_server import ChatServer, Shown, ShownFile, Text, Upload


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A channel in a person's list; `kind` is `public`, `private` or `direct`."""

    id: str
    name: str
    kind: str


class Chat(Protocol):
    """One platform with its people."""

    platform: str
    people: dict[str, str]
    rooms: dict[str, str]
    bots: dict[str, str]

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
