from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port.events import IncomingMessage
    from bot.port.pages import Outlet
    from bot.port.places import Directory, Person, Place


class Room(Protocol):
    @property
    def directory(self) -> Directory: ...

    async def open_thread(self) -> Place:
        """Opens the thread once, if needed.

        If the platform does not answer, this is the event's place, and the outlet tries again.
        """
        ...

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        """Writes publicly or to one person alone; continues our messages `posted`, if given."""
        ...

    async def mark_read(self) -> bool:
        """Show on the event's message that its files were read; False if that is not possible."""
        ...

    async def show_activity(self, *, title: str, status: str) -> None:
        """Name the conversation and its activity where the platform shows these outside messages."""
        ...

    @property
    def can_be_renamed(self) -> bool:
        """Whether `rename` has a thread to name that is ours or with us."""
        ...

    async def rename(self, title: str) -> None:
        """Raises `ChatError`."""
        ...

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """Messages before this event in its thread, else in its channel, oldest first. Raises `ChatError`."""
        ...

    async def fetch(self, link: str) -> IncomingMessage | None:
        """The permalink's message; None if it is outside this workspace or cannot be read."""
        ...


class PlainRoom:
    """The optional parts of a `Room` where the platform has none of them."""

    async def mark_read(self) -> bool:
        return False

    async def show_activity(self, *, title: str, status: str) -> None: ...

    @property
    def can_be_renamed(self) -> bool:
        return False

    async def rename(self, title: str) -> None: ...
