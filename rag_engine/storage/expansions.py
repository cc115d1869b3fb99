from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rag_engine.expansion.types import TASKS, ExpansionJob, ExpansionKey, MadeExpansion
from rag_engine.storage.pending_work import knowledge_base_expected
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rag_engine.storage.sqlite.database import Database, Row
    from rag_engine.types import DocumentId, DocumentRecord, Expansion, Layer

_SWITCHES = """
    SELECT knowledge_base, summaries, questions, 0 FROM expansion_switches
    WHERE knowledge_base IN (SELECT value FROM json_each(?1))
    UNION ALL SELECT knowledge_base, 0, 0, 1 FROM graph_switches
    WHERE knowledge_base IN (SELECT value FROM json_each(?1))
"""
_SWITCH = """
    INSERT INTO expansion_switches (knowledge_base, summaries, questions) VALUES (?, ?, ?)
    ON CONFLICT (knowledge_base) DO UPDATE SET summaries = excluded.summaries, questions = excluded.questions
"""
_QUEUE = """
    INSERT OR REPLACE INTO expansion_jobs (document)
    SELECT id FROM documents JOIN expansion_switches USING (knowledge_base)
    WHERE ? IN ('', knowledge_base) AND state = 'ready' ORDER BY title, id
"""
_JOBS = """
    SELECT expansion_jobs.number, documents.* FROM expansion_jobs JOIN documents ON documents.id = expansion_jobs.document
    WHERE ? IN ('', knowledge_base) AND state = 'ready' ORDER BY number
"""
_KEEP = """
    INSERT OR REPLACE INTO expansions (document, kind, key, passage, texts, failure) VALUES (?, ?, ?, ?, ?, ?)
"""
_PRUNE = """
    DELETE FROM expansions WHERE document = ? AND kind || ' ' || key NOT IN (SELECT value FROM json_each(?))
    AND EXISTS (SELECT 1 FROM expansion_jobs WHERE number = ?)
"""
_OF_BASE = """
    SELECT kind, key, passage, texts, failure, documents.* FROM expansions JOIN documents ON documents.id = document
    WHERE knowledge_base = ? AND failure <> '' ORDER BY title, documents.id, passage, kind
"""


class SqliteExpansions:
    """`ExpansionStore`; texts go with their document."""

    def __init__(self, database: Database, *, record: Callable[[Row], DocumentRecord]) -> None:
        self._database = database
        self._record = record

    async def enabled(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> dict[Expansion, frozenset[KnowledgeBaseId]]:
        layers = await self.layers(knowledge_bases)
        return {kind: layers[kind] for kind in TASKS if kind in layers}

    async def layers(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> dict[Layer, frozenset[KnowledgeBaseId]]:
        rows = await self._database.fetch(_SWITCHES, (json.dumps(sorted(knowledge_bases)),))
        found: dict[Layer, frozenset[KnowledgeBaseId]] = {
            "summary": frozenset(KnowledgeBaseId(base) for base, summaries, _, _ in rows if summaries),
            "question": frozenset(KnowledgeBaseId(base) for base, _, questions, _ in rows if questions),
            "graph": frozenset(KnowledgeBaseId(base) for base, _, _, graph in rows if graph),
        }
        return {layer: bases for layer, bases in found.items() if bases}

    async def switch(self, knowledge_base: KnowledgeBaseId, kinds: Collection[Expansion]) -> None:
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                await transaction.execute(_SWITCH, (knowledge_base, "summary" in kinds, "question" in kinds))
                await transaction.execute(_QUEUE, (knowledge_base,))

    async def queue(self, knowledge_base: KnowledgeBaseId | None = None) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(_QUEUE, (knowledge_base or "",))

    async def jobs(self, knowledge_base: KnowledgeBaseId | None = None) -> list[ExpansionJob]:
        rows = await self._database.fetch(_JOBS, (knowledge_base or "",))
        return [ExpansionJob(number=row[0], record=self._record(row[1:])) for row in rows]

    async def made(self, document: DocumentId) -> list[MadeExpansion]:
        rows = await self._database.fetch(
            "SELECT kind, key, passage, texts, failure FROM expansions WHERE document = ? ORDER BY passage, kind",
            (document,),
        )
        return [_made(row) for row in rows]

    async def keep(self, document: DocumentId, made: Sequence[MadeExpansion]) -> None:
        rows = [
            (
                document,
                each.kind,
                each.key,
                each.passage,
                json.dumps(each.texts, ensure_ascii=False),
                each.failure,
            )
            for each in made
        ]
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                await transaction.execute_many(_KEEP, rows)

    async def finish(self, job: ExpansionJob, keys: Collection[tuple[Expansion, ExpansionKey]]) -> None:
        named = json.dumps([f"{kind} {key}" for kind, key in keys])
        async with self._database.transaction() as transaction:
            await transaction.execute(_PRUNE, (job.record.document.id, named, job.number))
            await transaction.execute("DELETE FROM expansion_jobs WHERE number = ?", (job.number,))

    async def failures(self, knowledge_base: KnowledgeBaseId) -> list[tuple[DocumentRecord, MadeExpansion]]:
        rows = await self._database.fetch(_OF_BASE, (knowledge_base,))
        return [(self._record(row[5:]), _made(row[:5])) for row in rows]

    async def counts(self, knowledge_base: KnowledgeBaseId) -> dict[Expansion, tuple[int, int]]:
        """Passages that have it, and that failed, by kind."""
        rows = await self._database.fetch(
            "SELECT kind, sum(failure = ''), sum(failure <> '') FROM expansions JOIN documents ON documents.id = document"
            " WHERE knowledge_base = ? GROUP BY kind",
            (knowledge_base,),
        )
        return {kind: (made, failed) for kind, made, failed in rows}


def _made(row: Row) -> MadeExpansion:
    kind, key, passage, texts, failure = row
    return MadeExpansion(
        kind=kind, key=ExpansionKey(key), passage=passage, texts=tuple(json.loads(texts)), failure=failure
    )
