from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rag_engine.errors import BadSettings, Misconfigured
from rag_engine.storage.sqlite import database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database, Row, Transaction
    from rag_engine.types import Vector

_Item = TypeVar("_Item")
_log = logging.getLogger(__name__)

DEFAULT_MAX_BYTES = 1 << 30
_BATCH = 500
_DAY = 86_400
_KEPT_SHARE = 0.9
_STORED = np.dtype("<f4")

_PUT = """
    INSERT INTO vectors (model, hash, used, vector) VALUES ((SELECT id FROM models WHERE name = ?), ?, ?, ?)
    ON CONFLICT (model, hash) DO UPDATE SET used = excluded.used, vector = excluded.vector
"""
_TOUCH = "UPDATE vectors SET used = ? WHERE id = ?"


class SqliteVectorCache:
    """Evicts the least recently used vectors above `max_bytes`."""

    def __init__(self, database: Database, *, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes

    async def read(self, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]:
        today = _today()
        found: dict[bytes, Vector] = {}
        stale: list[tuple[int, int]] = []
        for batch in _batches(dict.fromkeys(hashes)):
            for identity, text_hash, used, vector in await self._rows(model, batch):
                found[bytes.fromhex(text_hash)] = np.frombuffer(vector, dtype=_STORED).astype(
                    np.float32, copy=False
                )
                if used < today:
                    stale.append((today, identity))
        if stale:
            async with self._database.transaction() as transaction:
                await transaction.execute_many(_TOUCH, stale)
        return found

    async def write(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        today = _today()
        for batch in _batches(vectors.items()):
            rows = [(model, text_hash.hex(), today, _stored(vector)) for text_hash, vector in batch]
            async with self._database.transaction() as transaction:
                await transaction.execute(
                    "INSERT INTO models (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (model,)
                )
                await transaction.execute_many(_PUT, rows)
                await self._make_room(transaction)

    async def _rows(self, model: str, hashes: Sequence[bytes]) -> list[Row]:
        return await self._database.fetch(
            "SELECT id, hash, used, vector FROM vectors WHERE model = (SELECT id FROM models WHERE name = ?) "
            "AND hash IN (SELECT value FROM json_each(?))",
            (model, json.dumps([text_hash.hex() for text_hash in hashes])),
        )

    async def _make_room(self, transaction: Transaction) -> None:
        ((used_bytes,),) = await transaction.execute(
            "SELECT (page_count - freelist_count) * page_size "
            "FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()"
        )
        if used_bytes <= self._max_bytes:
            return
        ((rows,),) = await transaction.execute("SELECT count(*) FROM vectors")
        surplus = max(1, int(rows * (1 - _KEPT_SHARE * self._max_bytes / used_bytes)))
        await transaction.execute(
            "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY used, id LIMIT ?)", (surplus,)
        )


@asynccontextmanager
async def connect(
    path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES
) -> AsyncGenerator[SqliteVectorCache, None]:
    """Replaces a damaged file or one of another version."""
    async with AsyncExitStack() as stack:
        scripts = files("rag_engine.storage") / "sql" / "vectors"
        try:
            opened = await stack.enter_async_context(database.connect(path, scripts=scripts))
        except BadSettings:
            raise
        except Misconfigured as error:
            _log.warning("the vector cache is created again: %s", error)
            await asyncio.to_thread(_delete, path)
            opened = await stack.enter_async_context(database.connect(path, scripts=scripts))
        yield SqliteVectorCache(opened, max_bytes=max_bytes)


def _delete(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _stored(vector: Vector) -> bytes:
    return np.ascontiguousarray(vector, dtype=_STORED).tobytes()


def _today() -> int:
    return int(time.time() // _DAY)


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
