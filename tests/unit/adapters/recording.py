"""In-memory ports that record what an adapter reports."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(slots=True)
class RecordedSignals:
    """`bot.port.Signals`."""

    on_ready: Callable[[Mapping[str, str]], object]
    live: list[int] = field(default_factory=list[int])
    """Every reported number of connections."""
    faults: list[str] = field(default_factory=list[str])
    """Recovered faults."""
    troubles: list[str] = field(default_factory=list[str])
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def ready(self, facts: Mapping[str, str]) -> None:
        self.on_ready(facts)

    def connections(self, *, live: int, expected: int) -> None:
        self.live.append(live)
        self._news.set()

    def recovered(self, fault: str) -> None:
        self.faults.append(fault)
        self._news.set()

    def operator_needed(self, fault: str) -> None:
        self.troubles.append(fault)
        self._news.set()

    async def until(self, true: Callable[[], object], seconds: float = 5.0) -> None:
        """Wait for a report that makes it true."""
        async with asyncio.timeout(seconds):
            while not true():
                self._news.clear()
                await self._news.wait()


@dataclass(slots=True)
class MemoryInbox:
    """`bot.port.Inbox`."""

    events: dict[tuple[str, str], Mapping[str, object]] = field(
        default_factory=dict[tuple[str, str], "Mapping[str, object]"]
    )

    async def add(self, platform: str, event: str, payload: Mapping[str, object]) -> None:
        self.events.setdefault((platform, event), payload)

    async def remove(self, platform: str, event: str) -> None:
        self.events.pop((platform, event), None)

    async def unhandled(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        return [(event, payload) for (of, event), payload in self.events.items() if of == platform]
