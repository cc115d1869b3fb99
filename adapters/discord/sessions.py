"""When the next session with Discord may begin: each costs one of a thousand a day, and whoever uses them up loses the token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_DAY_SECONDS: Final = 86_400.0
_MOST_A_DAY: Final = 900
_FREELY: Final = 300
"""So many a day are begun without thrift: a bot that waits hears nobody."""
_AT_ONCE: Final = 3
"""Sessions that one attempt may cost."""
_LATELY_SECONDS: Final = 300.0
_LONGEST_SECONDS: Final = 30.0


def pause(begun: Sequence[float], now: float, *, first: float) -> float:
    """Seconds to wait before another attempt, when sessions were begun at these times; the `first` wait doubles with each of late.

    What is left of a day's sessions is spread over what is left of the day.
    """
    today = [at for at in begun if now - at < _DAY_SECONDS]
    if len(today) < _FREELY:
        lately = sum(now - at < _LATELY_SECONDS for at in today)
        return min(first * 2.0 ** max(lately - 1, 0), max(first, _LONGEST_SECONDS))
    left = max((_MOST_A_DAY - len(today)) / _AT_ONCE, 1.0)
    return (_DAY_SECONDS - (now - min(today))) / left
