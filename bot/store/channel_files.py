"""Files of messages of channels that are sources: still to be read, and still to be removed."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.store.message_files import attachment_key
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import IncomingMessage
    from bot.store.channel_sources import ChannelSource
    from rag_engine.storage.sqlite.database import Database, Row, Transaction

_COLUMNS: Final = "channel_files.source, message, attachment, person, uri, link, tries"
_PUT: Final = """
    INSERT OR IGNORE INTO channel_files (source, message, attachment, person, uri, link, at)
    SELECT source, message, ?3, person, ?4, ?5, at FROM channel_messages WHERE source = ?1 AND message = ?2 AND text <> ''
"""
_WITHOUT: Final = """
    UPDATE channel_files SET state = 'leaving'
    WHERE source = ? AND message = ? AND attachment NOT IN (SELECT value FROM json_each(?))
"""
_KEY: Final = "source = ? AND message = ? AND attachment = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFile:
    source: int
    message: str
    attachment: str
    person: str
    uri: str
    link: str
    tries: int

    @property
    def key(self) -> tuple[int, str, str]:
        return self.source, self.message, self.attachment


class ChannelFiles:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def next_of(self, source: ChannelSource) -> ChannelFile | None:
        """The newest that is due."""
        rows = await self._database.fetch(
            f"SELECT {_COLUMNS} FROM channel_files WHERE source = ? AND state = 'waiting' AND next_at <= ? "  # noqa: S608
            "ORDER BY at DESC, message, attachment LIMIT 1",
            (source.id, self._clock()),
        )
        return _file(rows[0]) if rows else None

    async def leaving(self) -> list[tuple[KnowledgeBaseId, ChannelFile]]:
        rows = await self._database.fetch(
            f"SELECT knowledge_base, {_COLUMNS} FROM channel_files JOIN channel_sources ON channel_sources.id = source "  # noqa: S608
            "WHERE state = 'leaving'"
        )
        return [(KnowledgeBaseId(base), _file(tuple(row))) for base, *row in rows]

    async def settle(self, file: ChannelFile, *, readable: bool) -> None:
        """Unless it left meanwhile."""
        state = "read" if readable else "unreadable"
        sql = f"UPDATE channel_files SET state = ? WHERE {_KEY} AND state = 'waiting'"  # noqa: S608
        await self._run(sql, state, *file.key)

    async def postpone(self, file: ChannelFile, *, seconds: float) -> None:
        await self._run(
            f"UPDATE channel_files SET tries = tries + 1, next_at = ? WHERE {_KEY}",  # noqa: S608
            self._clock() + seconds,
            *file.key,
        )

    async def leave(self, file: ChannelFile) -> None:
        await self._run(f"UPDATE channel_files SET state = 'leaving' WHERE {_KEY}", *file.key)  # noqa: S608

    async def has(self, file: ChannelFile) -> bool:
        return bool(await self._database.fetch(f"SELECT 1 FROM channel_files WHERE {_KEY}", file.key))  # noqa: S608

    async def drop(self, file: ChannelFile) -> None:
        await self._run(f"DELETE FROM channel_files WHERE {_KEY} AND state = 'leaving'", *file.key)  # noqa: S608

    async def _run(self, sql: str, *parameters: object) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(sql, parameters)


async def put_files(
    transaction: Transaction, source: ChannelSource, messages: Sequence[IncomingMessage]
) -> None:
    """Of messages in their latest version, as far as they are kept."""
    for message in messages:
        keys = [attachment_key(each) for each in message.files]
        await transaction.execute(_WITHOUT, (source.id, message.id, json.dumps(keys)))
        await transaction.execute_many(
            _PUT, [(source.id, message.id, key, _uri(message, key), message.uri) for key in keys]
        )


def _uri(message: IncomingMessage, key: str) -> str:
    return f"{message.uri}#file-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def _file(row: Row) -> ChannelFile:
    source, message, attachment, person, uri, link, tries = row
    return ChannelFile(
        source=source, message=message, attachment=attachment, person=person, uri=uri, link=link, tries=tries
    )
