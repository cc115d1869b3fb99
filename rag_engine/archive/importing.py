"""Import: an archive is read once to check all of it, and only then again to take it in."""

from __future__ import annotations

import hashlib
from contextlib import aclosing
from typing import TYPE_CHECKING

from rag_engine.archive.reading import opened
from rag_engine.archive.threads import leaving_in_thread, stepping_in_thread
from rag_engine.archive.wire import Contents, Limits
from rag_engine.errors import UnsupportedFile
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, DocumentRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag_engine.archive.reading import ArchivedDocument
    from rag_engine.archive.wire import ChunkLine, Manifest
    from rag_engine.ports import Catalog, Documents, Index, IndexIdentity
    from rag_engine.types import KnowledgeBase


async def import_(
    file: Path,
    *,
    catalog: Catalog,
    documents: Documents,
    index: Index,
    identity: IndexIdentity,
    name: str = "",
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Contents:
    """Take the archive `file` into the knowledge base `name` (that of the archive when empty), which is made if it is new.

    Everything is checked before anything is touched. Then document by document: each is replaced as a whole or left as it
    was, and importing again ends in the same state. Into the knowledge base of the same name all ids stay as they were.
    `progress` is called with the steps done and their number; checking is half of them. Raises `UserError`s only for what is
    wrong with the archive, each a sentence that names the bad or missing part.
    """
    async with leaving_in_thread(opened(file, limits or Limits())) as archive:
        manifest = archive.manifest
        _check_identity(file, manifest, identity)
        total = 2 * manifest.documents
        chunks = 0
        async with aclosing(stepping_in_thread(archive.documents())) as checked:
            done = 0
            async for document in checked:
                done += 1
                chunks += len(document.chunks)
                if progress is not None:
                    progress(done, total)
        base = await catalog.open(name or manifest.name, model=identity.model)
        async with aclosing(stepping_in_thread(archive.documents())) as taken:
            async for document in taken:
                await _take(document, base, manifest, documents=documents, index=index)
                done += 1
                if progress is not None:
                    progress(done, total)
    return Contents(name=base.name, documents=manifest.documents, chunks=chunks)


async def _take(
    archived: ArchivedDocument, base: KnowledgeBase, manifest: Manifest, *, documents: Documents, index: Index
) -> None:
    """Replace one document. Its record is `ready` only when its chunks are in, so that a crash between them shows."""
    document = _document(archived, base, manifest)
    before = await documents.find(base.id, uri=document.uri) if document.uri else None
    ready = DocumentRecord(
        document=document,
        state=archived.line.state,
        reason=archived.line.reason,
        chunks=len(archived.chunks),
        pages=archived.line.pages,
    )
    if archived.line.state == "ready":
        unfinished = DocumentRecord(
            document=document, state="embedding", chunks=ready.chunks, pages=ready.pages
        )
        await documents.save(unfinished, sections=archived.sections)
        await index.put(
            document, [(_chunk(line, document, base, manifest), vector) for line, vector in archived.chunks]
        )
    await documents.save(ready, sections=archived.sections)
    for source in archived.line.sources:
        if source != document.uri:
            await documents.save(ready, source=source)
    if before is not None and before.document.id != document.id and before.document.uri == document.uri:
        await index.drop(base.id, before.document.id)
        await documents.remove(before.document.id)


def _check_identity(file: Path, manifest: Manifest, identity: IndexIdentity) -> None:
    ours = {"model": identity.model, "dimensions": identity.dimensions, "analyzer": identity.analyzer}
    words = {
        "model": "another embedding model",
        "dimensions": "vectors of another length",
        "analyzer": "another text analyzer",
    }
    for part in words:
        theirs = getattr(manifest.identity, part)
        if theirs != ours[part]:
            raise UnsupportedFile(
                f"{file.name} was exported with {words[part]} ({theirs}; here it is {ours[part]}): import it where the "
                "settings are the same, or add its documents anew. Nothing was imported."
            )


def _document(archived: ArchivedDocument, base: KnowledgeBase, manifest: Manifest) -> Document:
    line = archived.line
    return Document(
        id=DocumentId(_renamed(line.id, base, manifest)),
        knowledge_base=base.id,
        title=line.title,
        uri=line.uri,
        media_type=line.media_type,
        digest=line.digest,
        size=line.size,
    )


def _chunk(line: ChunkLine, document: Document, base: KnowledgeBase, manifest: Manifest) -> Chunk:
    return Chunk(
        id=ChunkId(_renamed(line.id, base, manifest)),
        document=document.id,
        knowledge_base=base.id,
        ordinal=line.ordinal,
        text=line.text,
        title=line.title,
        uri=line.uri,
        headings=line.headings,
        anchor=line.anchor,
        kind=line.kind,
        language=line.language,
    )


def _renamed(identity: str, base: KnowledgeBase, manifest: Manifest) -> str:
    """The id in the knowledge base: another one than where it comes from has ids of its own, the same at every import."""
    if base.id == manifest.knowledge_base:
        return identity
    return hashlib.sha256(f"{base.id}\x1f{identity}".encode()).hexdigest()[:32]
