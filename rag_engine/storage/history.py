from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

from rag_engine.errors import UserError
from rag_engine.metadata.comparison import folded
from rag_engine.types import ConversationId, KnowledgeBaseId, Trace, Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.storage.sqlite.database import Database, Row

_PUT_TURN = """
    INSERT INTO turns (id, conversation, role, text, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET conversation = excluded.conversation, role = excluded.role, text = excluded.text, at = excluded.at,
        active = 1
"""
_PLACE_TURN = "UPDATE turns SET position = coalesce(nullif(?, 0), ordinal) WHERE id = ? AND position = 0"
_READ = """
    SELECT id, conversation, role, text, at FROM turns WHERE conversation = ? AND active = 1
        AND position < coalesce((SELECT position FROM turns WHERE id = ?), 9223372036854775807)
    ORDER BY position DESC, ordinal DESC LIMIT ?
"""
_SHELVE = """
    UPDATE turns SET active = 0 WHERE (conversation, position) IN (SELECT conversation, position FROM turns WHERE id = ?)
"""
_PUT_TRACE = """
    INSERT INTO traces (turn, conversation, at, seconds, fallbacks, details) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (turn) DO UPDATE SET conversation = excluded.conversation, at = excluded.at, seconds = excluded.seconds,
        fallbacks = excluded.fallbacks, details = excluded.details
"""
_KEEP_TRACE = """
    INSERT INTO traces (turn, conversation, at, seconds, fallbacks, details) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (turn) DO NOTHING
"""
_CONVERSATIONS = """
    SELECT turns.conversation, max(turns.at), sum(role = 'user'), coalesce(title, ''), (SELECT text FROM turns AS opening
            WHERE opening.conversation = turns.conversation AND active = 1 AND role = 'user' ORDER BY position, ordinal LIMIT 1),
        (SELECT json_group_array(tag) FROM conversation_tags WHERE conversation_tags.conversation = turns.conversation)
    FROM turns LEFT JOIN conversation_titles USING (conversation)
    WHERE active = 1 AND turns.conversation >= ?1 AND turns.conversation < ?2
        AND NOT (turns.conversation >= 'single:' AND turns.conversation < 'single;')
        AND (?3 = '' OR EXISTS (SELECT 1 FROM conversation_tags AS tags
            WHERE tags.conversation = turns.conversation AND tags.folded = ?3))
    GROUP BY turns.conversation ORDER BY max(turns.at) DESC, max(ordinal) DESC LIMIT ?4
"""
_FORGET_TITLE = """
    DELETE FROM conversation_titles WHERE conversation IN (SELECT conversation FROM turns WHERE id = ? AND active = 1)
"""
_FORGET_TAGS = _FORGET_TITLE.replace("conversation_titles", "conversation_tags")
_ASKED = """
    SELECT ordinal, turn, conversation, at, coalesce(json_extract(details, '$.route'), ''),
        coalesce(nullif(json_extract(details, '$.searched_for'), ''), json_extract(details, '$.question'), ''),
        coalesce(json_extract(details, '$.knowledge_bases'), '[]'), coalesce(json_array_length(details, '$.citations'), 0),
        json_extract(details, '$.grounded') FROM traces
"""
_LISTED = 8
_LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    id: ConversationId
    at: float
    questions: int
    title: str = ""
    """As given by a person."""
    opening: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    ordinal: int
    turn: TurnId
    conversation: ConversationId
    at: float
    route: str
    text: str
    knowledge_bases: tuple[KnowledgeBaseId, ...]
    cited: bool
    grounded: bool


class SqliteHistory:
    """Ordered by writing, because clocks may go backwards."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self, conversation: ConversationId, *, limit: int, before: TurnId | None = None
    ) -> list[Turn]:
        rows = await self._database.fetch(_READ, (conversation, before or "", max(limit, 0)))
        return [_turn(row) for row in reversed(rows)]

    async def write(self, turns: Sequence[Turn], trace: Trace, *, in_place_of: Sequence[TurnId] = ()) -> None:
        """In one transaction; a known turn keeps its place."""
        async with self._database.transaction() as transaction:
            for turn, earlier in zip_longest(turns, in_place_of[: len(turns)]):
                rows = await transaction.execute("SELECT position FROM turns WHERE id = ?", (earlier or "",))
                await transaction.execute(_SHELVE, (earlier or "",))
                row = (turn.id, turn.conversation, turn.role, turn.text, turn.at)
                await transaction.execute(_PUT_TURN, row)
                await transaction.execute(_PLACE_TURN, (rows[0][0] if rows else 0, turn.id))
            await transaction.execute(_PUT_TRACE, _trace_row(trace))

    async def activate(self, turns: Sequence[TurnId]) -> None:
        """From now on, each at its position."""
        async with self._database.transaction() as transaction:
            for turn in turns:
                await transaction.execute(_SHELVE, (turn,))
                await transaction.execute("UPDATE turns SET active = 1 WHERE id = ?", (turn,))

    async def turn(self, turn: TurnId) -> Turn | None:
        rows = await self._database.fetch(
            "SELECT id, conversation, role, text, at FROM turns WHERE id = ?", (turn,)
        )
        return _turn(rows[0]) if rows else None

    async def keep(self, trace: Trace) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(_KEEP_TRACE, _trace_row(trace))

    async def conversations(
        self, *, limit: int, beginning: str = "", tag: str = ""
    ) -> list[ConversationSummary]:
        bounds = (beginning, beginning + _LAST_CHARACTER, folded(tag), limit)
        rows = await self._database.fetch(_CONVERSATIONS, bounds)
        return [
            ConversationSummary(
                id=ConversationId(conversation),
                at=at,
                questions=questions,
                title=title,
                opening=opening or "",
                tags=tuple(json.loads(tags)),
            )
            for conversation, at, questions, title, opening, tags in rows
        ]

    async def rename(self, conversation: ConversationId, title: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM conversation_titles WHERE conversation = ?", (conversation,)
            )
            if title:
                await transaction.execute(
                    "INSERT INTO conversation_titles SELECT ?, ?, ? "
                    "WHERE EXISTS (SELECT 1 FROM turns WHERE conversation = ?)",
                    (conversation, title, time.time(), conversation),
                )

    async def tag(self, conversation: ConversationId, tags: Sequence[str]) -> None:
        """Replaces its tags; nothing without turns."""
        rows = [(conversation, folded(tag), tag, time.time(), conversation) for tag in tags]
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM conversation_tags WHERE conversation = ?", (conversation,))
            await transaction.execute_many(
                "INSERT OR IGNORE INTO conversation_tags SELECT ?, ?, ?, ? "
                "WHERE EXISTS (SELECT 1 FROM turns WHERE conversation = ?)",
                rows,
            )

    async def tags(self, conversation: ConversationId) -> list[str]:
        rows = await self._database.fetch(
            "SELECT tag FROM conversation_tags WHERE conversation = ? ORDER BY folded", (conversation,)
        )
        return [tag for (tag,) in rows]

    async def asked_since(self, ordinal: int, *, limit: int) -> list[AskedQuestion]:
        """From the start if `restore` went back."""
        ((newest,),) = await self._database.fetch("SELECT coalesce(max(ordinal), 0) FROM traces")
        after = ordinal if ordinal <= newest else 0
        rows = await self._database.fetch(
            f"{_ASKED} WHERE ordinal > ? ORDER BY ordinal LIMIT ?", (after, limit)
        )
        return [_asked(row) for row in rows]

    async def asked(self, turns: Collection[TurnId]) -> dict[TurnId, AskedQuestion]:
        wanted = json.dumps(sorted(turns))
        rows = await self._database.fetch(
            f"{_ASKED} WHERE turn IN (SELECT value FROM json_each(?))",  # noqa: S608
            (wanted,),
        )
        return {found.turn: found for found in map(_asked, rows)}

    async def forget(self, turns: Sequence[TurnId]) -> None:
        """Also titles and tags of their conversations, which may repeat them."""
        rows = [(turn,) for turn in turns]
        async with self._database.transaction() as transaction:
            await transaction.execute_many(_FORGET_TITLE, rows)
            await transaction.execute_many(_FORGET_TAGS, rows)
            await transaction.execute_many("DELETE FROM turns WHERE id = ?", rows)
            await transaction.execute_many("DELETE FROM traces WHERE turn = ?", rows)
            await transaction.execute_many("DELETE FROM research WHERE turn = ?", rows)

    async def newest(self) -> float:
        """In seconds since the epoch; 0 without turns."""
        rows = await self._database.fetch("SELECT at FROM turns ORDER BY ordinal DESC LIMIT 1")
        return float(rows[0][0]) if rows else 0.0

    async def prune(self, *, before: float, limit: int) -> bool:
        """Returns whether more may remain."""
        more = False
        for table in ("turns", "traces", "research"):
            rows = await self._database.fetch(
                f"SELECT ordinal FROM {table} WHERE at < ? ORDER BY ordinal LIMIT ?",  # noqa: S608
                (before, limit),
            )
            if rows:
                async with self._database.transaction() as transaction:
                    await transaction.execute_many(f"DELETE FROM {table} WHERE ordinal = ?", rows)  # noqa: S608
            more = more or len(rows) == limit
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM conversation_titles WHERE at < ?", (before,))
            await transaction.execute("DELETE FROM conversation_tags WHERE at < ?", (before,))
        return more

    async def trace(self, turn: TurnId | None = None) -> Trace | None:
        """By id or its beginning, else the newest. Raises `UserError` for an ambiguous beginning."""
        if turn is None:
            rows = await self._database.fetch("SELECT * FROM traces ORDER BY ordinal DESC LIMIT 1")
            return _trace(rows[0]) if rows else None
        rows = await self._database.fetch(
            "SELECT * FROM traces WHERE turn >= ? AND turn < ? ORDER BY turn = ? DESC, ordinal DESC LIMIT ?",
            (turn, turn + _LAST_CHARACTER, turn, _LISTED),
        )
        if (
            len(rows) > 1
            and rows[0][1] != turn
            and len({row[1].rpartition("-")[0] or row[1] for row in rows}) > 1
        ):
            listed = ", ".join(
                f"{row[1]} ({datetime.fromtimestamp(row[3], UTC):%Y-%m-%d %H:%M})" for row in rows
            )
            raise UserError(f"several turns begin with {turn!r}: give more of the id ({listed}).")
        return _trace(rows[0]) if rows else None


def _turn(row: Row) -> Turn:
    identity, conversation, role, text, at = row
    return Turn(id=TurnId(identity), conversation=ConversationId(conversation), role=role, text=text, at=at)


def _asked(row: Row) -> AskedQuestion:
    ordinal, turn, conversation, at, route, text, bases, citations, grounded = row
    return AskedQuestion(
        ordinal=ordinal,
        turn=TurnId(turn),
        conversation=ConversationId(conversation),
        at=at,
        route=route,
        text=text,
        knowledge_bases=tuple(map(KnowledgeBaseId, json.loads(bases))),
        cited=citations > 0,
        grounded=citations > 0 if grounded is None else bool(grounded),
    )


def _trace_row(trace: Trace) -> tuple[object, ...]:
    return (
        trace.turn,
        trace.conversation,
        trace.at,
        _json(dict(trace.seconds)),
        _json(list(trace.fallbacks)),
        _json(dict(trace.details)),
    )


def _trace(row: Row) -> Trace:
    _, turn, conversation, at, seconds, fallbacks, details, *_ = row
    return Trace(
        turn=TurnId(turn),
        conversation=ConversationId(conversation),
        at=at,
        seconds=json.loads(seconds),
        fallbacks=tuple(json.loads(fallbacks)),
        details=json.loads(details),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
