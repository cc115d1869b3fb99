"""Which document a file is, and whether to ingest it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urlsplit

from rag_engine.text.legibility import printable
from rag_engine.types import (
    Blob,
    Document,
    DocumentId,
    DocumentRecord,
    Ingested,
    KnowledgeBaseId,
    Section,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ingestion.removal import Removal
    from rag_engine.ports import DocumentCatalog


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionTarget:
    """`before` is searchable until `record` is ready."""

    record: DocumentRecord
    before: DocumentRecord | None = None
    moved: DocumentRecord | None = None
    text: Sequence[Section] = ()


Settled: TypeAlias = tuple[Ingested, DocumentRecord | None]
"""Nothing to do, and any document that moved."""


class IngestionTargets:
    def __init__(self, *, catalog: DocumentCatalog, removal: Removal) -> None:
        self._catalog = catalog
        self._removal = removal

    async def settle(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> IngestionTarget | Settled:
        same = await self._catalog.find(knowledge_base, digest=blob.digest)
        at_uri = await self._catalog.find(knowledge_base, uri=blob.uri)
        if same is not None and at_uri is not None and same.document.id == at_uri.document.id:
            return await self._unchanged(same), None
        others: list[str] = []
        moved = None
        if at_uri is not None:
            others = [uri for uri in await self._catalog.sources(at_uri.document.id) if uri != blob.uri]
            if others and at_uri.document.uri == blob.uri:
                moved = await self.move(at_uri, others[0])
        own = at_uri if not others else None
        if same is not None:
            if own is not None:
                await self._removal.discard(knowledge_base, own.document.id)
            await self._catalog.save(same, source=blob.uri)
            return Ingested(record=same, changed=False), moved
        return replace(await self._begin(blob, knowledge_base, own), moved=moved)

    async def expect(self, name: str, *, uri: str, media_type: str, knowledge_base: KnowledgeBaseId) -> None:
        known = await self._catalog.find(knowledge_base, uri=uri)
        if known is not None and (known.chunks or known.state not in {"failed", "queued"}):
            return
        blob = Blob(name=name, media_type=media_type, path=Path(), digest="", size=0, uri=uri)
        identity = known.document.id if known is not None else await self._free_id(blob, knowledge_base)
        document = known.document if known is not None else _document(blob, knowledge_base, identity)
        await self._catalog.save(DocumentRecord(document=document, state="queued"))

    async def _unchanged(self, record: DocumentRecord) -> Ingested:
        if record.reason:
            record = replace(record, reason="")
            await self._catalog.save(record)
        return Ingested(record=record, changed=False)

    async def move(self, record: DocumentRecord, uri: str, *, title: str = "") -> DocumentRecord:
        """To another of its URIs: the file at its own changed. `ready` once its chunks have the new URI."""
        title = printable(title or _file_name(uri)) or record.document.title
        document = replace(record.document, uri=uri, title=title)
        await self._catalog.save(
            replace(record, document=replace(document, digest=""), state="embedding"), source=uri
        )
        return replace(record, document=document)

    async def _begin(
        self, blob: Blob, knowledge_base: KnowledgeBaseId, own: DocumentRecord | None
    ) -> IngestionTarget:
        identity = own.document.id if own is not None else await self._free_id(blob, knowledge_base)
        document = _document(blob, knowledge_base, identity)
        text = await self._catalog.unfinished.reading(document)
        record = DocumentRecord(document=document, state="embedding" if text else "parsing")
        if own is not None and own.chunks:
            return IngestionTarget(record=record, before=own, text=text)
        await self._catalog.save(record)
        return IngestionTarget(record=record, text=text)

    async def _free_id(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> DocumentId:
        identity = _hashed(knowledge_base, blob.uri)
        if await self._catalog.sources(identity):
            identity = _hashed(knowledge_base, blob.uri, blob.digest)
        return identity


def _hashed(*parts: str) -> DocumentId:
    named = "\x1f".join(parts)
    return DocumentId(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def _document(blob: Blob, knowledge_base: KnowledgeBaseId, identity: DocumentId) -> Document:
    return Document(
        id=identity,
        knowledge_base=knowledge_base,
        title=printable(blob.title or blob.name),
        uri=blob.uri,
        media_type=blob.media_type,
        digest=blob.digest,
        size=blob.size,
    )


def _file_name(uri: str) -> str:
    parts = urlsplit(uri)
    return PurePosixPath(unquote(parts.path)).name if parts.scheme == "file" else ""
