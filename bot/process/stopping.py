"""SIGTERM: the first one asks the program to end in peace, a second one ends it at once."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from bot import telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from types import FrameType


class Stopping:
    """Whether the program was told to end. Outside of `patiently` it ends as soon as it is told, as with Ctrl-C."""

    def __init__(self, task: asyncio.Task[object] | None) -> None:
        self.asked = asyncio.Event()
        self.at_once = False
        self._task = task
        self._patient = False

    def tell(self) -> None:
        """The program shall end."""
        if self._patient and not self.asked.is_set():
            self.asked.set()
        elif self._task is not None:
            self.at_once = True
            self._task.cancel()

    @contextmanager
    def patiently(self) -> Generator[None]:
        """Inside the block, being told only sets `asked`: whoever is in it ends in peace."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False


@asynccontextmanager
async def told_by_sigterm() -> AsyncGenerator[Stopping]:
    """Whoever is told to end in the block ends it, with exit code 0 in any case."""
    loop = asyncio.get_running_loop()
    stopping = Stopping(asyncio.current_task())

    def tell(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stopping.tell)

    before = signal.signal(signal.SIGTERM, tell)
    try:
        yield stopping
    except asyncio.CancelledError:
        if not stopping.at_once:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if stopping.at_once or stopping.asked.is_set():
        telemetry.event("stopped")
