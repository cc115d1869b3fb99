from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bot.port import Place
from rag_engine.types import KnowledgeBaseId, TurnId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.storage.sqlite.database import Database, Row, Transaction
    from rag_engine.types import Vector

OPERATOR: Final = "console"
NOT_FOUND: Final = "not_found"
UNGROUNDED: Final = "ungrounded"

_QUESTIONS: Final = """
    SELECT question, turn, gap, platform, workspace, channel, thread, person, private, why, knowledge_bases, at, model, vector,
        (platform, workspace, channel) IN (SELECT platform, workspace, channel FROM group_messages)
    FROM gap_questions WHERE (channel = '' OR question IN (SELECT id FROM answers WHERE state <> 'withdrawn'))
"""
_PUT: Final = "INSERT OR REPLACE INTO gap_questions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_GAPS: Final = "SELECT id, platform, workspace, name, named_from, done_at FROM gaps"
_ANSWERS: Final = """
    SELECT id, platform, workspace, channel, thread, person, private, state, turn FROM answers
    WHERE id IN (SELECT value FROM json_each(?))
"""
_RATED_DOWN: Final = """
    SELECT answers.id, platform, workspace, channel, thread, answers.person, private, state, answers.turn, min(reason)
    FROM feedback JOIN answers ON answers.id = feedback.answer
    WHERE rating = 'down' AND reason <> '' AND answers.turn <> '' AND state <> 'withdrawn'
        AND answers.id NOT IN (SELECT question FROM gap_questions) GROUP BY answers.id
"""
_STALE: Final = f"""
    DELETE FROM gap_questions WHERE (channel <> '' AND question NOT IN (SELECT id FROM answers WHERE state <> 'withdrawn'))
        OR (why NOT IN ('{NOT_FOUND}', '{UNGROUNDED}')
            AND question NOT IN (SELECT answer FROM feedback WHERE rating = 'down' AND reason <> ''))
"""  # noqa: S608
_RENAME: Final = """
    UPDATE gaps SET name = ?, named_from = ? WHERE id = ?
        AND NOT EXISTS (SELECT 1 FROM json_each(?) WHERE value NOT IN (SELECT turn FROM gap_questions))
"""
_EMPTY: Final = "DELETE FROM gaps WHERE id NOT IN (SELECT gap FROM gap_questions)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapQuestion:
    """The trace of `turn` has its words."""

    id: str
    turn: TurnId
    gap: str
    place: Place
    person: str
    private: bool
    why: str
    knowledge_bases: tuple[KnowledgeBaseId, ...]
    at: float
    model: str
    vector: Vector
    group: bool = False
    """Asked in a group message."""

    @property
    def bucket(self) -> tuple[str, str]:
        return self.place.platform, self.place.workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    id: str
    platform: str
    workspace: str
    name: str = ""
    named_from: tuple[TurnId, ...] = ()
    done_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTurn:
    id: str
    place: Place
    person: str
    private: bool
    state: str
    turn: str
    reason: str = ""


class Gaps:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def progress(self) -> int:
        ((ordinal,),) = await self._database.fetch("SELECT ordinal FROM gap_progress")
        return int(ordinal)

    async def questions(self, *, gap: str = "", since: float = 0.0) -> list[GapQuestion]:
        rows = await self._database.fetch(
            f"{_QUESTIONS} AND ? IN ('', gap) AND at >= ? ORDER BY at DESC, question", (gap, since)
        )
        return [_question(row) for row in rows]

    async def all(self) -> dict[str, Gap]:
        return {gap.id: gap for gap in map(_gap, await self._database.fetch(_GAPS))}

    async def find(self, gap: str) -> Gap | None:
        rows = await self._database.fetch(f"{_GAPS} WHERE id = ?", (gap,))
        return _gap(rows[0]) if rows else None

    async def answers(self, ids: Collection[str]) -> dict[str, AskedTurn]:
        rows = await self._database.fetch(_ANSWERS, (json.dumps(sorted(ids)),))
        return {row[0]: _asked(row) for row in rows}

    async def rated_down(self) -> list[AskedTurn]:
        return [_asked(row) for row in await self._database.fetch(_RATED_DOWN)]

    async def workspaces(self, platform: str) -> list[str]:
        rows = await self._database.fetch(
            "SELECT DISTINCT workspace FROM answers WHERE platform = ? ORDER BY 1", (platform,)
        )
        return [workspace for (workspace,) in rows]

    async def advance(
        self, progress: int, to: int, *, found: Sequence[GapQuestion], answered: Collection[str] = ()
    ) -> bool:
        """False if another process did."""
        async with self._database.transaction() as transaction:
            moved = await transaction.execute(
                "UPDATE gap_progress SET ordinal = ? WHERE ordinal = ? RETURNING 1", (to, progress)
            )
            if not moved:
                return False
            await _remove(transaction, answered)
            for each in found:
                await transaction.execute(
                    "INSERT OR IGNORE INTO gaps (id, platform, workspace) VALUES (?, ?, ?)",
                    (each.gap, *each.bucket),
                )
                await transaction.execute(
                    "UPDATE gaps SET done_at = 0 WHERE id = ? AND done_at < ?", (each.gap, each.at)
                )
            await transaction.execute_many(_PUT, [_row(each) for each in found])
            await transaction.execute(_STALE)
            await transaction.execute(_EMPTY)
        return True

    async def tidy(self, gone: Collection[str] = ()) -> None:
        async with self._database.transaction() as transaction:
            await _remove(transaction, gone)
            await transaction.execute(_STALE)
            await transaction.execute(_EMPTY)

    async def replace_vectors(self, vectors: Mapping[str, Vector], model: str) -> None:
        rows = [(model, _bytes(vector), question) for question, vector in vectors.items()]
        async with self._database.transaction() as transaction:
            await transaction.execute_many(
                "UPDATE gap_questions SET model = ?, vector = ? WHERE question = ?", rows
            )

    async def rename(self, gap: str, name: str, named_from: Sequence[TurnId]) -> None:
        async with self._database.transaction() as transaction:
            turns = json.dumps(named_from)
            await transaction.execute(_RENAME, (name, turns, gap, turns))

    async def close(self, gap: str, *, at: float) -> bool:
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "UPDATE gaps SET done_at = ? WHERE id = ? RETURNING 1", (at, gap)
            )
        return bool(rows)


async def _remove(transaction: Transaction, questions: Collection[str]) -> None:
    if questions:
        await transaction.execute(
            "DELETE FROM gap_questions WHERE question IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(questions)),),
        )


def _bytes(vector: Vector) -> bytes:
    return np.asarray(vector, dtype=np.float32).tobytes()


def _row(each: GapQuestion) -> tuple[object, ...]:
    place = each.place
    return (
        each.id,
        each.turn,
        each.gap,
        place.platform,
        place.workspace,
        place.channel,
        place.thread,
        each.person,
        int(each.private),
        each.why,
        json.dumps(each.knowledge_bases),
        each.at,
        each.model,
        _bytes(each.vector),
    )


def _question(row: Row) -> GapQuestion:
    (
        identity,
        turn,
        gap,
        platform,
        workspace,
        channel,
        thread,
        person,
        private,
        why,
        bases,
        at,
        model,
        vector,
        group,
    ) = row
    return GapQuestion(
        id=identity,
        turn=TurnId(turn),
        gap=gap,
        place=Place(platform=platform, workspace=workspace, channel=channel, thread=thread),
        person=person,
        private=bool(private),
        why=why,
        knowledge_bases=tuple(map(KnowledgeBaseId, json.loads(bases))),
        at=at,
        model=model,
        vector=np.frombuffer(vector, dtype=np.float32),
        group=bool(group),
    )


def _gap(row: Row) -> Gap:
    identity, platform, workspace, name, named_from, done_at = row
    return Gap(
        id=identity,
        platform=platform,
        workspace=workspace,
        name=name,
        named_from=tuple(map(TurnId, json.loads(named_from))),
        done_at=done_at,
    )


def _asked(row: Row) -> AskedTurn:
    identity, platform, workspace, channel, thread, person, private, state, turn, *reason = row
    return AskedTurn(
        id=identity,
        place=Place(platform=platform, workspace=workspace, channel=channel, thread=thread),
        person=person,
        private=bool(private),
        state=state,
        turn=turn,
        reason=reason[0] if reason else "",
    )
