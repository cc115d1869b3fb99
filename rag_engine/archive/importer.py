from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from contextlib import aclosing
from typing import TYPE_CHECKING

from rag_engine.archive.reader import opened
from rag_engine.archive.schema import ArchiveContents, ArchiveLimits
from rag_engine.archive.table_lines import typed
from rag_engine.archive.threaded_steps import leaving_in_thread, stepping_in_thread
from rag_engine.errors import UnsupportedFile
from rag_engine.expansion.types import ExpansionKey, MadeExpansion
from rag_engine.metadata.properties import usable
from rag_engine.metadata.verified_answer import (
    MEDIA_TYPE,
    VerifiedAnswer,
    VerifiedSource,
    Verifier,
    verified_id,
    verified_uri,
)
from rag_engine.ports import DocumentSave
from rag_engine.retrieval.queries.synonyms import validated
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, DocumentRecord

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
    from pathlib import Path

    from rag_engine.archive.reader import Archive, ArchivedDocument
    from rag_engine.archive.schema import ArchiveManifest, ChunkLine
    from rag_engine.expansion.types import ExpansionStore
    from rag_engine.ports import Catalog, Documents, Index, IndexIdentity, Metadata, SynonymEntries
    from rag_engine.storage.verified_answers import SqliteVerifiedAnswers
    from rag_engine.tables.store import TableStore
    from rag_engine.types import DocumentState, KnowledgeBase

_AT_ONCE = 256
_MOST_CHUNKS_AT_ONCE = 500
_MOST_KEPT = 64_000_000
"""Bytes, about."""
_OVERHEAD = 1_000


async def import_(
    file: Path,
    *,
    catalog: Catalog,
    documents: Documents,
    index: Index,
    identity: IndexIdentity,
    synonyms: SynonymEntries | None = None,
    metadata: Metadata | None = None,
    expansions: ExpansionStore | None = None,
    tables: TableStore | None = None,
    verified: SqliteVerifiedAnswers | None = None,
    name: str = "",
    limits: ArchiveLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ArchiveContents:
    """Into the knowledge base `name` (default: the archive's), created if new. Repeatable. Raises a `UserError` that
    names the fault.
    """
    async with leaving_in_thread(opened(file, limits or ArchiveLimits())) as archive:
        manifest = archive.manifest
        _check_identity(file, manifest, identity)
        total, done, report, kept = 2 * manifest.documents, 0, progress or _ignore, _Kept()
        async with aclosing(stepping_in_thread(archive.documents())) as checked:
            async for document in checked:
                done += 1
                kept.add(document)
                report(done, total)
        base = await catalog.open(name or manifest.name, model=identity.model)
        async with aclosing(kept.taken_or(archive)) as stored:
            async for batch in _batches(stored):
                await _store(batch, base, manifest, documents, index, metadata, tables)
                await _keep(batch, base, manifest, expansions)
                await _verify(batch, base, manifest, verified)
                for _ in batch:
                    done += 1
                    report(done, total)
        await _switch(base, manifest, expansions)
        await _add_synonyms(base, manifest, synonyms)
    return ArchiveContents(name=base.name, documents=manifest.documents, chunks=kept.chunks)


def _ignore(done: int, of: int) -> None: ...


class _Kept:
    def __init__(self) -> None:
        self._documents: deque[ArchivedDocument] = deque()
        self._bytes = 0
        self.chunks = 0
        """Of all documents."""

    def add(self, document: ArchivedDocument) -> None:
        self.chunks += len(document.chunks)
        if self._bytes <= _MOST_KEPT:
            self._documents.append(document)
            self._bytes += _size_of(document)
        if self._bytes > _MOST_KEPT:
            self._documents.clear()

    def taken_or(self, archive: Archive) -> AsyncGenerator[ArchivedDocument]:
        return stepping_in_thread(archive.documents()) if self._bytes > _MOST_KEPT else self._taken()

    async def _taken(self) -> AsyncGenerator[ArchivedDocument]:
        while self._documents:
            yield self._documents.popleft()


def _size_of(document: ArchivedDocument) -> int:
    texts = [section.text for section in document.sections] + [line.text for line, _ in document.chunks]
    vectors = sum(vector.nbytes for _, vector in document.chunks)
    # Cells may be many.
    tables = (_MOST_KEPT + 1) * bool(document.tables)
    return _OVERHEAD * (1 + len(texts)) + 2 * sum(map(len, texts)) + vectors + tables


async def _batches(documents: AsyncIterator[ArchivedDocument]) -> AsyncIterator[list[ArchivedDocument]]:
    batch: list[ArchivedDocument] = []
    names: set[str] = set()
    chunks, most = 0, 1
    async for document in documents:
        its_names = {document.line.id, document.line.uri, *document.line.sources} - {""}
        if batch and (
            len(batch) >= most or chunks + len(document.chunks) > _MOST_CHUNKS_AT_ONCE or names & its_names
        ):
            yield batch
            batch, names, chunks, most = [], set[str](), 0, min(2 * most, _AT_ONCE)
        batch.append(document)
        names |= its_names
        chunks += len(document.chunks)
    if batch:
        yield batch


async def _store(
    batch: Sequence[ArchivedDocument],
    base: KnowledgeBase,
    manifest: ArchiveManifest,
    documents: Documents,
    index: Index,
    metadata: Metadata | None,
    tables: TableStore | None,
) -> None:
    """`ready` comes after chunks and tables: a crash in between shows."""
    new = [(archived, _document(archived, base, manifest)) for archived in batch]
    replaced = await _replaced([document for _, document in new], base, documents)
    indexed = [(archived, document) for archived, document in new if archived.line.state == "ready"]
    await documents.save_all(
        [
            DocumentSave(record=_record(archived, document, "embedding"), sections=archived.sections)
            for archived, document in indexed
        ]
    )
    failed = await _put(indexed, base, manifest, index)
    await _replace_tables(new, replaced, tables)
    await documents.save_all(
        [
            DocumentSave(
                record=_record(archived, document, archived.line.state),
                sources=archived.line.sources if archived.line.verified is None else (document.uri,),
                sections=None if archived.line.state == "ready" else archived.sections,
            )
            for archived, document in new
            if document.id not in failed
        ]
    )
    for error in failed.values():
        raise error
    if metadata is not None:
        for archived, document in new:
            await _describe(archived, document.id, metadata)
    for before in replaced:
        await index.drop(base.id, before)
        await documents.remove(before)


async def _replace_tables(
    new: Sequence[tuple[ArchivedDocument, Document]],
    replaced: Sequence[DocumentId],
    tables: TableStore | None,
) -> None:
    if tables is None:
        return
    for archived, document in new:
        made = [(typed(one.line, document), one.line.layout, one.rows) for one in archived.tables]
        if made or not await tables.holds(document):
            await tables.replace(document, made)
    for before in replaced:
        await tables.drop(new[0][1].knowledge_base, before)


async def _keep(
    batch: Sequence[ArchivedDocument],
    base: KnowledgeBase,
    manifest: ArchiveManifest,
    expansions: ExpansionStore | None,
) -> None:
    if expansions is None or not manifest.expanded:
        return
    for archived in batch:
        made = [
            MadeExpansion(kind=line.kind, key=ExpansionKey(line.key), passage=line.passage, texts=line.texts)
            for line in archived.line.expansions
        ]
        await expansions.keep(_document(archived, base, manifest).id, made)


async def _verify(
    batch: Sequence[ArchivedDocument],
    base: KnowledgeBase,
    manifest: ArchiveManifest,
    verified: SqliteVerifiedAnswers | None,
) -> None:
    for archived in batch:
        line = archived.line.verified
        if line is None or verified is None:
            continue
        sources = tuple(
            VerifiedSource(
                document=DocumentId(_local_id(document, base, manifest)), digest=digest, title=title
            )
            for document, digest, title in line.sources
        )
        answer = VerifiedAnswer(
            id=_document(archived, base, manifest).id,
            knowledge_base=base.id,
            question=line.question,
            answer=line.answer,
            author=Verifier(name=line.author),
            written_at=line.written_at,
            review_at=line.review_at,
            uri=line.uri,
            sources=sources,
        )
        await verified.save(answer)


async def _add_synonyms(
    base: KnowledgeBase, manifest: ArchiveManifest, synonyms: SynonymEntries | None
) -> None:
    if synonyms is not None and manifest.synonyms:
        await synonyms.add(base.id, [validated(terms) for terms in manifest.synonyms])


async def _switch(base: KnowledgeBase, manifest: ArchiveManifest, expansions: ExpansionStore | None) -> None:
    if expansions is not None and manifest.expanded:
        await expansions.switch(base.id, {*manifest.expanded, *await expansions.enabled([base.id])})


async def _describe(archived: ArchivedDocument, document: DocumentId, metadata: Metadata) -> None:
    if properties := usable(archived.line.properties):
        await metadata.describe(document, properties)
    if archived.line.tags:
        await metadata.tag(document, add=archived.line.tags)


async def _replaced(new: Sequence[Document], base: KnowledgeBase, documents: Documents) -> list[DocumentId]:
    uris = {document.uri for document in new if document.uri}
    ids = {document.id for document in new}
    found = [record.document for record in await documents.find_all(base.id, uris=uris)]
    return [before.id for before in found if before.uri in uris and before.id not in ids]


async def _put(
    new: Sequence[tuple[ArchivedDocument, Document]],
    base: KnowledgeBase,
    manifest: ArchiveManifest,
    index: Index,
) -> dict[DocumentId, BaseException]:
    outcomes = await asyncio.gather(
        *(
            index.put(
                document,
                [(_chunk(line, document, base, manifest), vector) for line, vector in archived.chunks],
            )
            for archived, document in new
        ),
        return_exceptions=True,
    )
    return {
        document.id: outcome
        for (_, document), outcome in zip(new, outcomes, strict=True)
        if isinstance(outcome, BaseException)
    }


def _record(archived: ArchivedDocument, document: Document, state: DocumentState) -> DocumentRecord:
    return DocumentRecord(
        document=document,
        state=state,
        reason="" if state == "embedding" else archived.line.reason,
        chunks=len(archived.chunks),
        pages=archived.line.pages,
    )


def _check_identity(file: Path, manifest: ArchiveManifest, identity: IndexIdentity) -> None:
    ours = {"model": identity.model, "dimensions": identity.dimensions, "analyzer": identity.analyzer}
    differences = {
        "model": "another embedding model",
        "dimensions": "vectors of another length",
        "analyzer": "another text analyzer",
    }
    for part in differences:
        archived_value = getattr(manifest.identity, part)
        if archived_value != ours[part]:
            raise UnsupportedFile(
                f"{file.name} was exported with {differences[part]} ({archived_value}; here it is {ours[part]}): import it where the "
                "settings are the same, or add its documents again. Nothing was imported."
            )


def _document(archived: ArchivedDocument, base: KnowledgeBase, manifest: ArchiveManifest) -> Document:
    line = archived.line
    identity = DocumentId(_local_id(line.id, base, manifest))
    if line.verified is not None:
        identity = verified_id(base.id, line.verified.question)
    return Document(
        id=identity,
        knowledge_base=base.id,
        title=line.title,
        uri=verified_uri(identity) if line.verified is not None else line.uri,
        media_type=line.media_type,
        digest=line.digest,
        size=line.size,
    )


def _chunk(line: ChunkLine, document: Document, base: KnowledgeBase, manifest: ArchiveManifest) -> Chunk:
    return Chunk(
        id=ChunkId(_local_id(line.id, base, manifest)),
        document=document.id,
        knowledge_base=base.id,
        ordinal=line.ordinal,
        text=line.text,
        title=line.title,
        uri=document.uri if document.media_type == MEDIA_TYPE else line.uri,
        headings=line.headings,
        anchor=line.anchor,
        kind=line.kind,
        language=line.language,
    )


def _local_id(identity: str, base: KnowledgeBase, manifest: ArchiveManifest) -> str:
    if base.id == manifest.knowledge_base:
        return identity
    return hashlib.sha256(f"{base.id}\x1f{identity}".encode()).hexdigest()[:32]
