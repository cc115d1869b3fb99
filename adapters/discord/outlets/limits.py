"""What Discord accepts."""

from __future__ import annotations

from bot.port import Budget, PlatformLimits, Route

# Discord allows five per channel in five seconds; discord.py waits inside the fifth.
_MOST_CALLS, _WINDOW_SECONDS = 4, 5.0

LIMITS = PlatformLimits(characters=2000, edit_seconds=1.0, dialect="discord")
ROUTE = "edit"


def routes(*where: str) -> tuple[Route, ...]:
    create = Budget(name=("discord", *where, "create"), calls=_MOST_CALLS, seconds=_WINDOW_SECONDS)
    edit = Budget(name=("discord", *where, "edit"), calls=_MOST_CALLS, seconds=_WINDOW_SECONDS)
    return (Route(name=ROUTE, create=create, edit=edit, finish=edit),)
