from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rag_engine.metadata.verified_answer import VerifiedAnswer, VerifiedSource, Verifier
from rag_engine.storage.pending_work import knowledge_base_expected
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.storage.sqlite.database import Database, Row

# A document without a digest is being rewritten: whether it changed is known later.
_SELECT = """
    SELECT id, knowledge_base, question, answer, author, platform, workspace, channel, person, uri, written_at, review_at,
        (SELECT json_group_array(json_array(v.document, v.digest, v.title,
            d.id IS NULL OR (d.digest <> '' AND d.digest <> v.digest)))
         FROM verified_sources AS v LEFT JOIN documents AS d ON d.id = v.document AND d.state <> 'failed'
         WHERE v.answer = verified_answers.id)
    FROM verified_answers WHERE {condition} ORDER BY question, id
"""
_PUT = """
    INSERT INTO verified_answers (id, knowledge_base, question, answer, author, platform, workspace, channel, person, uri,
        written_at, review_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET question = excluded.question, answer = excluded.answer, author = excluded.author,
        platform = excluded.platform, workspace = excluded.workspace, channel = excluded.channel, person = excluded.person,
        uri = excluded.uri, written_at = excluded.written_at, review_at = excluded.review_at, asked_at = 0
"""
_CONFIRM_SOURCES = """
    UPDATE verified_sources SET digest = (SELECT digest FROM documents WHERE id = document)
    WHERE answer = ? AND document IN (SELECT id FROM documents)
"""
_GONE_SOURCES = "DELETE FROM verified_sources WHERE answer = ? AND document NOT IN (SELECT id FROM documents)"


class SqliteVerifiedAnswers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, knowledge_bases: Collection[KnowledgeBaseId]) -> list[VerifiedAnswer]:
        """Ordered by question."""
        condition = "knowledge_base IN (SELECT value FROM json_each(?))"
        return await self._select(condition, json.dumps(sorted(knowledge_bases)))

    async def find(self, identity: str) -> VerifiedAnswer | None:
        found = await self._select("id = ?", identity)
        return found[0] if found else None

    async def save(self, answer: VerifiedAnswer) -> None:
        """Raises `UnknownKnowledgeBase`."""
        sources = [(answer.id, each.document, each.digest, each.title) for each in answer.sources]
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                await transaction.execute(_PUT, _row(answer))
                await transaction.execute("DELETE FROM verified_sources WHERE answer = ?", (answer.id,))
                await transaction.execute_many("INSERT INTO verified_sources VALUES (?, ?, ?, ?)", sources)

    async def confirm(self, identity: DocumentId, *, review_at: float) -> None:
        """Its sources as they are now."""
        async with self._database.transaction() as transaction:
            await transaction.execute(_GONE_SOURCES, (identity,))
            await transaction.execute(_CONFIRM_SOURCES, (identity,))
            await transaction.execute(
                "UPDATE verified_answers SET review_at = ?, asked_at = 0 WHERE id = ?", (review_at, identity)
            )

    async def remove(self, identity: DocumentId) -> bool:
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "DELETE FROM verified_answers WHERE id = ? RETURNING 1", (identity,)
            )
        return bool(rows)

    async def outdated(self, platform: str, *, now: float) -> list[VerifiedAnswer]:
        """Of this platform's people, who were not asked yet."""
        found = await self._select("platform = ? AND person <> '' AND asked_at = 0", platform)
        return [each for each in found if each.is_outdated(now)]

    async def mark_asked(self, identity: DocumentId, *, at: float) -> bool:
        """False if the author was asked already, or it is gone."""
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "UPDATE verified_answers SET asked_at = ? WHERE id = ? AND asked_at = 0 RETURNING 1",
                (at, identity),
            )
        return bool(rows)

    async def mark_unasked(self, identity: DocumentId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("UPDATE verified_answers SET asked_at = 0 WHERE id = ?", (identity,))

    async def _select(self, condition: str, *parameters: object) -> list[VerifiedAnswer]:
        rows = await self._database.fetch(_SELECT.format(condition=condition), parameters)
        return [_answer(row) for row in rows]


def _row(answer: VerifiedAnswer) -> Sequence[object]:
    author = answer.author
    return (
        answer.id,
        answer.knowledge_base,
        answer.question,
        answer.answer,
        author.name,
        author.platform,
        author.workspace,
        author.channel,
        author.person,
        answer.uri,
        answer.written_at,
        answer.review_at,
    )


def _answer(row: Row) -> VerifiedAnswer:
    identity, base, question, answer, name, platform, workspace, channel, person, uri, at, review, rest = row
    sources = json.loads(rest)
    return VerifiedAnswer(
        id=DocumentId(identity),
        knowledge_base=KnowledgeBaseId(base),
        question=question,
        answer=answer,
        author=Verifier(name=name, platform=platform, workspace=workspace, channel=channel, person=person),
        uri=uri,
        written_at=at,
        review_at=review,
        sources=tuple(
            VerifiedSource(document=DocumentId(document), digest=digest, title=title)
            for document, digest, title, _ in sources
        ),
        changed=tuple(title for _, _, title, changed in sources if changed),
    )
