"""One text at a time, in turn from each call: small calls finish soon, cancelled ones stop early. Queries have their
own thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag_engine.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.types import Matrix, Side, Vector

    Encode: TypeAlias = Callable[[str], Vector]


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    texts: Sequence[str]
    rows: Matrix
    done: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop
    started: int = 0
    finished: int = 0
    dropped: bool = False
    """Do not touch its future and loop."""


class EncodingThreads:
    """One more than `threads`, for queries."""

    def __init__(self, encode: Encode, *, dimensions: int, threads: int) -> None:
        self._encode = encode
        self._dimensions = dimensions
        self._changed = threading.Condition()
        self._waiting: dict[Side, deque[_Call]] = {"query": deque(), "passage": deque()}
        self._closed = False
        every: tuple[Side, ...] = ("query", "passage")
        queries: tuple[Side, ...] = ("query",)
        self._threads = [
            threading.Thread(target=self._work, args=(served,), name=f"encode-{number}", daemon=True)
            for number, served in enumerate([every] * threads + [queries])
        ]
        for thread in self._threads:
            thread.start()

    async def encode(self, texts: Sequence[str], *, side: Side) -> Matrix:
        """In order. Cancelling skips texts not yet started."""
        rows = np.empty((len(texts), self._dimensions), np.float32)
        if not texts:
            return rows
        loop = asyncio.get_running_loop()
        call = _Call(texts=texts, rows=rows, done=loop.create_future(), loop=loop)
        with self._changed:
            if self._closed:
                raise EmbedderUnavailable("The embedding model was closed.", backend="local")
            self._waiting[side].append(call)
            self._changed.notify(len(texts) if side == "query" else len(self._threads))
        try:
            await call.done
        finally:
            with self._changed:
                call.dropped = True
                if call in self._waiting[side]:
                    self._waiting[side].remove(call)
        return rows

    def close(self) -> None:
        """Open calls fail with `EmbedderUnavailable`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for calls in self._waiting.values():
                for call in calls:
                    self._settle(
                        call, EmbedderUnavailable("The embedding model was closed.", backend="local")
                    )
        for thread in self._threads:
            thread.join()

    def _work(self, served: tuple[Side, ...]) -> None:
        while (task := self._next(served)) is not None:
            call, place = task
            error: BaseException | None = None
            try:
                call.rows[place] = self._encode(call.texts[place])
            except BaseException as raised:  # noqa: BLE001 - passed on to the caller
                error = raised
            with self._changed:
                call.finished += 1
                if error is not None or call.finished == len(call.texts):
                    self._settle(call, error)

    def _next(self, served: tuple[Side, ...]) -> tuple[_Call, int] | None:
        with self._changed:
            while not self._closed:
                for side in served:
                    if calls := self._waiting[side]:
                        return self._take(calls)
                self._changed.wait()
        return None

    @staticmethod
    def _take(calls: deque[_Call]) -> tuple[_Call, int]:
        call = calls.popleft()
        place = call.started
        call.started += 1
        if call.started < len(call.texts):
            calls.append(call)
        return call, place

    @staticmethod
    def _settle(call: _Call, error: BaseException | None) -> None:
        """Under the lock: the caller and its loop may be gone."""
        if call.dropped:
            return
        call.dropped = True
        call.loop.call_soon_threadsafe(_finish, call.done, error)


def _finish(done: asyncio.Future[None], error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
