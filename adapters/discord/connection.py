"""What the parts of the adapter share while the bot runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import aiohttp
    import discord

    from adapters.discord.settings import Settings
    from bot.port import Place

_FRESH_SECONDS = 60.0
_MOST = 10_000


class RecentMembers:
    """Members of servers (None: not a member) for the minute in which they count as told now."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[float, discord.Member | None]] = {}

    def get(self, guild: int, person: int) -> tuple[discord.Member | None] | None:
        """The member in a tuple of one; None when it must be asked for."""
        told, member = self._known.get((guild, person), (0.0, None))
        fresh = (guild, person) in self._known and time.monotonic() - told < _FRESH_SECONDS
        return (member,) if fresh else None

    def put(self, guild: int, person: int, member: discord.Member | None) -> None:
        while len(self._known) >= _MOST:
            self._known.pop(next(iter(self._known)))
        self._known.pop((guild, person), None)
        self._known[guild, person] = (time.monotonic(), member)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The logged-in client, the session that downloads files, and members as Discord told them a moment ago."""

    client: discord.Client
    session: aiohttp.ClientSession
    """Never given the bot's token."""
    settings: Settings
    answers_in: Callable[[Place], Awaitable[frozenset[str]]]
    """`bot.port.ChatService.answers_in`."""
    members: RecentMembers = field(default_factory=RecentMembers)
    began: float = field(default_factory=time.time)
    """When this process began to serve, in seconds since the epoch."""

    @property
    def us(self) -> int:
        """Our own user id."""
        return self.client.user.id if self.client.user else 0
