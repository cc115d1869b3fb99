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
        if running <= 0 and not _waits_for_processor(self._process):
            return elapsed
        return min(elapsed, max(running, elapsed / _MOST_SLOWDOWN))


def processor_seconds(process: int) -> float:
    """With its children; 0 where the system does not say."""
    return sum(sum(map(int, fields[11:15])) for fields in _statistics(process)) / os.sysconf("SC_CLK_TCK")


def _waits_for_processor(process: int) -> bool:
    """Ready to run, or stopped from outside."""
    return any(fields[0] in "RT" for fields in _statistics(process))


def _statistics(process: int) -> list[list[str]]:
    statistics: list[list[str]] = []
    found = [process]
    for each in found:
        folder = _PROCESSES / str(each)
        try:
            # The name in parentheses may hold blanks.
            fields = (
                (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            )
            children = (folder / "task" / str(each) / "children").read_text(encoding="ascii").split()
            if len(fields) > 15:
                statistics.append(fields)
            found += map(int, children[: _MOST_PROCESSES - len(found)])
        except (OSError, ValueError):
            continue
    return statistics
