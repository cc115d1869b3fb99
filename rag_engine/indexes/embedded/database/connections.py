from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from rag_engine.errors import IndexUnavailable
from rag_engine.indexes.embedded.database import schema, writer
from rag_engine.indexes.embedded.errors import BACKEND, translate_errors
from rag_engine.storage.private_files import make_file

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Callable
    from concurrent.futures import Future
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rag_engine.ports import IndexIdentity

_log = logging.getLogger(__name__)

_READERS = 2

Result = TypeVar("Result")


@asynccontextmanager
async def opened(path: Path, identity: IndexIdentity) -> AsyncGenerator[Connections]:
    """Creates, checks and repairs the file if needed."""
    writing = ThreadPoolExecutor(1, thread_name_prefix="index-writer")
    reading = ThreadPoolExecutor(_READERS, thread_name_prefix="index-reader")
    connections: list[sqlite3.Connection] = []
    loop = asyncio.get_running_loop()
    try:
        await loop.run_in_executor(writing, _open, path, identity, connections)
        yield Connections(path, connections, writing=writing, reading=reading)
    finally:
        closed = loop.run_in_executor(writing, _close, reading, connections)
        await asyncio.shield(closed)
        writing.shutdown()


class Connections:
    def __init__(
        self,
        path: Path,
        connections: list[sqlite3.Connection],
        *,
        writing: ThreadPoolExecutor,
        reading: ThreadPoolExecutor,
    ) -> None:
        self._path = path
        self._writer, *readers = connections
        self._readers: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        for reader in readers:
            self._readers.put(reader)
        self._writing = writing
        self._reading = reading

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:

        def run() -> Result:
            reader = self._readers.get()
            try:
                with translate_errors(self._path):
                    return work(reader)
            finally:
                self._readers.put(reader)

        return await asyncio.wrap_future(self._submitted(self._reading, run))

    async def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return await self.writing(work)

    def writing(self, work: Callable[[sqlite3.Connection], Result]) -> asyncio.Future[Result]:
        """As `write`, begun at once."""

        def run() -> Result:
            with translate_errors(self._path):
                return work(self._writer)

        return asyncio.wrap_future(self._submitted(self._writing, run))

    def write_later(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """A failure is only logged."""

        def run() -> None:
            with translate_errors(self._path):
                work(self._writer)

        self._submitted(self._writing, run).add_done_callback(_log_failure)

    def translated(self) -> AbstractContextManager[None]:
        return translate_errors(self._path)

    def _submitted(self, pool: ThreadPoolExecutor, run: Callable[[], Result]) -> Future[Result]:
        try:
            return pool.submit(run)
        except RuntimeError as error:
            raise IndexUnavailable("The search index is closed.", backend=BACKEND, reason="closed") from error


def _open(path: Path, identity: IndexIdentity, connections: list[sqlite3.Connection]) -> None:
    with translate_errors(path, starting=True):
        # SQLite only says "unable to open".
        make_file(path)
        connections.append(schema.opened(path))
        schema.prepare(connections[0], path, identity)
        if not schema.is_consistent(connections[0]):
            if schema.has_chunks(connections[0]):
                _log.warning(
                    "The search index %s is of an earlier version or incomplete, and is rebuilt.", path
                )
            writer.rebuild(connections[0])
        for _ in range(_READERS):
            connections.append(schema.opened(path))
            schema.configure(connections[-1], read_only=True)


def _close(reading: ThreadPoolExecutor, connections: list[sqlite3.Connection]) -> None:
    reading.shutdown()
    for connection in reversed(connections):
        connection.close()


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        _log.warning("index_not_tidied reason=%s", error)
