from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, Protocol

from bot.observability import log
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.observability.health import Health

_EVERY_SECONDS: Final = 15.0
_AGAIN_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 10.0


class ConnectionMeter(Protocol):
    def expect(self, platform: str) -> None: ...

    def connections(self, platform: str, *, live: int, expected: int) -> None: ...

    def deaf(self, platform: str) -> None: ...

    def recovered(self, platform: str, fault: str) -> None: ...

    def operator_needed(self, platform: str, fault: str) -> None: ...


class Watch:
    """A platform's `Signals`. Logs disconnections longer than `deaf_seconds`."""

    def __init__(
        self, platform: str, health: Health, *, deaf_seconds: float, meter: ConnectionMeter | None = None
    ) -> None:
        self.was_ready = False
        self._platform = platform
        self._health = health
        self._deaf_seconds = deaf_seconds
        self._meter = meter
        self._live: int | None = None
        """None: not reported."""
        self._expected = 0
        self._deaf_since: float | None = None
        self._alarm: asyncio.TimerHandle | None = None
        if meter is not None:
            meter.expect(platform)
        self._tell()

    def ready(self, facts: Mapping[str, str]) -> None:
        self.was_ready = True
        log.event("ready", **{**facts, "platform": self._platform})
        self._tell()

    def connections(self, *, live: int, expected: int) -> None:
        log.event("connections", platform=self._platform, live=live, wanted=expected)
        if self._meter is not None:
            self._meter.connections(self._platform, live=live, expected=expected)
        self._live, self._expected = live, expected
        if live:
            self._hears()
        elif self._alarm is None and self._deaf_since is None:
            self._alarm = asyncio.get_running_loop().call_later(self._deaf_seconds, self._is_deaf)
        self._tell()

    def recovered(self, fault: str) -> None:
        log.event("recovered", platform=self._platform, fault=fault)
        if self._meter is not None:
            self._meter.recovered(self._platform, fault)

    def operator_needed(self, fault: str) -> None:
        log.event("troubled", platform=self._platform, fault=fault)
        if self._meter is not None:
            self._meter.operator_needed(self._platform, fault)

    def broken(self) -> None:
        self.connections(live=0, expected=self._expected)

    def ended(self, sentence: str) -> None:
        log.event("platform_ended", platform=self._platform, sentence=sentence)
        self.close()
        if self._meter is not None:
            self._meter.connections(self._platform, live=0, expected=self._expected)
        self._health.record(self._platform, ready=False, detail=sentence)

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _is_deaf(self) -> None:
        self._alarm = None
        self._deaf_since = time.monotonic() - self._deaf_seconds
        log.event("deaf", platform=self._platform, seconds=self._deaf_seconds)
        if self._meter is not None:
            self._meter.deaf(self._platform)

    def _hears(self) -> None:
        self.close()
        if self._deaf_since is not None:
            seconds = round(time.monotonic() - self._deaf_since, 1)
            log.event("hears_again", platform=self._platform, seconds=seconds)
            self._deaf_since = None

    def _tell(self) -> None:
        if not self.was_ready:
            ready, detail = False, "It is not connected yet."
        elif self._live is None:
            ready, detail = True, "It is connected."
        else:
            ready = self._live > 0
            detail = f"{self._live} of {self._expected} connections deliver events."
        self._health.record(self._platform, ready=ready, detail=detail)


async def probe(
    name: str,
    ask: Callable[[], Awaitable[object]],
    health: Health,
    *,
    every: float = _EVERY_SECONDS,
    within: float = _ANSWER_SECONDS,
) -> None:
    """Until cancelled; times are in seconds."""
    while True:
        try:
            async with asyncio.timeout(within):
                await ask()
        except Exception as error:
            health.record(name, ready=False, detail=_sentence(error, within))
            await asyncio.sleep(min(_AGAIN_SECONDS, every))
        else:
            health.record(name, ready=True, detail="It answers.")
            await asyncio.sleep(every)


def _sentence(error: Exception, within: float) -> str:
    if isinstance(error, RagError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"It did not answer within {within:g} s."
    return log.report(error)
