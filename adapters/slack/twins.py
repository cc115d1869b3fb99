"""Slack tells a mention twice, as `app_mention` without its files and as `message` with them: which of the two is dealt with."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["app_mention", "message"]
Key: TypeAlias = tuple[str, str]
"""Channel and ts."""

_HELD_SECONDS = 1.0
_ALONE_SECONDS = 3600.0
_REMEMBERED = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """The first of the two that is taken is the only one. In everything `message` stands for the event with the files."""

    _taken: OrderedDict[Key, Kind] = field(default_factory=OrderedDict[Key, Kind])
    _held: dict[Key, asyncio.Event] = field(default_factory=dict[Key, asyncio.Event])
    _alone: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float])
    """Channels of which only mentions are told, and when that was seen: the app is not subscribed to their messages."""

    def take(self, key: Key, kind: Kind) -> bool:
        """Whether this event is to be dealt with. The same event told again is: others know what was done about it."""
        if kind == "message":
            self._alone.pop(key[0], None)
        taken = self._taken.setdefault(key, kind)
        _shorten(self._taken)
        held = self._held.pop(key, None)
        if held is not None:
            held.set()
        return taken == kind

    def seen(self, key: Key) -> bool:
        """Whether the message of a mention has been taken."""
        return self._taken.get(key) == "message"

    async def comes(self, key: Key) -> bool:
        """Whether the message of a mention comes: waits for it a moment, except where none came lately."""
        if self.seen(key) or self._is_alone(key[0]):
            return self.seen(key)
        held = self._held.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(_HELD_SECONDS):
                await held.wait()
        except TimeoutError:
            self._alone[key[0]] = time.monotonic()
            _shorten(self._alone)
        finally:
            if self._held.get(key) is held:
                del self._held[key]
        return self.seen(key)

    def _is_alone(self, channel: str) -> bool:
        since = self._alone.get(channel)
        return since is not None and time.monotonic() - since < _ALONE_SECONDS


def _shorten(remembered: OrderedDict[Key, Kind] | OrderedDict[str, float]) -> None:
    while len(remembered) > _REMEMBERED:
        remembered.popitem(last=False)
