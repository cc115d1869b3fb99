from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.port import ReadPace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import aiohttp
    import discord

    from adapters.discord.settings import Settings
    from bot.port import Place

_FRESH_SECONDS = 60.0
_HISTORY_CALLS = 30
_MOST_MEMBERS = 10_000


class RecentMembers:
    def __init__(self) -> None:
        self._members: dict[tuple[int, int], tuple[float, discord.Member | None]] = {}

    def get(self, guild: int, person: int) -> tuple[discord.Member | None] | None:
        fetched_at, member = self._members.get((guild, person), (0.0, None))
        fresh = (guild, person) in self._members and time.monotonic() - fetched_at < _FRESH_SECONDS
        return (member,) if fresh else None

    def forget(self, guild: int, person: int) -> None:
        self._members.pop((guild, person), None)

    def put(self, guild: int, person: int, member: discord.Member | None) -> None:
        while len(self._members) >= _MOST_MEMBERS:
            self._members.pop(next(iter(self._members)))
        self._members.pop((guild, person), None)
        self._members[guild, person] = (time.monotonic(), member)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordContext:
    client: discord.Client
    session: aiohttp.ClientSession
    """For downloads; never gets the bot's token."""
    settings: Settings
    answer_messages: Callable[[Place], Awaitable[frozenset[str]]]
    members: RecentMembers = field(default_factory=RecentMembers)
    history_pace: ReadPace = field(default_factory=lambda: ReadPace(_HISTORY_CALLS, 60.0))
    started_at: float = field(default_factory=time.time)

    @property
    def own_id(self) -> int:
        return self.client.user.id if self.client.user else 0
