from __future__ import annotations

import re
from typing import Final

from rag_engine.sync.types import SourceRefused

_SECONDS: Final = {"m": 60.0, "h": 3_600.0, "d": 86_400.0}
_LONGEST: Final = 366.0 * 86_400.0


def interval(text: str) -> float:
    """Raises `SourceRefused`."""
    found = re.fullmatch(r"\s*(\d{1,5})\s*([mhd])\s*", text, re.IGNORECASE)
    seconds = int(found[1]) * _SECONDS[found[2].casefold()] if found else 0.0
    if not _SECONDS["m"] <= seconds <= _LONGEST:
        raise SourceRefused(f"{text!r} is no interval: write 30m, 6h or 1d.")
    return seconds


def shown(seconds: float) -> str:
    for unit in ("d", "h"):
        if seconds >= _SECONDS[unit] and seconds % _SECONDS[unit] == 0:
            return f"{seconds / _SECONDS[unit]:.0f}{unit}"
    return f"{max(seconds / 60.0, 1):.0f}m"
