"""A blocked event loop answers nobody and loses connections."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from bot.observability import log

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from types import FrameType

    from bot.observability.health import Health

_BEAT_SECONDS: Final = 0.25
_LONG_SECONDS: Final = 1.0
_SAMPLE_SECONDS: Final = 0.5
_OURS: Final = ("adapters", "bot", "rag_engine")
_ROOT: Final = Path(__file__).parents[2]


class LagMeter(Protocol):
    def turned(self, *, lag: float, tasks: int) -> None: ...


@asynccontextmanager
async def watched(health: Health, meter: LagMeter | None = None) -> AsyncGenerator[None]:
    """And log where it blocked."""
    sampler = _Sampler(health, thread=threading.get_ident())
    sampling = threading.Thread(target=sampler.run, name="event loop watch", daemon=True)
    sampling.start()
    beating = asyncio.create_task(_beat(health, sampler, meter), name="event loop lag")
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        sampler.end.set()
        await asyncio.to_thread(sampling.join)


async def _beat(health: Health, sampler: _Sampler, meter: LagMeter | None) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _BEAT_SECONDS
        await asyncio.sleep(_BEAT_SECONDS)
        lag = max(0.0, loop.time() - due)
        health.beat()
        if meter is not None:
            meter.turned(lag=lag, tasks=len(asyncio.all_tasks()))
        if lag > _LONG_SECONDS:
            log.event("event_loop_lagged", seconds=round(lag, 2), where=sampler.pop())


class _Sampler:
    def __init__(self, health: Health, *, thread: int) -> None:
        self.end = threading.Event()
        self._health = health
        self._thread = thread
        self._where = ""

    def pop(self) -> str:
        where, self._where = self._where, ""
        return where

    def run(self) -> None:
        while not self.end.wait(_SAMPLE_SECONDS):
            if self._health.silent_seconds > _LONG_SECONDS:
                self._where = place_of(sys._current_frames().get(self._thread))  # pyright: ignore[reportPrivateUsage]


def place_of(frame: FrameType | None) -> str:
    lines = list(_lines(frame))
    ours = next((line for line in lines if line.startswith(_OURS)), "")
    return " < ".join(dict.fromkeys(line for line in (*lines[:1], ours) if line))


def _lines(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        known = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else Path(*path.parts[-2:])
        yield f"{known.as_posix()}:{frame.f_lineno}"
        frame = frame.f_back
