"""What an adapter is given beside the service, in memory: it takes down what it is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(slots=True)
class Told:
    """The port `Signals`."""

    on_ready: Callable[[Mapping[str, str]], object]
    live: list[int] = field(default_factory=list[int])
    """How many connections there were, each time that was told."""
    faults: list[str] = field(default_factory=list[str])
    """Those that were mended."""
    troubles: list[str] = field(default_factory=list[str])
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def ready(self, facts: Mapping[str, str]) -> None:
        self.on_ready(facts)

    def connections(self, *, live: int, wanted: int) -> None:
        self.live.append(live)
        self._news.set()

    def recovered(self, fault: str) -> None:
        self.faults.append(fault)
        self._news.set()

    def troubled(self, fault: str) -> None:
        self.troubles.append(fault)
        self._news.set()

    async def until(self, true: Callable[[], object], seconds: float = 5.0) -> None:
        """Wait for something to be told that makes it true."""
        async with asyncio.timeout(seconds):
            while not true():
                self._news.clear()
                await self._news.wait()


@dataclass(slots=True)
class MemoryInbox:
    """The port `Inbox`."""

    events: dict[tuple[str, str], Mapping[str, object]] = field(
        default_factory=dict[tuple[str, str], "Mapping[str, object]"]
    )

    async def keep(self, platform: str, event: str, payload: Mapping[str, object]) -> None:
        self.events.setdefault((platform, event), payload)

    async def done(self, platform: str, event: str) -> None:
        self.events.pop((platform, event), None)

    async def kept(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        return [(event, payload) for (of, event), payload in self.events.items() if of == platform]
