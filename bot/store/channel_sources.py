"""Channels whose messages are searched: what of them is known, still to be read, and still to be written into the index."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.port import Place
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rag_engine.storage.sqlite.database import Database, Row, Transaction

_COLUMNS: Final = "id, knowledge_base, platform, workspace, channel, name, asked, post, error"
FRAGMENT: Final = "#messages:"
UNREADABLE: Final = "unreadable"
"""The error of a channel that the platform does not show us."""
_FORGET: Final = "DELETE FROM channel_sources WHERE knowledge_base = ?"
TOUCH: Final = """
    INSERT INTO channel_documents (source, document, uri, live) VALUES (?, ?, ?, ?)
    ON CONFLICT (source, document) DO UPDATE SET version = version + 1, live = max(live, excluded.live)
"""
_PROGRESS: Final = """
    SELECT (SELECT count(*) FROM channel_messages WHERE source = ?1 AND text <> ''),
        (SELECT min(at) FROM channel_messages WHERE source = ?1 AND text <> ''),
        EXISTS (SELECT 1 FROM channel_spans WHERE source = ?1)
            OR EXISTS (SELECT 1 FROM channel_threads WHERE source = ?1),
        (SELECT count(*) FROM channel_files WHERE source = ?1 AND state = 'unreadable')
"""
_NEWS: Final = """
    INSERT INTO channel_spans (source, after)
    SELECT id, coalesce((
        SELECT message FROM channel_messages WHERE source = channel_sources.id AND at > 0 AND at <= max(
            (SELECT max(at) FROM channel_messages WHERE source = channel_sources.id)
                - CASE WHEN ?2 - seen_at > ?3 THEN ?5 ELSE ?4 END,
            coalesce((SELECT at FROM channel_messages WHERE source = channel_sources.id
                ORDER BY at DESC LIMIT 1 OFFSET ?6), 0)
        ) ORDER BY at DESC LIMIT 1
    ), '') FROM channel_sources
    WHERE platform = ?1 AND NOT removed
        AND NOT EXISTS (SELECT 1 FROM channel_spans WHERE source = channel_sources.id AND before = '')
"""
_SHORT_SECONDS: Final = 900.0
"""Of a restart. After a longer time more may have changed."""
_COMPARED_SECONDS: Final = (86_400.0, 30 * 86_400.0)
"""How far back, after a short and a longer time."""
_MOST_COMPARED: Final = 5_000
_OF_PERSON: Final = """
    SELECT source, document, channel_documents.uri FROM channel_messages
    JOIN channel_documents USING (source, document) JOIN channel_sources ON channel_sources.id = source
    WHERE platform = ? AND person = ? GROUP BY source, document
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSource:
    id: int
    knowledge_base: KnowledgeBaseId
    place: Place
    name: str
    asked: str = ""
    post: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`oldest`: seconds since the epoch, or None without messages."""

    messages: int
    oldest: float | None
    is_reading: bool
    unreadable_files: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """`before` empty: from now; `after` empty: to the beginning."""

    id: int
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDocument:
    document: str
    uri: str
    version: int
    written: int
    """0: not yet; negative: even if its document is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkMessage:
    """A stored message; `at` in seconds since the epoch."""

    id: str
    person: str
    name: str
    at: float
    uri: str
    text: str


class ChannelSources:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self.clock = clock

    async def add(
        self, knowledge_base: KnowledgeBaseId, place: Place, *, name: str, asked: str
    ) -> ChannelSource | None:
        """None if the channel is a source."""
        values = (knowledge_base, place.platform, place.workspace, place.channel, name, asked)
        async with self.database.transaction() as transaction:
            rows = await transaction.execute(
                "INSERT INTO channel_sources (knowledge_base, platform, workspace, channel, name, asked) "  # noqa: S608
                f"VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING {_COLUMNS}",
                values,
            )
            if rows:
                await transaction.execute("INSERT INTO channel_spans (source) VALUES (?)", (rows[0][0],))
        return _source(rows[0]) if rows else None

    async def all(
        self, knowledge_base: KnowledgeBaseId | None = None, *, platform: str = ""
    ) -> list[ChannelSource]:
        return await self._many(
            "NOT removed AND ? IN ('', knowledge_base) AND ? IN ('', platform) ORDER BY id",
            knowledge_base or "",
            platform,
        )

    async def leaving(self) -> list[ChannelSource]:
        return await self._many("removed ORDER BY id")

    async def at(self, place: Place) -> ChannelSource | None:
        condition = "NOT removed AND platform = ? AND workspace = ? AND channel = ?"
        found = await self._many(condition, place.platform, place.workspace, place.channel)
        return found[0] if found else None

    async def progress(self, source: ChannelSource) -> Progress:
        ((messages, oldest, is_reading, unreadable),) = await self.database.fetch(_PROGRESS, (source.id,))
        return Progress(
            messages=messages, oldest=oldest, is_reading=bool(is_reading), unreadable_files=unreadable
        )

    async def note(self, source: ChannelSource, *, post: str | None = None, error: str | None = None) -> None:
        await self._run(
            "UPDATE channel_sources SET post = ifnull(?, post), error = ifnull(?, error) WHERE id = ?",
            post,
            error,
            source.id,
        )

    async def withdraw(self, source: ChannelSource) -> None:
        await self._run("UPDATE channel_sources SET removed = 1 WHERE id = ?", source.id)

    async def remove(self, source: ChannelSource) -> None:
        await self._run("DELETE FROM channel_sources WHERE id = ? AND removed", source.id)

    async def forget(self, knowledge_base: KnowledgeBaseId) -> None:
        await self._run(_FORGET, knowledge_base)

    async def forget_others(self, existing: Collection[KnowledgeBaseId]) -> None:
        """At the start, before any is made."""
        for (knowledge_base,) in await self.database.fetch("SELECT knowledge_base FROM channel_sources"):
            if knowledge_base not in existing:
                await self.forget(KnowledgeBaseId(knowledge_base))

    async def read_again(self, source: ChannelSource) -> None:
        await self._run("INSERT INTO channel_spans (source) VALUES (?)", source.id)

    async def read_news(self, platform: str) -> None:
        """What came, changed and went since the bot last heard the channel."""
        await self._run(_NEWS, platform, self.clock(), _SHORT_SECONDS, *_COMPARED_SECONDS, _MOST_COMPARED)

    async def see(self, platform: str) -> None:
        await self._run("UPDATE channel_sources SET seen_at = ? WHERE platform = ?", self.clock(), platform)

    async def span(self, source: ChannelSource) -> Span | None:
        rows = await self.database.fetch(
            "SELECT id, before, after FROM channel_spans WHERE source = ? ORDER BY id DESC LIMIT 1",
            (source.id,),
        )
        return Span(id=rows[0][0], before=rows[0][1], after=rows[0][2]) if rows else None

    async def unfinished_day(self, source: ChannelSource) -> str:
        """The document that the next page of a span goes on with, or empty."""
        rows = await self.database.fetch(
            "SELECT document FROM channel_messages JOIN channel_spans USING (source) "
            "WHERE source = ? AND before <> '' AND document LIKE 'day:%' "
            "AND (length(message), message) >= (length(before), before) "
            "ORDER BY channel_spans.id DESC, length(message), message LIMIT 1",
            (source.id,),
        )
        return rows[0][0] if rows else ""

    async def thread(self, source: ChannelSource) -> tuple[str, str] | None:
        """One to read, and after which of its messages."""
        rows = await self.database.fetch(
            "SELECT thread, cursor FROM channel_threads WHERE source = ? ORDER BY thread DESC LIMIT 1",
            (source.id,),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    async def due(self, source: ChannelSource, *, live: bool, limit: int = 500) -> list[DueDocument]:
        """With `live`, only those that an event changed."""
        rows = await self.database.fetch(
            "SELECT document, uri, version, written FROM channel_documents "
            "WHERE source = ? AND version > written AND NOT forgotten AND live >= ? ORDER BY live DESC LIMIT ?",
            (source.id, int(live), limit),
        )
        return [_due(row) for row in rows]

    async def latest(self, source: ChannelSource, document: str) -> DueDocument | None:
        """None if it was forgotten, or its channel is a source no longer."""
        rows = await self.database.fetch(
            "SELECT document, uri, version, written FROM channel_documents JOIN channel_sources ON id = source "
            "WHERE source = ? AND document = ? AND NOT forgotten AND NOT removed",
            (source.id, document),
        )
        return _due(rows[0]) if rows else None

    async def has_live(self) -> bool:
        condition = "live AND version > written AND NOT forgotten"
        return bool(await self.database.fetch(f"SELECT 1 FROM channel_documents WHERE {condition} LIMIT 1"))  # noqa: S608

    async def documents(self, source: ChannelSource) -> list[str]:
        """Also of files."""
        rows = await self.database.fetch(
            "SELECT uri FROM channel_documents WHERE source = ?1 UNION SELECT uri FROM channel_files WHERE source = ?1",
            (source.id,),
        )
        return [uri for (uri,) in rows]

    async def talk(self, source: ChannelSource, document: str) -> list[TalkMessage]:
        """Oldest first, without deleted ones."""
        rows = await self.database.fetch(
            "SELECT message, person, name, at, uri, text FROM channel_messages "
            "WHERE source = ? AND document = ? AND text <> '' ORDER BY at, length(message), message",
            (source.id, document),
        )
        return [
            TalkMessage(id=message, person=person, name=name, at=at, uri=uri, text=text)
            for message, person, name, at, uri, text in rows
        ]

    async def wrote(self, source: ChannelSource, due: DueDocument) -> None:
        await self._run(
            "UPDATE channel_documents SET written = ?1, live = live AND version > ?1 WHERE source = ?2 AND document = ?3",
            due.version,
            source.id,
            due.document,
        )

    async def give_up(self, source: ChannelSource, due: DueDocument) -> None:
        key = (source.id, due.document)
        async with self.database.transaction() as transaction:
            await transaction.execute(
                "UPDATE channel_documents SET forgotten = 1 WHERE source = ? AND document = ?", key
            )
            await transaction.execute("DELETE FROM channel_messages WHERE source = ? AND document = ?", key)

    async def drop(self, source: ChannelSource, due: DueDocument) -> None:
        """It has no messages any more."""
        await self._run(
            "DELETE FROM channel_documents WHERE source = ? AND document = ? AND version = ?",
            source.id,
            due.document,
            due.version,
        )

    async def opt_out(self, platform: str, person: str) -> None:
        async with self.database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR IGNORE INTO channel_optouts VALUES (?)", (digest_of(platform, person),)
            )
            touched = await transaction.execute(_OF_PERSON, (platform, person))
            await transaction.execute(
                "DELETE FROM channel_messages WHERE person = ? "
                "AND source IN (SELECT id FROM channel_sources WHERE platform = ?)",
                (person, platform),
            )
            await transaction.execute_many(TOUCH, [(*row, 1) for row in touched])

    async def opt_in(self, platform: str, person: str) -> None:
        await self._run("DELETE FROM channel_optouts WHERE digest = ?", digest_of(platform, person))

    async def opted_out(self, platform: str, people: Collection[str]) -> set[str]:
        async with self.database.transaction() as transaction:
            return await opted_out(transaction, platform, people)

    async def _many(self, condition: str, *parameters: object) -> list[ChannelSource]:
        sql = f"SELECT {_COLUMNS} FROM channel_sources WHERE {condition}"  # noqa: S608
        return [_source(row) for row in await self.database.fetch(sql, parameters)]

    async def _run(self, sql: str, *parameters: object) -> None:
        async with self.database.transaction() as transaction:
            await transaction.execute(sql, parameters)


def is_talk(uris: Collection[str]) -> bool:
    """Of a document of messages."""
    return any(FRAGMENT in uri for uri in uris)


def digest_of(platform: str, person: str) -> str:
    return hashlib.sha256(f"{platform}\x1f{person}".encode()).hexdigest()


async def opted_out(transaction: Transaction, platform: str, people: Collection[str]) -> set[str]:
    digests = {digest_of(platform, person): person for person in people}
    rows = await transaction.execute(
        "SELECT digest FROM channel_optouts WHERE digest IN (SELECT value FROM json_each(?))",
        (json.dumps(list(digests)),),
    )
    return {digests[digest] for (digest,) in rows}


def _due(row: Row) -> DueDocument:
    document, uri, version, written = row
    return DueDocument(document=document, uri=uri, version=version, written=written)


def _source(row: Row) -> ChannelSource:
    identity, knowledge_base, platform, workspace, channel, name, asked, post, error = row
    return ChannelSource(
        id=identity,
        knowledge_base=KnowledgeBaseId(knowledge_base),
        place=Place(platform=platform, workspace=workspace, channel=channel),
        name=name,
        asked=asked,
        post=post,
        error=error,
    )
