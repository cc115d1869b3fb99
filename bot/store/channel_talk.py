"""Stores messages of channels that are sources, from events and from pages of their history."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from bot.store.channel_files import put_files
from bot.store.channel_sources import FRAGMENT, TOUCH, opted_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.port import HistoryPage, IncomingMessage
    from bot.store.channel_sources import ChannelSource, Span
    from rag_engine.storage.sqlite.database import Database, Transaction

_PUT: Final = """
    INSERT INTO channel_messages (source, message, document, person, name, at, uri, text, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (source, message) DO UPDATE SET document = excluded.document, person = excluded.person,
        name = excluded.name, at = excluded.at, uri = excluded.uri, text = excluded.text, changed_at = excluded.changed_at
"""
_DELETE: Final = """
    INSERT INTO channel_messages (source, message, document, person, name, at, uri, text, changed_at)
    VALUES (?, ?, '', '', '', 0, '', '', ?)
    ON CONFLICT (source, message) DO UPDATE SET person = '', name = '', text = '', changed_at = excluded.changed_at
"""
_KNOWN: Final = """
    SELECT message, document, text, changed_at FROM channel_messages
    WHERE source = ? AND message IN (SELECT value FROM json_each(?))
"""
_WITH_THREAD: Final = """
    SELECT substr(document, 8) FROM channel_documents
    WHERE source = ? AND document IN (SELECT 'thread:' || value FROM json_each(?))
"""
_FORGOTTEN: Final = "SELECT document FROM channel_documents WHERE source = ? AND forgotten"
_ROOTS: Final = """
    SELECT message, document FROM channel_messages
    WHERE source = ? AND message IN (SELECT value FROM json_each(?)) AND document LIKE 'day:%'
"""
_GONE: Final = """
    SELECT message, document FROM channel_messages
    WHERE source = ?1 AND text <> '' AND changed_at <= ?2 AND message NOT IN (SELECT value FROM json_each(?3))
        AND (length(message), message) > (length(?4), ?4)
        AND (?5 = '' OR (length(message), message) < (length(?5), ?5))
        AND CASE WHEN ?6 = '' THEN document NOT LIKE 'thread:%' OR document = 'thread:' || message
            ELSE document = 'thread:' || ?6 AND message <> ?6 END
"""


@dataclass(slots=True)
class _Changes:
    source: ChannelSource
    live: bool
    uris: dict[str, str] = field(default_factory=dict[str, str])

    def touch(self, document: str, uri: str = "") -> None:
        if document:
            self.uris[document] = self.uris.get(document) or uri

    async def save(self, transaction: Transaction) -> None:
        rows = [
            (self.source.id, document, f"{uri}{FRAGMENT}{document}", int(self.live))
            for document, uri in self.uris.items()
        ]
        await transaction.execute_many(TOUCH, rows)


class ChannelTalk:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock

    async def put(self, source: ChannelSource, message: IncomingMessage, *, edited: bool) -> None:
        """From an event; the first version of a message never replaces a later one."""
        async with self._database.transaction() as transaction:
            changes = _Changes(source, live=True)
            as_of = self.clock() if edited else 0.0
            await self._put(transaction, changes, [message], as_of=as_of)
            await changes.save(transaction)

    async def delete(self, source: ChannelSource, message: str) -> None:
        async with self._database.transaction() as transaction:
            changes = _Changes(source, live=True)
            await self._delete(transaction, changes, [message])
            await changes.save(transaction)

    async def take_back(self, source: ChannelSource, message: str) -> None:
        """As if it had not been heard."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "DELETE FROM channel_messages WHERE source = ? AND message = ? RETURNING document",
                (source.id, message),
            )
            changes = _Changes(source, live=True)
            for (document,) in rows:
                changes.touch(document)
            await changes.save(transaction)

    async def put_page(
        self,
        source: ChannelSource,
        span: Span,
        page: HistoryPage,
        messages: Sequence[IncomingMessage],
        *,
        as_of: float,
    ) -> None:
        """`messages`: those of the page to keep. What was known of it and is not in it was deleted."""
        async with self._database.transaction() as transaction:
            changes = _Changes(source, live=False)
            threads = frozenset(page.threads)
            await self._put(transaction, changes, messages, as_of=as_of, threads=threads)
            bounds = (page.cursor or span.after, span.before)
            await self._sweep(transaction, changes, page, as_of=as_of, bounds=bounds)
            known = await transaction.execute(_WITH_THREAD, (source.id, json.dumps(page.seen)))
            await transaction.execute_many(
                "INSERT OR IGNORE INTO channel_threads (source, thread) VALUES (?, ?)",
                [(source.id, thread) for thread in threads.union(thread for (thread,) in known)],
            )
            if page.cursor:
                await transaction.execute(
                    "UPDATE channel_spans SET before = ? WHERE id = ?", (page.cursor, span.id)
                )
            else:
                await transaction.execute("DELETE FROM channel_spans WHERE id = ?", (span.id,))
            await changes.save(transaction)

    async def put_thread(
        self,
        source: ChannelSource,
        thread: str,
        cursor: str,
        page: HistoryPage,
        messages: Sequence[IncomingMessage],
        *,
        as_of: float,
    ) -> None:
        async with self._database.transaction() as transaction:
            changes = _Changes(source, live=False)
            await self._put(transaction, changes, messages, as_of=as_of, thread=thread)
            await self._sweep(
                transaction, changes, page, as_of=as_of, bounds=(cursor, page.cursor), thread=thread
            )
            if page.cursor:
                sql = "UPDATE channel_threads SET cursor = ?3 WHERE source = ?1 AND thread = ?2"
            else:
                sql = "DELETE FROM channel_threads WHERE source = ?1 AND thread = ?2 AND ?3 = ''"
            await transaction.execute(sql, (source.id, thread, page.cursor))
            await changes.save(transaction)

    async def _put(
        self,
        transaction: Transaction,
        changes: _Changes,
        messages: Sequence[IncomingMessage],
        *,
        as_of: float,
        thread: str = "",
        threads: frozenset[str] = frozenset(),
    ) -> None:
        source = changes.source
        left_out = await opted_out(transaction, source.place.platform, {each.person.id for each in messages})
        kept = [each for each in messages if each.person.id not in left_out]
        ids = json.dumps([each.id for each in kept])
        known = {row[0]: row[1:] for row in await transaction.execute(_KNOWN, (source.id, ids))}
        threads |= {root for (root,) in await transaction.execute(_WITH_THREAD, (source.id, ids))}
        forgotten = {document for (document,) in await transaction.execute(_FORGOTTEN, (source.id,))}
        rows: list[tuple[object, ...]] = []
        current: list[IncomingMessage] = []
        for each in kept:
            document, text = _document(each, thread, threads), text_of(each)
            old_document, old_text, changed_at = known.get(each.id, ("", "", -1.0))
            is_deleted = changes.live and each.id in known and not old_text
            is_same = (old_document, old_text) == (document, text)
            if document in forgotten or is_deleted or changed_at > as_of:
                continue
            current.append(each)
            if is_same:
                continue
            if old_document != document:
                changes.touch(old_document)
            changes.touch(document, each.uri)
            rows.append((source.id, *_row(each, document, text), self.clock()))
        await transaction.execute_many(_PUT, rows)
        await put_files(transaction, source, current)
        await self._move_roots(transaction, changes, {str(row[2]) for row in rows})

    async def _move_roots(self, transaction: Transaction, changes: _Changes, documents: set[str]) -> None:
        threads = {each.removeprefix("thread:") for each in documents if each.startswith("thread:")}
        moved = await transaction.execute(_ROOTS, (changes.source.id, json.dumps(sorted(threads))))
        for root, document in moved:
            changes.touch(document)
            changes.touch(f"thread:{root}")
        await transaction.execute_many(
            "UPDATE channel_messages SET document = 'thread:' || message WHERE source = ? AND message = ?",
            [(changes.source.id, root) for root, _ in moved],
        )

    async def _sweep(
        self,
        transaction: Transaction,
        changes: _Changes,
        page: HistoryPage,
        *,
        as_of: float,
        bounds: tuple[str, str],
        thread: str = "",
    ) -> None:
        values = (changes.source.id, as_of, json.dumps(page.seen), *bounds, thread)
        gone = [message for message, _ in await transaction.execute(_GONE, values)]
        await self._delete(transaction, changes, gone)

    async def _delete(self, transaction: Transaction, changes: _Changes, messages: Sequence[str]) -> None:
        if not messages:
            return
        known = await transaction.execute(_KNOWN, (changes.source.id, json.dumps(messages)))
        for _, document, text, _ in known:
            if text:
                changes.touch(document)
        now = self.clock()
        await transaction.execute_many(_DELETE, [(changes.source.id, message, now) for message in messages])


def text_of(message: IncomingMessage) -> str:
    names = ", ".join(each.name for each in message.attachments)
    return "\n".join(part for part in (message.text.strip(), f"[{names}]" if names else "") if part)


def _row(message: IncomingMessage, document: str, text: str) -> tuple[object, ...]:
    person = message.person
    return message.id, document, person.id, person.name, message.at, message.uri, text


def _document(message: IncomingMessage, thread: str, threads: frozenset[str]) -> str:
    root = thread or (message.place.thread if message.in_thread else "")
    if root or message.id in threads:
        return f"thread:{root or message.id}"
    return f"day:{datetime.fromtimestamp(message.at, UTC).date().isoformat()}"
