"""Turns and traces in SQLite, written together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rag_engine.errors import UserError
from rag_engine.types import ConversationId, Trace, Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.storage.sqlite import Database, Row

_PUT_TURN = """
    INSERT INTO turns (id, conversation, role, text, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET conversation = excluded.conversation, role = excluded.role, text = excluded.text, at = excluded.at
"""
_PUT_TRACE = """
    INSERT INTO traces (turn, conversation, at, seconds, fallbacks, details) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (turn) DO UPDATE SET conversation = excluded.conversation, at = excluded.at, seconds = excluded.seconds,
        fallbacks = excluded.fallbacks, details = excluded.details
"""
_LAST_CHARACTER = "\U0010ffff"


class SqliteHistory:
    """The ports `History` and `Traces`. Order is the order of writing, so equal or backward clocks do no harm."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, conversation: ConversationId, *, limit: int) -> list[Turn]:
        """The last `limit` turns, oldest first, in the order they were first written."""
        rows = await self._database.fetch(
            "SELECT id, conversation, role, text, at FROM turns WHERE conversation = ? ORDER BY ordinal DESC LIMIT ?",
            (conversation, max(limit, 0)),
        )
        return [_turn(row) for row in reversed(rows)]

    async def write(self, turns: Sequence[Turn], trace: Trace) -> None:
        """All turns and their trace in one transaction; a turn id written before is replaced, and keeps its place."""
        turn_rows = [(turn.id, turn.conversation, turn.role, turn.text, turn.at) for turn in turns]
        trace_row = (
            trace.turn,
            trace.conversation,
            trace.at,
            _json(dict(trace.seconds)),
            _json(list(trace.fallbacks)),
            _json(dict(trace.details)),
        )
        async with self._database.transaction() as transaction:
            await transaction.execute_many(_PUT_TURN, turn_rows)
            await transaction.execute(_PUT_TRACE, trace_row)

    async def forget(self, turns: Sequence[TurnId]) -> None:
        """Remove these turns with their traces. Removing what is not there is no error."""
        rows = [(turn,) for turn in turns]
        async with self._database.transaction() as transaction:
            await transaction.execute_many("DELETE FROM turns WHERE id = ?", rows)
            await transaction.execute_many("DELETE FROM traces WHERE turn = ?", rows)

    async def prune(self, *, before: float, limit: int) -> bool:
        """Remove some turns and traces from before that time (seconds since the epoch), the oldest first; whether there may be more."""
        more = False
        for table in ("turns", "traces"):
            # Looked for outside of the transaction: who writes does not wait for a look at every row.
            rows = await self._database.fetch(
                f"SELECT ordinal FROM {table} WHERE at < ? ORDER BY ordinal LIMIT ?",  # noqa: S608 - two names of ours
                (before, limit),
            )
            if rows:
                async with self._database.transaction() as transaction:
                    await transaction.execute_many(f"DELETE FROM {table} WHERE ordinal = ?", rows)  # noqa: S608
            more = more or len(rows) == limit
        return more

    async def trace(self, turn: TurnId | None = None) -> Trace | None:
        """The trace of a turn, by its id or the beginning of it; without one, the trace of the newest turn.

        Raises `UserError` when several turns begin so.
        """
        if turn is None:
            rows = await self._database.fetch("SELECT * FROM traces ORDER BY ordinal DESC LIMIT 1")
            return _trace(rows[0]) if rows else None
        rows = await self._database.fetch(
            "SELECT * FROM traces WHERE turn >= ? AND turn < ? ORDER BY turn LIMIT 2",
            (turn, turn + _LAST_CHARACTER),
        )
        if len(rows) > 1 and rows[0][1] != turn:
            raise UserError(f"several turns begin with {turn!r}: give more of the id.")
        return _trace(rows[0]) if rows else None


def _turn(row: Row) -> Turn:
    identity, conversation, role, text, at = row
    return Turn(id=TurnId(identity), conversation=ConversationId(conversation), role=role, text=text, at=at)


def _trace(row: Row) -> Trace:
    # Migrations only ever append columns.
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
