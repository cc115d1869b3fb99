from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from rag_engine.errors import NotAllowed
from rag_engine.ports import DocumentSave
from rag_engine.storage.document_metadata import SqliteMetadata
from rag_engine.storage.document_text import pack, unpack
from rag_engine.storage.expansions import SqliteExpansions
from rag_engine.storage.graph import SqliteGraph
from rag_engine.storage.knowledge_base_names import folded, knowledge_base_id, tidy
from rag_engine.storage.pending_work import SqlitePendingWork, knowledge_base_expected
from rag_engine.storage.synonyms import SqliteSynonyms
from rag_engine.storage.verified_answers import SqliteVerifiedAnswers
from rag_engine.types import Document, DocumentId, DocumentRecord, KnowledgeBase, KnowledgeBaseId, Section

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rag_engine.storage.sqlite.database import Database, Row, Transaction

_SELECT = """
    SELECT id, name, model FROM knowledge_bases
    WHERE id IN (SELECT value FROM json_each(?)) OR folded IN (SELECT value FROM json_each(?)) ORDER BY folded
"""
_SELECT_BY_URI = """
    SELECT * FROM documents WHERE id IN (
        SELECT document FROM sources WHERE knowledge_base = ? AND uri IN (SELECT value FROM json_each(?))
    )
"""
_PUT_RECORD = """
    INSERT INTO documents (id, knowledge_base, title, uri, media_type, digest, size, state, reason, chunks, pages,
                           created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        knowledge_base = excluded.knowledge_base, title = excluded.title, uri = excluded.uri,
        media_type = excluded.media_type, digest = excluded.digest, size = excluded.size, state = excluded.state,
        reason = excluded.reason, chunks = excluded.chunks, pages = excluded.pages, updated_at = excluded.updated_at
"""
_PUT_SOURCE = """
    INSERT INTO sources (knowledge_base, uri, document) VALUES (?, ?, ?)
    ON CONFLICT (knowledge_base, uri) DO UPDATE SET document = excluded.document
"""
_KEEP_OPEN = "UPDATE knowledge_bases SET closing = 0 WHERE id = ? AND closing"
_PUT_TEXT = """
    INSERT INTO texts (document, sections) VALUES (?, ?) ON CONFLICT (document) DO UPDATE SET sections = excluded.sections
"""


class SqliteCatalog:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.unfinished = SqlitePendingWork(database)
        self.metadata = SqliteMetadata(database)
        self.synonyms = SqliteSynonyms(database)
        self.verified = SqliteVerifiedAnswers(database)
        self.expansions = SqliteExpansions(database, record=_record)
        self.graph = SqliteGraph(database, record=_record)

    async def open(self, name: str, *, model: str) -> KnowledgeBase:
        """Ignores case; created if missing. Raises `UserError` for an invalid name."""
        name = tidy(name)
        rows = await self._database.fetch(
            "SELECT id, name, model FROM knowledge_bases WHERE folded = ?",
            (folded(name),),
        )
        if rows:
            return _knowledge_base(rows[0])
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO knowledge_bases (id, name, folded, model, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (folded) DO NOTHING",
                (await _free_id(transaction, name), name, folded(name), model, time.time()),
            )
            rows = await transaction.execute(
                "SELECT id, name, model FROM knowledge_bases WHERE folded = ?",
                (folded(name),),
            )
        return _knowledge_base(rows[0])

    async def knowledge_bases(self) -> list[KnowledgeBase]:
        rows = await self._database.fetch("SELECT id, name, model FROM knowledge_bases ORDER BY folded")
        return [_knowledge_base(row) for row in rows]

    async def select(
        self, *, ids: Collection[KnowledgeBaseId] = (), names: Collection[str] = ()
    ) -> list[KnowledgeBase]:
        rows = await self._database.fetch(_SELECT, (_list(ids), _list(folded(name) for name in names)))
        return [_knowledge_base(row) for row in rows]

    async def set_model(self, knowledge_base: KnowledgeBaseId, model: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE knowledge_bases SET model = ? WHERE id = ?", (model, knowledge_base)
            )

    async def find(
        self, knowledge_base: KnowledgeBaseId, *, uri: str = "", digest: str = ""
    ) -> DocumentRecord | None:
        """By a source's URI, else the oldest ready one by digest."""
        rows: list[Row] = []
        if uri:
            rows = await self._database.fetch(
                "SELECT documents.* FROM sources JOIN documents ON documents.id = sources.document "
                "WHERE sources.knowledge_base = ? AND sources.uri = ?",
                (knowledge_base, uri),
            )
        if digest and not rows:
            rows = await self._database.fetch(
                "SELECT * FROM documents WHERE knowledge_base = ? AND digest = ? AND state = 'ready' "
                "ORDER BY created_at, id LIMIT 1",
                (knowledge_base, digest),
            )
        return _record(rows[0]) if rows else None

    async def find_by_id(self, document: DocumentId) -> DocumentRecord | None:
        rows = await self._database.fetch("SELECT * FROM documents WHERE id = ?", (document,))
        return _record(rows[0]) if rows else None

    async def find_all(
        self, knowledge_base: KnowledgeBaseId, *, uris: Collection[str]
    ) -> list[DocumentRecord]:
        rows = await self._database.fetch(_SELECT_BY_URI, (knowledge_base, _list(uris)))
        return [_record(row) for row in rows]

    async def save(
        self, record: DocumentRecord, *, source: str = "", sections: Sequence[Section] | None = None
    ) -> None:
        """The record's URI and `source` then lead to it alone. Cancels its removal. Raises `UnknownKnowledgeBase` or
        `NotAllowed`.
        """
        await self.save_all([DocumentSave(record=record, sources=(source,), sections=sections)])

    async def save_all(self, saves: Sequence[DocumentSave]) -> None:
        if not saves:
            return
        texts = await asyncio.to_thread(_packed, saves)
        documents = [save.record.document for save in saves]
        ids = [(document.id,) for document in documents]
        sources = [
            (document.knowledge_base, uri, document.id)
            for document, save in zip(documents, saves, strict=True)
            for uri in dict.fromkeys((document.uri, *save.sources))
            if uri
        ]
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                await _refuse_to_move(transaction, documents)
                await transaction.execute_many(_PUT_RECORD, [_row(save.record) for save in saves])
                await transaction.execute_many(_PUT_SOURCE, sources)
                await transaction.execute_many("DELETE FROM removals WHERE document = ?", ids)
                bases = dict.fromkeys((document.knowledge_base,) for document in documents)
                await transaction.execute_many(_KEEP_OPEN, bases)
                await transaction.execute_many(_PUT_TEXT, texts)
                finished = [(document,) for document, _ in texts]
                await transaction.execute_many("DELETE FROM readings WHERE document = ?", finished)

    async def remove(self, document: DocumentId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM documents WHERE id = ?", (document,))

    async def remove_source(self, knowledge_base: KnowledgeBaseId, uri: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM sources WHERE knowledge_base = ? AND uri = ?", (knowledge_base, uri)
            )

    async def records(self, knowledge_base: KnowledgeBaseId) -> list[DocumentRecord]:
        rows = await self._database.fetch(
            "SELECT * FROM documents WHERE knowledge_base = ? ORDER BY title, id",
            (knowledge_base,),
        )
        return [_record(row) for row in rows]

    async def digests(self) -> frozenset[str]:
        """Without those being removed; "" while one is rewritten."""
        rows = await self._database.fetch(
            "SELECT DISTINCT digest FROM documents WHERE NOT (digest = '' AND chunks = 0)"
        )
        return frozenset(digest for (digest,) in rows)

    async def sources(self, document: DocumentId) -> list[str]:
        rows = await self._database.fetch(
            "SELECT uri FROM sources WHERE document = ? ORDER BY ordinal", (document,)
        )
        return [uri for (uri,) in rows]

    async def sections(self, document: DocumentId) -> list[Section]:
        rows = await self._database.fetch("SELECT sections FROM texts WHERE document = ?", (document,))
        return await asyncio.to_thread(unpack, rows[0][0]) if rows else []


async def _free_id(transaction: Transaction, name: str) -> KnowledgeBaseId:
    attempt = 0
    while await transaction.execute(
        "SELECT 1 FROM knowledge_bases WHERE id = ?", (knowledge_base_id(name, attempt),)
    ):
        attempt += 1
    return knowledge_base_id(name, attempt)


def _packed(saves: Sequence[DocumentSave]) -> list[tuple[str, bytes]]:
    return [(save.record.document.id, pack(save.sections)) for save in saves if save.sections is not None]


async def _refuse_to_move(transaction: Transaction, documents: Sequence[Document]) -> None:
    rows = await transaction.execute(
        "SELECT id, knowledge_base FROM documents WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([document.id for document in documents]),),
    )
    bases = dict(rows)
    for document in documents:
        if bases.get(document.id, document.knowledge_base) != document.knowledge_base:
            raise NotAllowed(
                f"{document.title} belongs to another knowledge base and cannot be moved from there."
            )


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _knowledge_base(row: Row) -> KnowledgeBase:
    identity, name, model = row
    return KnowledgeBase(id=KnowledgeBaseId(identity), name=name, model=model)


def _row(record: DocumentRecord) -> Sequence[object]:
    document = record.document
    now = time.time()
    return (
        document.id,
        document.knowledge_base,
        document.title,
        document.uri,
        document.media_type,
        document.digest,
        document.size,
        record.state,
        record.reason,
        record.chunks,
        record.pages,
        now,
        now,
    )


def _record(row: Row) -> DocumentRecord:
    # Migrations only ever append columns.
    identity, knowledge_base, title, uri, media_type, digest, size, state, reason, chunks, pages, *_ = row
    document = Document(
        id=DocumentId(identity),
        knowledge_base=KnowledgeBaseId(knowledge_base),
        title=title,
        uri=uri,
        media_type=media_type,
        digest=digest,
        size=size,
    )
    return DocumentRecord(document=document, state=state, reason=reason, chunks=chunks, pages=pages)
