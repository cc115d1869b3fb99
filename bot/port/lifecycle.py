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
        """With none live, no event arrives."""
        ...

    def recovered(self, fault: str) -> None:
        """`fault` becomes a metric label: a few words joined by underscores."""
        ...

    def operator_needed(self, fault: str) -> None:
        """The adapter logs how."""
        ...


Recall: TypeAlias = "Callable[[IncomingMessage], Awaitable[tuple[IncomingMessage | None, Room]]]"
"""From a stored message (no files) to its current version (None: deleted) and its room, whose outlets check whether
what they would create exists. Raises `ChatError`.
"""


class Inbox(Protocol):
    """Stored before they are acknowledged. The payload is the platform's own JSON. Adding an event twice stores it once."""

    async def add(self, platform: str, event: str, payload: Mapping[str, object]) -> None: ...

    async def remove(self, platform: str, event: str) -> None: ...

    async def unhandled(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        """Id and payload, oldest first; old events are dropped."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of `footnote doctor`."""

    check: str
    state: Literal["ok", "note", "bad"]
    detail: str
    remedy: str = ""
    workspace: str = ""
    """It is about this one."""
    invited: bool = False
    """Others may have invited the bot."""
    refused: str = ""
    """Setting of a wrong token."""
