from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import ConversationId, TurnId

_PUT = """
    INSERT INTO research (turn, conversation, at, state) VALUES (?, ?, ?, ?)
    ON CONFLICT (turn) DO UPDATE SET at = excluded.at, state = excluded.state
"""


class SqliteFindings:
    """What researches have found so far, until their answers are shown."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, turn: TurnId) -> str:
        """Empty if there is nothing."""
        rows = await self._database.fetch("SELECT state FROM research WHERE turn = ?", (turn,))
        return str(rows[0][0]) if rows else ""

    async def write(self, turn: TurnId, conversation: ConversationId, state: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(_PUT, (turn, conversation, time.time(), state))

    async def move(self, turn: TurnId, to: TurnId) -> None:
        """To the turn that continues it."""
        async with self._database.transaction() as transaction:
            await transaction.execute("UPDATE OR REPLACE research SET turn = ? WHERE turn = ?", (to, turn))

    async def remove(self, turn: TurnId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM research WHERE turn = ?", (turn,))
