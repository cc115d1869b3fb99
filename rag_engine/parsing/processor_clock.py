from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_MOST_PROCESSES: Final = 64
_MOST_SLOWDOWN: Final = 10
"""Of a process that gets little of the processor; the system limits its processor time."""


class ProcessorClock:
    """Running costs processor time, sleeping elapsed time: a busy machine must not make files unreadable."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._used = processor_seconds(process)

    def charge(self, elapsed: float) -> float:
        """Seconds to charge for the last `elapsed` seconds."""
        used = processor_seconds(self._process)
        running = used - self._used
        self._used = used
        if running <= 0:
            return elapsed
        return min(elapsed, max(running, elapsed / _MOST_SLOWDOWN))


def processor_seconds(process: int) -> float:
    """With its children; 0 where the system does not say."""
    seconds, found = 0.0, [process]
    for each in found:
        folder = _PROCESSES / str(each)
        try:
            # The name in parentheses may hold blanks.
            fields = (
                (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            )
            seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            children = (folder / "task" / str(each) / "children").read_text(encoding="ascii").split()
        except (OSError, ValueError, IndexError):
            continue
        found += map(int, children[: _MOST_PROCESSES - len(found)])
    return seconds
