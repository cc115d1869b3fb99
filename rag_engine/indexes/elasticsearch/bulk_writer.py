"""Bounded by count and bytes, few at once, with shared refreshes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from rag_engine.indexes.elasticsearch.errors import kind_of, reason_of, unavailable
from rag_engine.indexes.elasticsearch.retry import PASSING, repeated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from rag_engine.errors import IndexUnavailable
    from rag_engine.indexes.elasticsearch.cluster import Cluster

Operation = tuple[bytes, ...]

_CLOSING_SECONDS = 5.0
_DELETED = 409
"""Written after a deletion: publishing the generation will fail."""


class Writer:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._room = asyncio.Semaphore(cluster.settings.bulk_requests)
        self.refreshed = Shared(self._refresh)
        """Makes everything written before visible."""

    async def write(self, operations: Iterable[Operation]) -> None:
        """In order; visible after `refreshed`. Raises `IndexUnavailable` if some fail; others may be done."""
        made = batches(
            iter(operations),
            most=self._cluster.settings.bulk_chunks,
            most_bytes=self._cluster.settings.bulk_bytes,
        )
        batch = await asyncio.to_thread(next, made, None)
        while batch is not None:
            async with self._room:
                sending = asyncio.create_task(self._send(batch))
                try:
                    batch = await asyncio.to_thread(next, made, None)
                    await sending
                finally:
                    if not sending.done():
                        sending.cancel()
                        await asyncio.gather(sending, return_exceptions=True)

    async def _send(self, batch: Sequence[Operation]) -> None:
        left = batch

        async def send() -> None:
            nonlocal left
            left, fault = await self._undone(left)
            if fault is not None:
                raise fault

        await repeated(send, seconds=self._cluster.settings.write_timeout)

    async def _undone(self, batch: Sequence[Operation]) -> tuple[list[Operation], IndexUnavailable | None]:
        names = await self._cluster.names()
        answer = await self._cluster.writer.bulk(
            operations=cast("Any", [line for operation in batch for line in operation]),
            index=names.written_chunks,
            require_alias=True,
            timeout=self._cluster.server_timeout,
            filter_path="errors,items.*.status,items.*.error.type,items.*.error.caused_by.type",
        )
        if not answer["errors"]:
            return [], None
        again: list[Operation] = []
        fault: IndexUnavailable | None = None
        for operation, item in zip(batch, answer["items"], strict=True):
            ((_, outcome),) = item.items()
            if "error" not in outcome or outcome["status"] == _DELETED:
                continue
            reason = reason_of(outcome["status"], outcome["error"])
            fault = unavailable(reason, kind_of(outcome["error"]))
            if reason not in PASSING:
                raise fault
            again.append(operation)
        return again, fault

    async def _refresh(self) -> None:
        names = await self._cluster.names()

        async def refresh() -> None:
            answer = await self._cluster.writer.indices.refresh(index=names.chunks)
            if answer["_shards"]["failed"]:
                raise unavailable("red")

        await repeated(refresh, seconds=self._cluster.settings.write_timeout)


class Shared:
    """Work shared by all who requested it before it began."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def __call__(self) -> None:
        if self._next is None:
            self._next = asyncio.create_task(self._run_after(self._running))
            self._next.add_done_callback(_observed)
        await asyncio.shield(self._next)

    async def _run_after(self, running: asyncio.Task[None] | None) -> None:
        if running is not None:
            await asyncio.wait([running])
        self._running, self._next = self._next, None
        await self._work()

    async def close(self) -> None:
        tasks = [task for task in (self._next, self._running) if task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _observed(task: asyncio.Task[None]) -> None:
    """Nobody retrieves the error if all waiters were cancelled."""
    if not task.cancelled():
        task.exception()


def batches(operations: Iterator[Operation], *, most: int, most_bytes: int) -> Iterator[list[Operation]]:
    batch: list[Operation] = []
    size = 0
    for operation in operations:
        length = sum(map(len, operation)) + len(operation)
        if batch and (len(batch) >= most or size + length > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(operation)
        size += length
    if batch:
        yield batch
