from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.port.events import IncomingMessage
    from bot.port.places import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """Of a channel newest first, of a thread oldest first."""

    messages: tuple[IncomingMessage, ...] = ()
    seen: tuple[str, ...] = ()
    """Ids of all messages in it, also of those that nobody wrote."""
    threads: tuple[str, ...] = ()
    """That begin in it."""
    cursor: str = ""
    """The last id in it; empty if nothing follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelMessage:
    """That the platform's own search found."""

    channel: str
    channel_name: str
    person: Person
    text: str
    uri: str
    at: float
    """Seconds since the epoch."""


class ReadPace:
    """Background reads at equal distances; a live read never waits, and takes the place of one."""

    def __init__(self, calls: int, seconds: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._gap = seconds / calls
        self._now = now
        self._next = 0.0

    def note(self) -> None:
        self._next = max(self._next, self._now()) + self._gap

    async def turn(self) -> None:
        while (wait := self._next - self._now()) > 0:  # noqa: ASYNC110 - live reads move it
            await asyncio.sleep(wait)
        self.note()
