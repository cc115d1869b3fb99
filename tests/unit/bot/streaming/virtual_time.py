"""An event loop whose time does not pass by itself: it jumps to the next moment at which something happens."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

Returned = TypeVar("Returned")


def run(main: Coroutine[Any, Any, Returned]) -> Returned:
    """Run it to its end; an hour takes as long as what happens in it. Fails when nothing can ever happen any more."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


class _Selector(selectors.BaseSelector):
    def __init__(self) -> None:
        self._inner = selectors.DefaultSelector()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = self._inner.select(0)
        if not events and timeout is None:
            raise RuntimeError("everybody waits, and nothing will happen")
        if not events and timeout:
            self.now += timeout
        return events

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def close(self) -> None:
        self._inner.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now
