from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Key = TypeVar("Key")
Value = TypeVar("Value")


class RecentValues(Generic[Key, Value]):
    """Those used last, up to so many bytes. Safe for several threads."""

    def __init__(self, *, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        return self.get_all((key,)).get(key)

    def get_all(self, keys: Iterable[Key]) -> dict[Key, Value]:
        found: dict[Key, Value] = {}
        with self._lock:
            for key in keys:
                if (kept := self._values.get(key)) is not None:
                    self._values.move_to_end(key)
                    found[key] = kept[0]
        return found

    def put(self, values: Iterable[tuple[Key, Value, int]]) -> None:
        """With their bytes."""
        with self._lock:
            for key, value, size in values:
                if key not in self._values:
                    self._values[key] = (value, size)
                    self._bytes += size
            while self._bytes > self._most_bytes:
                self._bytes -= self._values.popitem(last=False)[1][1]
