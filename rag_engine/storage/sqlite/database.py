from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

import aiosqlite

from rag_engine.storage.concurrency.uncancellable import uninterrupted
from rag_engine.storage.private_files import make_file
from rag_engine.storage.sqlite.errors import primary_code, translate_errors
from rag_engine.storage.sqlite.migrations import migrate
from rag_engine.text.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

Row: TypeAlias = "tuple[Any, ...]"

_WRITE_SECONDS = 15.0
_POLL_SECONDS = 0.02
_UNUSED = 64

# A power cut may lose the last transactions, never the file.
_PRAGMAS = ("foreign_keys = ON", "synchronous = NORMAL", "journal_size_limit = 67108864")
_READER_PRAGMAS = (*_PRAGMAS, "busy_timeout = 10000", "query_only = ON")
# Writers wait in asyncio, which can be cancelled.
_WRITER_PRAGMAS = (*_PRAGMAS, "busy_timeout = 20")


class Transaction:
    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    async def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        with translate_errors(self._path):
            return await _fetch(self._connection, sql, parameters)

    async def execute_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        if not (storable := [_storable(row) for row in rows]):
            return
        with translate_errors(self._path):
            await self._connection.executemany(sql, storable)


class Database:
    """Reads see committed data and never wait."""

    def __init__(
        self,
        path: Path,
        *,
        reader: aiosqlite.Connection,
        writer: aiosqlite.Connection,
        on_turn: Callable[[float], object] | None = None,
    ) -> None:
        self.path = path
        self._on_turn = on_turn
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()

    async def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        with translate_errors(self.path):
            return await _fetch(self._reader, sql, parameters)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction, None]:
        """A cancelled commit is complete or has no effect. Writers take turns, also across processes. Raises
        `StorageUnavailable` if the turn comes too late.
        """
        started = time.perf_counter()
        async with self._turn_to_write():
            try:
                with translate_errors(self.path):
                    await self._begin()
                if self._on_turn is not None:
                    self._on_turn(time.perf_counter() - started)
                yield Transaction(self._writer, self.path)
                with translate_errors(self.path):
                    await self._writer.commit()
            except BaseException:
                await uninterrupted(self._writer.rollback())
                raise

    @asynccontextmanager
    async def _turn_to_write(self) -> AsyncGenerator[None, None]:
        with translate_errors(self.path):
            async with asyncio.timeout(_WRITE_SECONDS):
                await self._writing.acquire()
        try:
            yield
        finally:
            self._writing.release()

    async def _begin(self) -> None:
        async with asyncio.timeout(_WRITE_SECONDS):
            while True:
                try:
                    await _fetch(self._writer, "BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if primary_code(error) != sqlite3.SQLITE_BUSY:
                        raise
                else:
                    return
                await asyncio.sleep(_POLL_SECONDS)


@asynccontextmanager
async def connect(
    path: Path,
    *,
    scripts: Traversable | None = None,
    on_turn: Callable[[float], object] | None = None,
) -> AsyncGenerator[Database, None]:
    """Created or migrated by the numbered `scripts`. `on_turn` gets each writer's wait in seconds.

    Raises `SchemaMismatch` for a newer file, `BadSettings` if unwritable, `Misconfigured` if damaged,
    `StorageUnavailable` for a full disk or a lock.
    """
    with translate_errors(path, starting=True):
        await uninterrupted(asyncio.to_thread(_prepare, path, scripts or files("rag_engine.storage") / "sql"))
    async with _open(path, _READER_PRAGMAS) as reader, _open(path, _WRITER_PRAGMAS) as writer:
        yield Database(path, reader=reader, writer=writer, on_turn=on_turn)


def _prepare(path: Path, scripts: Traversable) -> None:
    make_file(path)
    migrate(path, scripts)


@asynccontextmanager
async def _open(path: Path, pragmas: Sequence[str]) -> AsyncGenerator[aiosqlite.Connection, None]:
    connection = aiosqlite.Connection(partial(_connection, path, pragmas), iter_chunk_size=_UNUSED)
    try:
        with translate_errors(path, starting=True):
            await uninterrupted(connection)
        yield connection
    finally:
        await uninterrupted(connection.close())


class _Connection(sqlite3.Connection):
    """A call of its thread costs more than most statements: closing the cursor takes no call of its own."""

    def executemany(self, sql: str, rows: Iterable[Any], /) -> sqlite3.Cursor:
        cursor = super().executemany(sql, rows)
        cursor.close()
        return cursor


def _connection(path: Path, pragmas: Sequence[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, factory=_Connection)
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()
    except BaseException:
        connection.close()
        raise
    return connection


async def _fetch(connection: aiosqlite.Connection, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
    return [tuple(row) for row in await connection.execute_fetchall(sql, _storable(parameters))]


def _storable(parameters: Sequence[object]) -> Sequence[object]:
    """Lone surrogates, as in odd file names, are replaced."""
    return [
        encodable(value) if isinstance(value, str) and not value.isascii() else value for value in parameters
    ]
