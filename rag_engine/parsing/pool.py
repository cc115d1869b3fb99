"""A hostile file costs only its process."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from rag_engine.errors import CorruptFile, FileTooLarge, Unavailable, UserError
from rag_engine.parsing.media_types import shown
from rag_engine.parsing.worker import NOT_HELD
from rag_engine.parsing.worker_process import FileLimits, PagePicture, WorkerDied, WorkerProcess, start

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rag_engine.parsing.sandbox import Protection
    from rag_engine.types import Blob, Section

__all__ = ["PagePicture", "ParserPool", "parser_pool"]

_Drawn = TypeVar("_Drawn")

_log = logging.getLogger(__name__)

_ATTEMPTS: Final = 2
"""The first death may be due to low memory."""
_MOST_SET_ASIDE: Final = 10_000
_ENDED_BY_SYSTEM: Final = 128 + getattr(signal, "SIGKILL", 9)


class ParserPool:
    """Refuses a file that killed its process twice. Text recognition may take `recognition_seconds` more, in
    `languages` (Tesseract's names; empty: those installed).
    """

    def __init__(
        self,
        *,
        workers: int,
        seconds: float,
        memory_bytes: int,
        recognition_seconds: float = 1_800,
        languages: Sequence[str] = (),
    ) -> None:
        self._limits = FileLimits(
            seconds=seconds, memory_bytes=memory_bytes, recognition_seconds=recognition_seconds
        )
        self._languages = tuple(languages)
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[WorkerProcess] = []
        self._workers: set[WorkerProcess] = set()
        self._set_aside: dict[str, int] = {}
        self._closed = False

    async def parse(self, blob: Blob) -> AsyncGenerator[list[Section]]:
        """In batches. Raises a `UserError` if the file cannot be read, also after some batches; `Unavailable` without
        a worker or once closed.
        """
        self._refuse_set_aside(blob)
        sent = 0
        for attempt in range(1, _ATTEMPTS + 1):
            again = sent
            try:
                async with (
                    self._worker() as worker,
                    aclosing(worker.parse(blob, self._limits, languages=self._languages)) as batches,
                ):
                    async for batch in batches:
                        fresh = batch[again:]
                        again -= min(again, len(batch))
                        sent += len(fresh)
                        if fresh:
                            yield fresh
                return
            except WorkerDied as death:
                self._note(death, blob, attempt)

    async def picture(
        self, blob: Blob, *, page: int, quotes: Sequence[str], figure: bool = False
    ) -> PagePicture:
        """At most 1200 pixels across. Raises a `UserError` if the page (from 1) cannot be drawn, `Unavailable` as
        `parse` does.
        """
        return await self._drawn(
            blob, lambda worker: worker.picture(blob, self._limits, page=page, quotes=quotes, figure=figure)
        )

    async def figure(self, blob: Blob, *, anchor: str, quotes: Sequence[str]) -> PagePicture | None:
        """The embedded picture beside the quotes. Raises as `picture` does."""
        return await self._drawn(
            blob, lambda worker: worker.figure(blob, self._limits, anchor=anchor, quotes=quotes)
        )

    async def _drawn(self, blob: Blob, draw: Callable[[WorkerProcess], Awaitable[_Drawn]]) -> _Drawn:
        self._refuse_set_aside(blob)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with self._worker() as worker:
                    return await draw(worker)
            except WorkerDied as death:
                self._note(death, blob, attempt)
        raise AssertionError("the last death is an error")

    async def protection(self) -> Protection:
        """Raises `Unavailable` if no worker starts."""
        async with self._worker() as worker:
            return worker.protection

    async def close(self) -> None:
        self._closed = True
        self._idle.clear()
        for worker in list(self._workers):
            worker.kill()
            await self._bury(worker)

    def _note(self, death: WorkerDied, blob: Blob, attempt: int) -> None:
        if self._closed:
            raise Unavailable("Reading was stopped; the file is taken up again.") from death
        if death.status == NOT_HELD:
            raise Unavailable(
                "Files are not read now: the system does not hold in the process that reads them, as it said it would."
            ) from death
        _log.warning("%s while reading a file of %d bytes (attempt %d)", death, blob.size, attempt)
        if attempt < _ATTEMPTS:
            return
        if blob.digest:
            self._set_aside[blob.digest] = death.status
            if len(self._set_aside) > _MOST_SET_ASIDE:
                del self._set_aside[next(iter(self._set_aside))]
        raise _verdict(blob, death.status) from death

    def _refuse_set_aside(self, blob: Blob) -> None:
        if blob.digest in self._set_aside:
            raise _verdict(blob, self._set_aside[blob.digest])

    @asynccontextmanager
    async def _worker(self) -> AsyncGenerator[WorkerProcess]:
        async with self._slots:
            worker = await self._idle_worker()
            intact = False
            try:
                yield worker
                intact = worker.intact
            except UserError:
                intact = worker.intact
                raise
            finally:
                self._return(worker, intact=intact)

    async def _idle_worker(self) -> WorkerProcess:
        for worker in [worker for worker in self._workers if not worker.alive]:
            await self._bury(worker)
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
        worker = await start()
        self._workers.add(worker)
        try:
            await worker.ready()
        except BaseException:
            worker.kill()
            raise
        return worker

    async def _bury(self, worker: WorkerProcess) -> None:
        self._workers.discard(worker)
        try:
            await worker.gone()
        except BaseException:
            self._workers.add(worker)
            raise

    def _return(self, worker: WorkerProcess, *, intact: bool) -> None:
        if intact and worker.alive and not self._closed:
            self._idle.append(worker)
        else:
            worker.kill()


@asynccontextmanager
async def parser_pool(
    *,
    workers: int,
    seconds: float,
    memory_bytes: int,
    recognition_seconds: float = 1_800,
    languages: Sequence[str] = (),
) -> AsyncGenerator[ParserPool]:
    pool = ParserPool(
        workers=workers,
        seconds=seconds,
        memory_bytes=memory_bytes,
        recognition_seconds=recognition_seconds,
        languages=languages,
    )
    try:
        yield pool
    finally:
        await pool.close()


def _verdict(blob: Blob, status: int) -> UserError:
    name = shown(blob.name)
    if status == _ENDED_BY_SYSTEM:
        return FileTooLarge(
            f"{name} was stopped twice by the system while it was read, most likely for want of memory; "
            "split it into smaller files."
        )
    return CorruptFile(
        f"{name} could not be read; it may be damaged, as reading it crashed twice. "
        "Save it again and add it once more."
    )
