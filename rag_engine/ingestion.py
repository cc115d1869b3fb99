"""One file: blob -> sections -> chunks -> vectors -> index, with its state in the catalog at every moment.

The order of writing makes a kill harmless at any point. A document that is not `ready` in the catalog is taken up from the start
when it is added again; `Index.put` replaces its chunks as one; `ready` is written last, with the text as it was read. Before the
chunks of a ready document are replaced, its record forgets the digest: until it is ready again nobody can mistake the new chunks
for the old bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit
from weakref import WeakValueDictionary

from rag_engine.blobs import blob_from_path
from rag_engine.errors import (
    EmptyDocument,
    RagError,
    Unavailable,
    UnknownDocument,
    UnknownKnowledgeBase,
    UserError,
)
from rag_engine.media_types import shown
from rag_engine.passages import at_once, embedded
from rag_engine.ports import Catalog, Documents, Library
from rag_engine.types import (
    Blob,
    Document,
    DocumentId,
    DocumentRecord,
    DocumentState,
    Ingested,
    KnowledgeBaseId,
    Section,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

    from rag_engine.passages import Batches, Slice
    from rag_engine.ports import Embedder, Index, Splitter
    from rag_engine.types import Chunk, Vector

__all__ = ["IngestProgress", "Ingestion", "Parse", "Shelves", "blob_from_path"]

_log = logging.getLogger(__name__)
_PAGE = re.compile(r"(?:p\.|page|slide) ?\d+")

Parse: TypeAlias = "Callable[[Blob], AsyncIterator[list[Section]]]"
"""Reads a file off the event loop, batch by batch. Raises `UserError`s."""


class Shelves(Catalog, Documents, Library, Protocol):
    """Everything the catalog can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """How far one file is: `sections` read and `chunks` embedded so far; how many there will be is known at the end."""

    name: str
    state: DocumentState
    sections: int = 0
    chunks: int = 0


Report: TypeAlias = "Callable[[IngestProgress], None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What an ingestion set out to do: `record` is to become ready; `before` is the version that is searchable so far."""

    record: DocumentRecord
    before: DocumentRecord | None = None
    moved: DocumentRecord | None = None
    """A document that stays behind under another URI, to be indexed again."""


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What has been read of a file so far."""

    sections: list[Section] = field(default_factory=list[Section])
    passages: Slice = field(default_factory=list["tuple[Chunk, Vector]"])


_Settled: TypeAlias = tuple[Ingested, DocumentRecord | None]
"""An outcome with nothing more to do for the file, and the document that moved on, if any."""

_REMOVED = "It is being removed; if this stays, remove it again or add the file again."
_UNFINISHED = "A new version is being written; if this stays, add the file again."


class Ingestion:
    """Takes files into knowledge bases and out again. Many may be on their way at once; the same file waits for itself."""

    def __init__(
        self, *, parse: Parse, splitter: Splitter, embedder: Embedder, index: Index, catalog: Shelves
    ) -> None:
        self._parse = parse
        self._splitter = splitter
        self._embedder = embedder
        self._index = index
        self._catalog = catalog
        self._locks: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()

    async def ingest(
        self, blob: Blob, *, knowledge_base: KnowledgeBaseId, progress: Report | None = None
    ) -> Ingested:
        """Take a file in, or find that the same bytes are in already (`changed` is False, and nothing else ran).

        A file that cannot be read is an outcome, not an error: the record that comes back is `failed` with the reason. Was an
        earlier version of it searchable, then it stays so, and the catalog keeps it `ready` with a reason that says so.
        Raises `Unavailable` when the embedder, the index or the catalog do not answer; adding the file again mends it. Raises
        `UnknownKnowledgeBase` when there is none, or when it was removed meanwhile.
        """
        async with (
            self._lock("uri", knowledge_base, blob.uri),
            self._lock("digest", knowledge_base, blob.digest),
        ):
            async with self._lock("claim", knowledge_base):
                claim = await self._claim(blob, knowledge_base)
            if isinstance(claim, _Claim):
                outcome = await self._carry_out(claim, self._parse(blob), report=progress or _ignore)
                moved = claim.moved
            else:
                outcome, moved = claim
        if moved is not None:
            # Unknown: the file at its other place was added meanwhile, and has brought it up to date.
            with suppress(UnknownDocument):
                await self.reindex(moved)
        return outcome

    async def reindex(self, record: DocumentRecord) -> Ingested:
        """Split, embed and index a document again from the text as it was read. Raises `UnknownDocument` when there is none."""
        document = record.document
        async with self._lock("uri", document.knowledge_base, document.uri):
            current = await self._catalog.find(document.knowledge_base, uri=document.uri)
            sections = await self._catalog.sections(document.id)
            if current is None or current.document.id != document.id or not sections:
                raise UnknownDocument(f"There is no text of {shown(document.title)} to index again.")
            known = current.document if current.document.digest else document
            claim = _Claim(record=replace(current, document=known), before=current)
            return await self._carry_out(claim, at_once(sections), report=_ignore)

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """Remove a document with all its sources, or the whole knowledge base. Removing what is not there is no error."""
        if document is None:
            await self._withdraw(await self._catalog.records(knowledge_base))
            await self._index.drop(knowledge_base)
            await self._catalog.close(knowledge_base)
            return
        async with AsyncExitStack() as locks:
            uris = await self._catalog.sources(document)
            for uri in sorted(uris):
                await locks.enter_async_context(self._lock("uri", knowledge_base, uri))
            record = await self._catalog.find(knowledge_base, uri=uris[0]) if uris else None
            if record is not None and record.document.id == document:
                await self._withdraw([record])
            await self._index.drop(knowledge_base, document)
            await self._catalog.remove(document)

    async def forget_source(self, knowledge_base: KnowledgeBaseId, uri: str) -> None:
        """Remove one source: its document goes with the last one, and else belongs to another.

        Removing what is not there is no error.
        """
        async with self._lock("uri", knowledge_base, uri), self._lock("claim", knowledge_base):
            record = await self._catalog.find(knowledge_base, uri=uri)
            if record is None:
                return
            others = [other for other in await self._catalog.sources(record.document.id) if other != uri]
            if not others:
                await self._discard(record)
                return
            moved = await self._move(record, others[0]) if record.document.uri == uri else None
            await self._catalog.remove_source(knowledge_base, uri)
        if moved is not None:
            with suppress(UnknownDocument):  # removed meanwhile
                await self.reindex(moved)

    async def _discard(self, record: DocumentRecord) -> None:
        await self._withdraw([record])
        await self._index.drop(record.document.knowledge_base, record.document.id)
        await self._catalog.remove(record.document.id)

    async def _withdraw(self, records: Sequence[DocumentRecord]) -> None:
        """Say of documents that they are not there any more, before they are gone: halfway they must not count as ready."""
        for record in records:
            withdrawn = replace(record.document, digest="")
            await self._catalog.save(
                replace(record, document=withdrawn, state="queued", chunks=0, reason=_REMOVED)
            )

    @asynccontextmanager
    async def _lock(self, *key: str) -> AsyncGenerator[None]:
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            yield

    async def _claim(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> _Claim | _Settled:
        """Settle which document the blob belongs to, and whether there is anything to do."""
        same = await self._catalog.find(knowledge_base, digest=blob.digest)
        at_uri = await self._catalog.find(knowledge_base, uri=blob.uri)
        if same is not None and at_uri is not None and same.document.id == at_uri.document.id:
            return await self._unchanged(same), None
        others: list[str] = []
        moved = None
        if at_uri is not None:
            others = [uri for uri in await self._catalog.sources(at_uri.document.id) if uri != blob.uri]
            if others and at_uri.document.uri == blob.uri:
                moved = await self._move(at_uri, others[0])
        own = at_uri if not others else None
        if same is not None:
            if own is not None:
                await self._discard(own)
            await self._catalog.save(same, source=blob.uri)
            return Ingested(record=same, changed=False), moved
        return replace(await self._begin(blob, knowledge_base, own), moved=moved)

    async def _unchanged(self, record: DocumentRecord) -> Ingested:
        if record.reason:
            # It told of a later version that could not be read; that version is gone.
            record = replace(record, reason="")
            await self._catalog.save(record)
        return Ingested(record=record, changed=False)

    async def _move(self, record: DocumentRecord, uri: str) -> DocumentRecord:
        """A document whose file changed in one place but not in its others: it now belongs to another, as its chunks must say.

        Until they do it is not `ready`, so that a kill in between is mended when the file at that place is added again.
        """
        document = replace(record.document, uri=uri, title=_file_name(uri) or record.document.title)
        await self._catalog.save(
            replace(record, document=replace(document, digest=""), state="embedding"), source=uri
        )
        return replace(record, document=document)

    async def _begin(self, blob: Blob, knowledge_base: KnowledgeBaseId, own: DocumentRecord | None) -> _Claim:
        """Take up a new document, or a new version of the one that is the blob's `own`."""
        identity = own.document.id if own is not None else await self._free_id(blob, knowledge_base)
        record = DocumentRecord(document=_document(blob, knowledge_base, identity), state="parsing")
        if own is not None and own.chunks:
            return _Claim(record=record, before=own)
        await self._catalog.save(record)
        return _Claim(record=record)

    async def _free_id(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> DocumentId:
        """The id of the URI; where a document that has moved on to other URIs still bears it, one of these bytes too."""
        identity = _hashed(knowledge_base, blob.uri)
        if await self._catalog.sources(identity):
            identity = _hashed(knowledge_base, blob.uri, blob.digest)
        return identity

    async def _carry_out(self, claim: _Claim, batches: Batches, *, report: Report) -> Ingested:
        name = claim.record.document.title
        report(IngestProgress(name=name, state="parsing"))
        try:
            reading = await self._read(claim, batches, report=report)
            record = await self._write(claim, reading)
        except UserError as error:
            record = await self._fail(claim, error)
        except RagError as error:
            await self._put_back(claim, error)
            raise
        report(IngestProgress(name=name, state=record.state, chunks=record.chunks))
        return Ingested(record=record, changed=record.state == "ready")

    async def _read(self, claim: _Claim, batches: Batches, *, report: Report) -> _Reading:
        """Parse, split and embed, all at the same time."""
        reading = _Reading()
        document = claim.record.document

        def on_read(batch: list[Section]) -> None:
            reading.sections.extend(batch)
            state: DocumentState = "embedding" if reading.passages else "parsing"
            report(
                IngestProgress(
                    name=document.title,
                    state=state,
                    sections=len(reading.sections),
                    chunks=len(reading.passages),
                )
            )

        async def on_long() -> None:
            # A short file is embedded before anybody could look, and every state that is recorded costs a transaction.
            if claim.before is None:
                await self._catalog.save(replace(claim.record, state="embedding"))

        passages = embedded(
            document,
            batches,
            splitter=self._splitter,
            embedder=self._embedder,
            on_read=on_read,
            on_long=on_long,
        )
        async with aclosing(passages):
            async for part in passages:
                reading.passages.extend(part)
                on_read([])
        if not reading.passages:
            raise EmptyDocument(f"{shown(document.title)} has no text in it, so there is nothing to search.")
        return reading

    async def _write(self, claim: _Claim, reading: _Reading) -> DocumentRecord:
        document, before = claim.record.document, claim.before
        if before is not None:
            unknown_bytes = replace(before.document, digest="")
            await self._catalog.save(
                replace(before, document=unknown_bytes, state="embedding", reason=_UNFINISHED)
            )
        record = replace(
            claim.record,
            state="ready",
            reason="",
            chunks=len(reading.passages),
            pages=_pages(reading.sections),
        )
        await self._index.put(document, reading.passages)
        try:
            await self._catalog.save(record, sections=reading.sections)
        except UnknownKnowledgeBase:
            await self._index.drop(document.knowledge_base, document.id)
            raise
        return record

    async def _fail(self, claim: _Claim, error: UserError) -> DocumentRecord:
        """Record why nothing came of it; returns what became of the file, which for a new version is not what is kept."""
        if claim.before is None:
            record = replace(claim.record, state="failed", reason=str(error))
            await self._catalog.save(record)
            return record
        reason = f"The new version could not be read, so the earlier one stays searchable: {error}"
        await self._catalog.save(replace(claim.before, state="ready", reason=reason))
        return replace(claim.record, state="failed", reason=reason)

    async def _put_back(self, claim: _Claim, error: RagError) -> None:
        """Leave a first version to be taken up again; an earlier version that is searchable keeps its record."""
        if claim.before is not None:
            return
        try:
            await self._catalog.save(replace(claim.record, state="queued", reason=str(error)))
        except Unavailable as second:
            _log.warning("the state of a document could not be recorded: %s", second)


def _ignore(progress: IngestProgress) -> None:
    """Nobody asked how far it is."""


def _hashed(*parts: str) -> DocumentId:
    named = "\x1f".join(parts)
    return DocumentId(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def _document(blob: Blob, knowledge_base: KnowledgeBaseId, identity: DocumentId) -> Document:
    title = "".join(character for character in blob.name if character.isprintable())
    return Document(
        id=identity,
        knowledge_base=knowledge_base,
        title=title,
        uri=blob.uri,
        media_type=blob.media_type,
        digest=blob.digest,
        size=blob.size,
    )


def _pages(sections: Sequence[Section]) -> int:
    """How many pages or slides have text; 0 for a document that has none of them."""
    return len({match[0] for section in sections if (match := _PAGE.match(section.anchor))})


def _file_name(uri: str) -> str:
    """The name of the file that a file URI leads to; empty for other URIs, whose last part need not be a name."""
    parts = urlsplit(uri)
    return PurePosixPath(unquote(parts.path)).name if parts.scheme == "file" else ""
