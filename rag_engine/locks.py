"""Locks by name: whoever names the same thing waits for whoever is at it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Locks:
    """As many as there are names in use."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def held(self, *name: str) -> AsyncGenerator[None]:
        """The lock of that name until the block ends."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield
