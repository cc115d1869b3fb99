from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.port.events import IncomingMessage
    from bot.port.room import Room


class Signals(Protocol):
    def ready(self, facts: Mapping[str, str]) -> None:
        """Events arrive; `facts` go to the log."""
        ...

    def connections(self, *, live: int, expected: int) -> None:
        """How many connections deliver events; with none, no event arrives."""
        ...

    def recovered(self, fault: str) -> None:
        """Such as a dead ticket, a silent session, a gap.

        `fault` becomes a metric label: a few words joined by underscores.
        """
        ...

    def operator_needed(self, fault: str) -> None:
        """Only the operator can fix it; the adapter logs how."""
        ...


Recall: TypeAlias = "Callable[[IncomingMessage], Awaitable[tuple[IncomingMessage | None, Room]]]"
"""Finds a message after a restart: from its stored form (no files) to its current version (None: deleted) and its room. The
room's outlets check whether what they would create exists. Raises `ChatError`.
"""


class Inbox(Protocol):
    """Events stored before they are acknowledged, so that none is lost.

    The payload is the platform's own JSON. Adding an event twice stores it once.
    """

    async def add(self, platform: str, event: str, payload: Mapping[str, object]) -> None: ...

    async def remove(self, platform: str, event: str) -> None: ...

    async def unhandled(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        """Id and payload of each event, oldest first; old events are dropped."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of `footnote doctor`."""

    check: str
    state: Literal["ok", "note", "bad"]
    detail: str
    remedy: str = ""
    workspace: str = ""
    """The id of the workspace that it is about."""
    invited: bool = False
    """Whether others may have invited the bot to it."""
