"""A mention comes as `app_mention`, without files, and as `message`; one is handled."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["app_mention", "message"]
Key: TypeAlias = tuple[str, str]

_WAIT_SECONDS = 1.0
_MENTIONS_ONLY_SECONDS = 3600.0
_MOST_REMEMBERED = 2000


@dataclass(slots=True)
class _Handling:
    kind: Kind | None = None
    mentions_us: bool = False
    addressed: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionDedup:
    """Only `message` has files, only `app_mention` is sure of the mention."""

    _handled: OrderedDict[Key, _Handling] = field(default_factory=OrderedDict[Key, _Handling])
    _waiting: dict[Key, asyncio.Event] = field(default_factory=dict[Key, asyncio.Event])
    _mentions_only: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float])

    def claim(self, key: Key, kind: Kind) -> bool:
        """Redeliveries pass: the service deduplicates."""
        if kind == "message":
            self._mentions_only.pop(key[0], None)
        handling = self._of(key)
        handling.kind = handling.kind or kind
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.set()
        return handling.kind == kind

    def note_mention(self, key: Key) -> None:
        self._of(key).mentions_us = True

    def is_addressed(self, key: Key, *, by_text: bool) -> bool:
        handling = self._of(key)
        handling.addressed = handling.addressed or by_text or handling.mentions_us
        return handling.addressed

    def ended(self, key: Key) -> None:
        self._of(key).ended.set()

    async def was_overheard(self, key: Key) -> bool:
        """Handled, but not as addressed to us; waits for its end."""
        handling = self._of(key)
        if handling.addressed:
            return False
        await handling.ended.wait()
        return not handling.addressed

    def message_claimed(self, key: Key) -> bool:
        handling = self._handled.get(key)
        return handling is not None and handling.kind == "message"

    def _of(self, key: Key) -> _Handling:
        handling = self._handled.setdefault(key, _Handling())
        _drop_oldest(self._handled)
        return handling

    async def wait_for_message(self, key: Key) -> bool:
        """At most a second."""
        if self.message_claimed(key) or self._sends_mentions_only(key[0]):
            return self.message_claimed(key)
        waiting = self._waiting.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await waiting.wait()
        except TimeoutError:
            self._mentions_only[key[0]] = time.monotonic()
            _drop_oldest(self._mentions_only)
        finally:
            if self._waiting.get(key) is waiting:
                del self._waiting[key]
        return self.message_claimed(key)

    def _sends_mentions_only(self, channel: str) -> bool:
        since = self._mentions_only.get(channel)
        return since is not None and time.monotonic() - since < _MENTIONS_ONLY_SECONDS


def _drop_oldest(remembered: OrderedDict[Key, _Handling] | OrderedDict[str, float]) -> None:
    while len(remembered) > _MOST_REMEMBERED:
        remembered.popitem(last=False)
