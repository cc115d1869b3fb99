from __future__ import annotations

import json
import time
from dataclasses import astuple
from typing import TYPE_CHECKING, Final

from rag_engine.storage.pending_work import knowledge_base_expected
from rag_engine.sync.types import SourceId, SourceRefused, StoredEntry, SyncCounts, SyncedSource
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.storage.sqlite.database import Database, Row

_COLUMNS: Final = (
    "id, knowledge_base, kind, address, options, every_seconds, state, error, ran_at, next_at, entries, "
    "new, changed, gone, failed"
)
_ADD: Final = (
    "INSERT INTO synced_sources (knowledge_base, kind, address, options, every_seconds) "  # noqa: S608
    f"VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING {_COLUMNS}"
)
_ENTRY: Final = "key, uri, fingerprint, validator, digest, state, reason, title, link, version"
_PUT_ENTRY: Final = (
    f"INSERT OR REPLACE INTO synced_entries (source, {_ENTRY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
)
_FORGOTTEN: Final = """
    UPDATE synced_entries SET state = 'forgotten'
    WHERE source = ?1 AND state = 'present' AND NOT EXISTS (
        SELECT 1 FROM sources WHERE knowledge_base = ?2 AND uri = synced_entries.uri
            AND document NOT IN (SELECT document FROM removals)
    )
"""
_UNFINISHED: Final = """
    UPDATE synced_entries SET fingerprint = '', validator = ''
    WHERE source = ?1 AND state = 'present' AND uri IN (
        SELECT sources.uri FROM documents JOIN sources ON sources.document = documents.id
        WHERE documents.knowledge_base = ?2 AND documents.digest = ''
    )
"""


class SqliteSources:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        knowledge_base: KnowledgeBaseId,
        *,
        kind: str,
        address: str,
        options: Mapping[str, str],
        every_seconds: float,
    ) -> SyncedSource:
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                rows = await transaction.execute(
                    _ADD,
                    (knowledge_base, kind, address, json.dumps(dict(options), sort_keys=True), every_seconds),
                )
        if not rows:
            raise SourceRefused(f"{address} is a source of this knowledge base already.")
        return _source(rows[0])

    async def all(self, knowledge_base: KnowledgeBaseId | None = None) -> list[SyncedSource]:
        rows = await self._database.fetch(
            f"SELECT {_COLUMNS} FROM synced_sources WHERE NOT removed AND ? IN ('', knowledge_base) ORDER BY id",  # noqa: S608
            (knowledge_base or "",),
        )
        return [_source(row) for row in rows]

    async def due(self, now: float) -> list[SyncedSource]:
        """Longest waiting first."""
        rows = await self._database.fetch(
            f"SELECT {_COLUMNS} FROM synced_sources WHERE NOT removed AND (next_at <= ? OR next_at > ? + every_seconds) "  # noqa: S608
            "ORDER BY next_at, id",
            (now, now),
        )
        return [_source(row) for row in rows]

    async def leaving(self) -> list[SyncedSource]:
        rows = await self._database.fetch(f"SELECT {_COLUMNS} FROM synced_sources WHERE removed ORDER BY id")  # noqa: S608
        return [_source(row) for row in rows]

    async def withdraw(self, source: SourceId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("UPDATE synced_sources SET removed = 1 WHERE id = ?", (source,))
            await transaction.execute(
                "UPDATE synced_entries SET state = 'leaving' WHERE source = ? AND state <> 'forgotten'",
                (source,),
            )

    async def remove(self, source: SourceId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM synced_sources WHERE id = ? AND removed", (source,))

    async def run_soon(self, sources: Collection[SourceId]) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "UPDATE synced_sources SET next_at = 0 WHERE id = ?", [(source,) for source in sources]
            )

    async def begin(self, source: SourceId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("UPDATE synced_sources SET state = 'running' WHERE id = ?", (source,))

    async def end(
        self, source: SyncedSource, *, error: str, entries: int | None, counts: SyncCounts, next_at: float
    ) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE synced_sources SET state = ?, error = ?, ran_at = ?, next_at = ?, "
                "entries = ifnull(?, entries), new = ?, changed = ?, gone = ?, failed = ? WHERE id = ?",
                (
                    "failed" if error else "ready",
                    error,
                    time.time(),
                    next_at,
                    entries,
                    counts.new,
                    counts.changed,
                    counts.gone,
                    counts.failed,
                    source.id,
                ),
            )

    async def manifest(self, source: SourceId) -> dict[str, StoredEntry]:
        rows = await self._database.fetch(
            f"SELECT {_ENTRY} FROM synced_entries WHERE source = ?",  # noqa: S608
            (source,),
        )
        return {row[0]: _entry(row) for row in rows}

    async def unread(self, source: SourceId, *, limit: int) -> list[StoredEntry]:
        rows = await self._database.fetch(
            f"SELECT {_ENTRY} FROM synced_entries WHERE source = ? AND reason <> '' ORDER BY key LIMIT ?",  # noqa: S608
            (source, limit),
        )
        return [_entry(row) for row in rows]

    async def put(self, source: SourceId, entries: Sequence[StoredEntry]) -> None:
        """Raises `SourceRefused` if the source was removed."""
        async with self._database.transaction() as transaction:
            if not await transaction.execute(
                "SELECT 1 FROM synced_sources WHERE id = ? AND NOT removed", (source,)
            ):
                raise SourceRefused("The source was removed meanwhile.")
            await transaction.execute_many(_PUT_ENTRY, [_row(source, entry) for entry in entries])

    async def leave(self, source: SourceId, keys: Collection[str]) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "UPDATE synced_entries SET state = 'leaving' WHERE source = ? AND key = ?",
                [(source, key) for key in keys],
            )

    async def drop(self, source: SourceId, keys: Collection[str]) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "DELETE FROM synced_entries WHERE source = ? AND key = ?", [(source, key) for key in keys]
            )

    async def review(self, source: SyncedSource) -> None:
        """Also those to read again after a kill."""
        async with self._database.transaction() as transaction:
            await transaction.execute(_FORGOTTEN, (source.id, source.knowledge_base))
            await transaction.execute(_UNFINISHED, (source.id, source.knowledge_base))

    async def is_forgotten(self, source: SourceId, digest: str) -> bool:
        rows = await self._database.fetch(
            "SELECT 1 FROM synced_entries WHERE source = ? AND digest = ? AND state = 'forgotten' LIMIT 1",
            (source, digest),
        )
        return bool(rows)

    async def held_elsewhere(self, source: SyncedSource, uri: str) -> bool:
        rows = await self._database.fetch(
            "SELECT 1 FROM synced_entries JOIN synced_sources ON synced_sources.id = source "
            "WHERE uri = ? AND knowledge_base = ? AND synced_entries.state IN ('present', 'unread') AND NOT removed "
            "LIMIT 1",
            (uri, source.knowledge_base),
        )
        return bool(rows)


def _source(row: Row) -> SyncedSource:
    identity, base, kind, address, options, every, state, error, ran_at, next_at, entries, *counts = row
    new, changed, gone, failed = counts
    return SyncedSource(
        id=SourceId(identity),
        knowledge_base=KnowledgeBaseId(base),
        kind=kind,
        address=address,
        options=json.loads(options),
        every_seconds=every,
        state=state,
        error=error,
        ran_at=ran_at,
        next_at=next_at,
        entries=entries,
        counts=SyncCounts(new=new, changed=changed, gone=gone, failed=failed),
    )


def _entry(row: Row) -> StoredEntry:
    key, uri, fingerprint, validator, digest, state, reason, title, link, version = row
    return StoredEntry(
        key=key,
        uri=uri,
        fingerprint=fingerprint,
        validator=validator,
        digest=digest,
        state=state,
        reason=reason,
        title=title,
        link=link,
        version=version,
    )


def _row(source: SourceId, entry: StoredEntry) -> tuple[object, ...]:
    return (source, *astuple(entry))
