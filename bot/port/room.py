from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.port.history import HistoryPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port.events import IncomingMessage
    from bot.port.history import ChannelMessage
    from bot.port.pages import Outlet
    from bot.port.places import Directory, Person, Place


class Room(Protocol):
    @property
    def directory(self) -> Directory: ...

    async def open_thread(self) -> Place:
        """Once, if needed. Without the platform's answer this is the event's place, and the outlet tries again."""
        ...

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        """Public or for one person; continues our messages `posted`."""
        ...

    async def mark_read(self) -> bool:
        """Show that the files of the event's message were read; False if that is impossible."""
        ...

    async def show_activity(self, *, title: str, status: str) -> None:
        """Where the platform shows them outside messages."""
        ...

    @property
    def can_be_renamed(self) -> bool: ...

    async def rename(self, title: str) -> None:
        """Raises `ChatError`."""
        ...

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """In the event's thread, else in its channel, oldest first. Raises `ChatError`."""
        ...

    async def fetch(self, link: str) -> IncomingMessage | None:
        """None outside this workspace, or if it cannot be read."""
        ...

    async def history(self, *, cursor: str = "", until: str = "", thread: str = "") -> HistoryPage:
        """The next page of the channel below `cursor` (an id; empty: the newest) and above `until`, or of a thread after
        `cursor`. Waits for its place among other reads. Raises `ChatError`.
        """
        ...

    @property
    def finds_messages(self) -> bool:
        """The platform has a search of its own."""
        ...

    async def find_messages(self, question: str, *, limit: int) -> Sequence[ChannelMessage]:
        """Of public channels, best first, as the event's person may read them; none if the event allows no search.
        Raises `ChatError`.
        """
        ...


class PlainRoom:
    """Where the platform has no optional parts."""

    async def mark_read(self) -> bool:
        return False

    async def show_activity(self, *, title: str, status: str) -> None: ...

    @property
    def can_be_renamed(self) -> bool:
        return False

    async def rename(self, title: str) -> None: ...

    async def history(self, *, cursor: str = "", until: str = "", thread: str = "") -> HistoryPage:
        return HistoryPage()

    @property
    def finds_messages(self) -> bool:
        return False

    async def find_messages(self, question: str, *, limit: int) -> Sequence[ChannelMessage]:
        return ()
