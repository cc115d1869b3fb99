from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rag_engine.graph.types import (
    Alias,
    EntityId,
    EntityMention,
    EntityStatement,
    GraphCounts,
    GraphJob,
    NamedMention,
    PassageNumber,
    PassagePlace,
    entity_id,
)
from rag_engine.storage.pending_work import knowledge_base_expected

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from rag_engine.graph.types import GraphSource, ReadPassage
    from rag_engine.storage.sqlite.database import Database, Row
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBaseId

_QUEUE = """
    INSERT OR REPLACE INTO graph_jobs (document)
    SELECT id FROM documents JOIN graph_switches USING (knowledge_base)
    WHERE ? IN ('', knowledge_base) AND state = 'ready' ORDER BY title, id
"""
_REMOVE = (
    "DELETE FROM graph_switches WHERE knowledge_base = ?",
    "DELETE FROM graph_passages WHERE knowledge_base = ?",
    "DELETE FROM graph_jobs WHERE document IN (SELECT id FROM documents WHERE knowledge_base = ?)",
)
_SWITCH = """
    INSERT INTO graph_switches (knowledge_base, by_model) VALUES (?, ?)
    ON CONFLICT (knowledge_base) DO UPDATE SET by_model = excluded.by_model
"""
_JOBS = """
    SELECT graph_jobs.number, documents.* FROM graph_jobs JOIN documents ON documents.id = graph_jobs.document
    WHERE ? IN ('', knowledge_base) AND state = 'ready' ORDER BY number
"""
_PLACE = """
    INSERT INTO graph_passages (document, knowledge_base, chunk, ordinal, key, failure) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (document, key) DO UPDATE SET chunk = excluded.chunk, ordinal = excluded.ordinal, failure = excluded.failure
    RETURNING id
"""
_MOVE = "UPDATE graph_passages SET chunk = ?, ordinal = ? WHERE document = ? AND key = ?"
_PRUNE = """
    DELETE FROM graph_passages WHERE document = ? AND key NOT IN (SELECT value FROM json_each(?))
    AND EXISTS (SELECT 1 FROM graph_jobs WHERE number = ?)
"""
_FREQUENCIES = """
    SELECT value, (SELECT count(*) FROM (SELECT 1 FROM graph_mentions WHERE entity = value LIMIT ?)) AS found
    FROM json_each(?) WHERE found > 0
"""
_MENTIONS = """
    SELECT entity, passage, subject FROM graph_mentions WHERE entity IN (SELECT value FROM json_each(?))
"""
_ENTITIES = """
    SELECT entity, passage, subject FROM graph_mentions WHERE passage IN (SELECT value FROM json_each(?))
"""
_ALIASES = """
    SELECT subject, object, iif(everywhere, NULL, document) FROM graph_relations JOIN graph_passages ON id = passage
    WHERE text = '' AND subject IN (SELECT value FROM json_each(?1))
    UNION SELECT object, subject, iif(everywhere, NULL, document) FROM graph_relations JOIN graph_passages ON id = passage
    WHERE text = '' AND object IN (SELECT value FROM json_each(?1))
"""
_STATEMENTS = """
    SELECT object, text FROM graph_relations
    WHERE text <> '' AND subject IN (SELECT value FROM json_each(?1)) AND passage IN (SELECT value FROM json_each(?2))
    UNION SELECT subject, text FROM graph_relations
    WHERE text <> '' AND object IN (SELECT value FROM json_each(?1)) AND passage IN (SELECT value FROM json_each(?2))
    ORDER BY text
"""
_CONTAINING = """
    SELECT min(name), count(*) AS found FROM graph_passages JOIN graph_mentions ON passage = id
    WHERE knowledge_base IN (SELECT value FROM json_each(?)) AND instr(lower(name), ?)
    GROUP BY lower(name) ORDER BY found DESC, min(name) LIMIT ?
"""
_COUNTS = """
    SELECT count(*), sum(failure <> ''),
        (SELECT count(DISTINCT entity) FROM graph_mentions JOIN graph_passages ON id = passage WHERE knowledge_base = ?1),
        (SELECT count(*) FROM graph_jobs JOIN documents ON documents.id = document WHERE knowledge_base = ?1)
    FROM graph_passages WHERE knowledge_base = ?1
"""


class SqliteGraph:
    """`GraphStore`; everything goes with its document."""

    def __init__(self, database: Database, *, record: Callable[[Row], DocumentRecord]) -> None:
        self._database = database
        self._record = record

    async def source(self, knowledge_base: KnowledgeBaseId) -> GraphSource | None:
        rows = await self._database.fetch(
            "SELECT by_model FROM graph_switches WHERE knowledge_base = ?", (knowledge_base,)
        )
        return ("model" if rows[0][0] else "rules") if rows else None

    async def switch(self, knowledge_base: KnowledgeBaseId, source: GraphSource | None) -> None:
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                if source is None:
                    for statement in _REMOVE:
                        await transaction.execute(statement, (knowledge_base,))
                else:
                    await transaction.execute(_SWITCH, (knowledge_base, source == "model"))
                    await transaction.execute(_QUEUE, (knowledge_base,))

    async def queue(self, knowledge_base: KnowledgeBaseId | None = None) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(_QUEUE, (knowledge_base or "",))

    async def jobs(self, knowledge_base: KnowledgeBaseId | None = None) -> list[GraphJob]:
        rows = await self._database.fetch(_JOBS, (knowledge_base or "",))
        return [GraphJob(number=row[0], record=self._record(row[1:])) for row in rows]

    async def read(self, document: DocumentId) -> frozenset[str]:
        rows = await self._database.fetch(
            "SELECT key FROM graph_passages WHERE document = ? AND failure = ''", (document,)
        )
        return frozenset(key for (key,) in rows)

    async def keep(self, passages: Sequence[ReadPassage]) -> None:
        moved = [
            (each.place.chunk, each.place.ordinal, each.place.document, each.key)
            for each in passages
            if each.extraction is None
        ]
        mentions: list[tuple[object, ...]] = []
        relations: list[tuple[object, ...]] = []
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                await transaction.execute_many(_MOVE, moved)
                for each in passages:
                    place, found = each.place, each.extraction
                    if found is None:
                        continue
                    base = place.knowledge_base
                    values = (place.document, base, place.chunk, place.ordinal, each.key, found.failure)
                    [(number,)] = await transaction.execute(_PLACE, values)
                    mentions += [
                        (entity_id(base, one.key), number, one.name, one.kind, one.is_subject)
                        for one in found.mentions
                    ]
                    relations += [
                        (
                            entity_id(base, one.subject),
                            entity_id(base, one.object),
                            number,
                            one.text,
                            one.everywhere,
                        )
                        for one in found.relations
                    ]
                await transaction.execute_many(
                    "INSERT OR REPLACE INTO graph_mentions VALUES (?, ?, ?, ?, ?)", mentions
                )
                await transaction.execute_many(
                    "INSERT OR REPLACE INTO graph_relations VALUES (?, ?, ?, ?, ?)", relations
                )

    async def finish(self, job: GraphJob, keys: Collection[str]) -> None:
        async with self._database.transaction() as transaction:
            document = job.record.document.id
            await transaction.execute(_PRUNE, (document, json.dumps(sorted(keys)), job.number))
            await transaction.execute("DELETE FROM graph_jobs WHERE number = ?", (job.number,))

    async def counts(self, knowledge_base: KnowledgeBaseId) -> GraphCounts:
        [(passages, failed, entities, waiting)] = await self._database.fetch(_COUNTS, (knowledge_base,))
        return GraphCounts(passages=passages, failed=failed or 0, entities=entities, waiting=waiting)

    async def size(self, knowledge_bases: Collection[KnowledgeBaseId]) -> int:
        [(count,)] = await self._database.fetch(
            "SELECT count(*) FROM graph_passages WHERE knowledge_base IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(knowledge_bases)),),
        )
        return count

    async def frequencies(self, entities: Collection[EntityId], *, most: int) -> dict[EntityId, int]:
        rows = await self._database.fetch(_FREQUENCIES, (most, _list(entities)))
        return {EntityId(entity): found for entity, found in rows}

    async def mentions(self, entities: Collection[EntityId]) -> list[EntityMention]:
        return _mentions(await self._database.fetch(_MENTIONS, (_list(entities),)))

    async def entities_of(self, passages: Collection[PassageNumber]) -> list[EntityMention]:
        return _mentions(await self._database.fetch(_ENTITIES, (_list(passages),)))

    async def aliases(self, entities: Collection[EntityId]) -> list[Alias]:
        rows = await self._database.fetch(_ALIASES, (_list(entities),))
        return [
            Alias(entity=EntityId(entity), other=EntityId(other), document=document)
            for entity, other, document in rows
        ]

    async def places(self, passages: Iterable[PassageNumber]) -> dict[PassageNumber, PassagePlace]:
        rows = await self._database.fetch(
            "SELECT id, document, knowledge_base, chunk, ordinal FROM graph_passages WHERE id IN (SELECT value FROM json_each(?))",
            (_list(passages),),
        )
        return {
            PassageNumber(number): PassagePlace(
                document=document, knowledge_base=base, chunk=chunk, ordinal=ordinal
            )
            for number, document, base, chunk, ordinal in rows
        }

    async def named(
        self, *, entities: Collection[EntityId] = (), passages: Collection[PassageNumber] = ()
    ) -> list[NamedMention]:
        rows = await self._database.fetch(
            "SELECT name, kind, entity, passage FROM graph_mentions WHERE entity IN (SELECT value FROM json_each(?))"
            " OR passage IN (SELECT value FROM json_each(?)) ORDER BY passage, name",
            (_list(entities), _list(passages)),
        )
        return [
            NamedMention(name=name, kind=kind, entity=EntityId(entity), passage=PassageNumber(passage))
            for name, kind, entity, passage in rows
        ]

    async def containing(
        self, knowledge_bases: Collection[KnowledgeBaseId], words: str, *, limit: int
    ) -> list[str]:
        rows = await self._database.fetch(
            _CONTAINING, (json.dumps(sorted(knowledge_bases)), words.casefold(), limit)
        )
        return [name for name, _ in rows]

    async def statements(
        self, entities: Collection[EntityId], *, passages: Collection[PassageNumber]
    ) -> list[EntityStatement]:
        rows = await self._database.fetch(_STATEMENTS, (_list(entities), _list(passages)))
        return [EntityStatement(other=EntityId(other), text=text) for other, text in rows]


def _mentions(rows: Sequence[Row]) -> list[EntityMention]:
    return [
        EntityMention(entity=EntityId(entity), passage=PassageNumber(passage), is_subject=bool(is_subject))
        for entity, passage, is_subject in rows
    ]


def _list(values: Iterable[int]) -> str:
    return json.dumps(sorted(values))
