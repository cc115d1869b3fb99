"""Discord allows 1,000 sessions a day, then resets the token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_DAY_SECONDS: Final = 86_400.0
_SESSIONS_PER_DAY: Final = 900
_UNRESTRICTED: Final = 300
_SESSIONS_PER_ATTEMPT: Final = 3
_RECENT_SECONDS: Final = 300.0
_LONGEST_WAIT_SECONDS: Final = 30.0


def next_wait(session_starts: Sequence[float], now: float, *, first: float) -> float:
    """`first`, doubled per recent session, later spread over the day."""
    today = [at for at in session_starts if now - at < _DAY_SECONDS]
    if len(today) < _UNRESTRICTED:
        recent = sum(now - at < _RECENT_SECONDS for at in today)
        return min(first * 2.0 ** max(recent - 1, 0), max(first, _LONGEST_WAIT_SECONDS))
    left = max((_SESSIONS_PER_DAY - len(today)) / _SESSIONS_PER_ATTEMPT, 1.0)
    return (_DAY_SECONDS - (now - min(today))) / left
