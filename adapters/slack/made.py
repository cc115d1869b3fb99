"""What this process has made, so that no answer takes for its own what another one is just making beside it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from bot.port import Place

_REMEMBERED = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The latest of our messages; a stream carries no mark before it ends, so that nothing else tells whose it is."""

    _messages: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    _locks: WeakValueDictionary[Place, asyncio.Lock] = field(
        default_factory=WeakValueDictionary["Place", asyncio.Lock]
    )

    @property
    def messages(self) -> frozenset[str]:
        """Those that belong to an answer of this process."""
        return frozenset(self._messages)

    def add(self, *messages: str) -> None:
        """They are known to belong to an answer; the oldest are forgotten, which are kept with their answers by then."""
        for message in messages:
            self._messages[message] = None
            self._messages.move_to_end(message)
        while len(self._messages) > _REMEMBERED:
            self._messages.popitem(last=False)

    def alone(self, place: Place) -> asyncio.Lock:
        """Held while a stream is opened there, and while one is looked for: what is seen then has been added."""
        return self._locks.setdefault(place, asyncio.Lock())
