"""What an adapter tells of itself while it serves, and what it is given to lose nothing when the program ends.

Adapters know all of it by the names in `bot.port`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.port import IncomingMessage, Room


class Signals(Protocol):
    """What an adapter tells of itself while it serves: for logs, metrics, and whether the program counts as ready."""

    def ready(self, facts: Mapping[str, str]) -> None:
        """Events come in: a few facts for the log."""
        ...

    def connections(self, *, live: int, wanted: int) -> None:
        """How many connections deliver events now; none means that we are deaf."""
        ...

    def recovered(self, fault: str) -> None:
        """Something was mended that does not mend itself: a dead ticket, a silent session, a gap that was looked back into.

        `fault` is one of a few words with underscores between them: it becomes a label of a metric.
        """
        ...

    def troubled(self, fault: str) -> None:
        """Something is wrong that others must mend, as `recovered` names it: the adapter logs what would mend it."""
        ...


Recall: TypeAlias = "Callable[[IncomingMessage], Awaitable[tuple[IncomingMessage | None, Room]]]"
"""An adapter's way back to a message that it told of before a restart: given what is kept of it (no files), the message as it
stands now (None: it was deleted) and its room. Outlets of that room look whether what they would create is there already.
Raises `ChatError` when the platform does not tell."""


class Inbox(Protocol):
    """Events on their way: kept by the adapter before it acknowledges them, so that none is lost with the process.

    The payload is the platform's own JSON; an event that is kept twice is kept once.
    """

    async def keep(self, platform: str, event: str, payload: Mapping[str, object]) -> None: ...

    async def done(self, platform: str, event: str) -> None:
        """The event was dealt with to its end."""
        ...

    async def kept(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        """What was not dealt with to its end, oldest first: id and payload. Old events are forgotten."""
        ...
