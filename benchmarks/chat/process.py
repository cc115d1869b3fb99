"""`footnote` with a clock in its event loop: `python -m benchmarks.chat.process FILE run`; `idle` runs only the clock.

The clock ticks every five milliseconds. The file gets each late tick: time (`time.monotonic`), lag in seconds, and the loop
thread's processor seconds since the last tick.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bot.process import dns

if TYPE_CHECKING:
    from typing import TextIO

TICK = 0.005
NOTED = 0.01


class Clock:
    """Measures the lag of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, file: TextIO) -> None:
        self._loop = loop
        self._file = file
        self._last = time.monotonic()
        self._used = time.thread_time()
        loop.call_later(TICK, self._look)

    def _look(self) -> None:
        now, used = time.monotonic(), time.thread_time()
        late = now - self._last - TICK
        if late >= NOTED:
            self._file.write(f"{now:.6f} {late:.6f} {used - self._used:.6f}\n")
        self._last, self._used = time.monotonic(), time.thread_time()
        self._loop.call_later(TICK, self._look)


def _clocked(file: TextIO) -> type[dns.EventLoop]:
    class ClockedLoop(dns.EventLoop):
        def __init__(self) -> None:
            super().__init__()
            Clock(self, file)

    return ClockedLoop


def main() -> int:
    _, path, *arguments = sys.argv
    with Path(path).open("w", encoding="ascii", buffering=1) as file:
        dns.EventLoop = _clocked(file)
        if arguments == ["idle"]:
            with asyncio.Runner(loop_factory=dns.EventLoop) as runner:
                runner.run(asyncio.Event().wait())
        sys.argv = ["footnote", *arguments]
        from bot.__main__ import main as footnote  # imported late: the idle process should not pay for it

        return footnote()


if __name__ == "__main__":
    sys.exit(main())
