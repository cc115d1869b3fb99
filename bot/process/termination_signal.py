"""The first SIGTERM asks for a graceful shutdown, the second ends the program."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from bot.observability import log

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from types import FrameType


class TerminationSignal:
    """Outside `patiently` it ends the program at once."""

    def __init__(self, task: asyncio.Task[object] | None) -> None:
        self.requested = asyncio.Event()
        self.at_once = False
        self._task = task
        self._patient = False

    def request(self) -> None:
        if self._patient and not self.requested.is_set():
            self.requested.set()
        elif self._task is not None:
            self.at_once = True
            self._task.cancel()

    @contextmanager
    def patiently(self) -> Generator[None]:
        """A signal only sets `requested`."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False


@asynccontextmanager
async def ended_by_sigterm() -> AsyncGenerator[TerminationSignal]:
    """The program exits with code 0."""
    loop = asyncio.get_running_loop()
    stopping = TerminationSignal(asyncio.current_task())

    def request(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stopping.request)

    before = signal.signal(signal.SIGTERM, request)
    try:
        yield stopping
    except asyncio.CancelledError:
        if not stopping.at_once:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if stopping.at_once or stopping.requested.is_set():
        log.event("stopped")
