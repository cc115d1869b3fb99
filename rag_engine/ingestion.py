"""One file: blob -> sections -> chunks -> vectors -> index, with its state in the catalog at every moment.

The order of writing makes a kill harmless at any point. A document that is not `ready` in the catalog is taken up again when it
is added again: from its text, if that was long and had been read to the end, else from the start; `Index.put` replaces its chunks
as one; `ready` is written last, with the text as it was read. Before the chunks of a ready document are replaced, its record
forgets the digest: until it is ready again nobody can mistake the new chunks for the old bytes.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.blobs import blob_from_path
from rag_engine.claims import Claim, Claims
from rag_engine.errors import (
    EmptyDocument,
    RagError,
    UnknownDocument,
    UnknownKnowledgeBase,
    UserError,
)
from rag_engine.locks import Locks
from rag_engine.media_types import shown
from rag_engine.passages import at_once, embedded
from rag_engine.ports import Shelves
from rag_engine.reading_ahead import reading_ahead
from rag_engine.removal import Removal
from rag_engine.storage.waiting import uninterrupted
from rag_engine.types import (
    Blob,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """How far one file is: `sections` read and `chunks` embedded so far; how many there will be is known at the end."""

    name: str
    state: DocumentState
    sections: int = 0
    chunks: int = 0


Report: TypeAlias = "Callable[[IngestProgress], None]"


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What has been read of a file so far."""

    sections: list[Section] = field(default_factory=list[Section])
    notices: list[str] = field(default_factory=list[str])
    """What of it could not be read, for a person; it is neither kept as text nor searchable."""
    passages: Slice = field(default_factory=list["tuple[Chunk, Vector]"])


_LONGEST_NOTICE = 600
_LONG_CHARACTERS = 50_000
_LONG_SECONDS = 1.0
"""Below both, reading a file again takes less than it took to keep its text."""
_STOPPED = "It was stopped before it was read to the end; add it again."
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
        self._locks = Locks()
        self._removal = Removal(index=index, catalog=catalog, locks=self._locks)
        self._claims = Claims(catalog=catalog, removal=self._removal)

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
            self._locks.held("uri", knowledge_base, blob.uri),
            self._locks.held("digest", knowledge_base, blob.digest),
        ):
            async with self._locks.held("claim", knowledge_base):
                claim = await self._claims.settle(blob, knowledge_base)
            if isinstance(claim, Claim):
                text = at_once(list(claim.text)) if claim.text else self._parse(blob)
                outcome = await self._carry_out(claim, text, report=progress or _ignore)
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
        async with self._locks.held("uri", document.knowledge_base, document.uri):
            current = await self._catalog.find(document.knowledge_base, uri=document.uri)
            sections = await self._catalog.sections(document.id)
            if current is None or current.document.id != document.id or not sections:
                raise UnknownDocument(f"There is no text of {shown(document.title)} to index again.")
            known = current.document if current.document.digest else document
            claim = Claim(record=replace(current, document=known), before=current)
            reason = "" if current.reason == _UNFINISHED else current.reason
            said = Section(text=reason, anchor="", kind="notice")
            return await self._carry_out(claim, at_once([*sections, said]), report=_ignore)

    async def expect(self, name: str, *, uri: str, media_type: str, knowledge_base: KnowledgeBaseId) -> None:
        """Say of a file that waits that it will come, if nothing is known of its URI or nothing came of it before."""
        async with self._locks.held("uri", knowledge_base, uri), self._locks.held("claim", knowledge_base):
            await self._claims.expect(name, uri=uri, media_type=media_type, knowledge_base=knowledge_base)

    async def give_up(self, knowledge_base: KnowledgeBaseId, uri: str, *, reason: str) -> None:
        """Say of a file that was to come, or that waits to be taken up again, why it is not: nobody goes on with it."""
        async with self._locks.held("uri", knowledge_base, uri), self._locks.held("claim", knowledge_base):
            record = await self._catalog.find(knowledge_base, uri=uri)
            if record is not None and record.state == "queued" and not record.chunks:
                await self._catalog.save(replace(record, state="failed", reason=reason))

    async def refuse(self, blob: Blob, *, knowledge_base: KnowledgeBaseId, reason: UserError) -> Ingested:
        """What `ingest` would do with a file that cannot be read for that reason, without looking at it."""
        async with self._locks.held("uri", knowledge_base, blob.uri):
            async with self._locks.held("claim", knowledge_base):
                claim = await self._claims.settle(blob, knowledge_base)
            if isinstance(claim, Claim):
                return Ingested(record=await self._fail(claim, reason), changed=False)
            return claim[0]

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Remove a document with all its sources, or the whole knowledge base. Removing what is not there is no error.

        False when the index does not answer: then no question finds it any more, and `finish_removals` does the rest.
        """
        return await self._removal.forget(knowledge_base, document)

    async def finish_removals(self) -> bool:
        """Remove what could not be removed when it was to go; False when some of it still cannot be."""
        return await self._removal.finish()

    async def forget_source(self, knowledge_base: KnowledgeBaseId, uri: str) -> None:
        """Remove one source: its document goes with the last one, as `forget` does it, and else belongs to another.

        Removing what is not there is no error.
        """
        async with self._locks.held("uri", knowledge_base, uri), self._locks.held("claim", knowledge_base):
            record = await self._catalog.find(knowledge_base, uri=uri)
            if record is None:
                return
            others = [other for other in await self._catalog.sources(record.document.id) if other != uri]
            if not others:
                await self._removal.discard(knowledge_base, record.document.id)
                return
            moved = await self._claims.move(record, others[0]) if record.document.uri == uri else None
            await self._catalog.remove_source(knowledge_base, uri)
        if moved is not None:
            with suppress(UnknownDocument):  # removed meanwhile
                await self.reindex(moved)

    async def _carry_out(self, claim: Claim, batches: Batches, *, report: Report) -> Ingested:
        name = claim.record.document.title
        report(IngestProgress(name=name, state="parsing"))
        try:
            reading = await self._read(claim, batches, report=report)
            record = await self._write(claim, reading)
        except UserError as error:
            record = await self._fail(claim, error)
        except RagError as error:
            await self._put_back(claim, str(error))
            raise
        except asyncio.CancelledError:
            await uninterrupted(self._put_back(claim, _STOPPED))
            raise
        report(IngestProgress(name=name, state=record.state, chunks=record.chunks))
        return Ingested(record=record, changed=record.state == "ready")

    async def _read(self, claim: Claim, batches: Batches, *, report: Report) -> _Reading:
        """Parse, split and embed, all at the same time. The text of a long file is kept as soon as it is all there."""
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

        began = asyncio.get_running_loop().time()

        async def on_end(sections: Sequence[Section]) -> None:
            seconds = asyncio.get_running_loop().time() - began
            long = sum(len(section.text) for section in sections) >= _LONG_CHARACTERS
            if not claim.text and sections and (long or seconds >= _LONG_SECONDS):
                await self._catalog.unfinished.keep_reading(document, sections)

        async with reading_ahead(batches, on_end=on_end) as ahead:
            text = _without_notices(ahead, reading.notices)
            passages = embedded(
                document, text, splitter=self._splitter, embedder=self._embedder, on_read=on_read
            )
            async with aclosing(passages):
                async for part in passages:
                    reading.passages.extend(part)
                    on_read([])
        if not reading.passages:
            raise EmptyDocument(f"{shown(document.title)} has no text in it, so there is nothing to search.")
        return reading

    async def _write(self, claim: Claim, reading: _Reading) -> DocumentRecord:
        document, before = claim.record.document, claim.before
        if before is not None:
            unknown_bytes = replace(before.document, digest="")
            await self._catalog.save(
                replace(before, document=unknown_bytes, state="embedding", reason=_UNFINISHED)
            )
        record = replace(
            claim.record,
            state="ready",
            reason=_reason(reading.notices),
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

    async def _fail(self, claim: Claim, error: UserError) -> DocumentRecord:
        """Record why nothing came of it; returns what became of the file, which for a new version is not what is kept."""
        if claim.before is None:
            record = replace(claim.record, state="failed", reason=str(error))
            await self._catalog.save(record)
            return record
        reason = f"The new version could not be read, so the earlier one stays searchable: {error}"
        await self._catalog.save(replace(claim.before, state="ready", reason=reason))
        return replace(claim.record, state="failed", reason=reason)

    async def _put_back(self, claim: Claim, reason: str) -> None:
        """Leave a first version to be taken up again; an earlier version that is searchable keeps its record."""
        if claim.before is not None:
            return
        try:
            await self._catalog.save(replace(claim.record, state="queued", reason=reason))
        except RagError as error:
            _log.info("the state of a document could not be recorded: %s", error)


def _ignore(progress: IngestProgress) -> None:
    """Nobody asked how far it is."""


async def _without_notices(batches: Batches, notices: list[str]) -> AsyncGenerator[list[Section]]:
    """The batches of text; `notices` gets what of the file could not be read, told of a file in a file with its name."""
    async for batch in batches:
        for section in batch:
            if section.kind == "notice":
                within, _, _ = section.anchor.rpartition(" › ")
                notices.append(f"{within}: {section.text}" if within else section.text)
        yield [section for section in batch if section.kind != "notice"]


def _reason(notices: Sequence[str]) -> str:
    """What is said of a file that is searchable, on one line of a sensible length."""
    told = " ".join(" ".join(notices).split())
    return told if len(told) <= _LONGEST_NOTICE else f"{told[:_LONGEST_NOTICE]}…"


def _pages(sections: Sequence[Section]) -> int:
    """How many pages or slides have text; 0 for a document that has none of them."""
    return len({match[0] for section in sections if (match := _PAGE.match(section.anchor))})
