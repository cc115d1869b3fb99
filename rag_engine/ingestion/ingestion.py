"""Ingests a file: blob -> sections -> chunks -> vectors -> index, its state in the catalog.

The order of writing makes a kill harmless: `Index.put` replaces chunks atomically, then come the text and `ready`. A
ready document first loses its digest, so that new chunks never pass for the old bytes.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.errors import (
    EmptyDocument,
    RagError,
    UnknownDocument,
    UnknownKnowledgeBase,
    UserError,
)
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.ingestion.embedding_stream import at_once, embedded
from rag_engine.ingestion.keyed_locks import Locks
from rag_engine.ingestion.prefetch import reading_ahead
from rag_engine.ingestion.relabel import relabelled
from rag_engine.ingestion.removal import Removal
from rag_engine.ingestion.spool import passage_spool, section_spool
from rag_engine.ingestion.stated_properties import properties_section, stated_properties
from rag_engine.ingestion.table_intake import TableIntake, table_intake, without_cells
from rag_engine.ingestion.text_limits import DocumentText, TextLimits
from rag_engine.ingestion.versions import IngestionTarget, IngestionTargets
from rag_engine.parsing.media_types import shown
from rag_engine.ports import DocumentCatalog
from rag_engine.storage.concurrency.iterators import close
from rag_engine.storage.concurrency.uncancellable import uninterrupted
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
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.ingestion.embedding_stream import Batches
    from rag_engine.ingestion.spool import Spool
    from rag_engine.ingestion.text_limits import MessageText
    from rag_engine.ports import Embedder, Index, IndexContents, Splitter
    from rag_engine.tables.store import TableStore
    from rag_engine.types import Chunk, Document, Vector

__all__ = ["DocumentCatalog", "IngestProgress", "Ingestion", "Parse", "blob_from_path"]

_log = logging.getLogger(__name__)
_PAGE = re.compile(r"(?:p\.|page|slide) ?\d+")

Parse: TypeAlias = "Callable[[Blob], AsyncIterator[list[Section]]]"
"""In batches, off the event loop. Raises `UserError`s."""


Reading: TypeAlias = "Callable[[KnowledgeBaseId, Blob], AbstractAsyncContextManager[None]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProgress:
    """`sections` parsed and `chunks` embedded so far."""

    name: str
    state: DocumentState
    sections: int = 0
    chunks: int = 0


Report: TypeAlias = "Callable[[IngestProgress], None]"


@dataclass(slots=True, kw_only=True)
class _Reading:
    used: DocumentText
    tables: TableIntake
    sections: Spool[Section]
    passages: Spool[tuple[Chunk, Vector]]
    notices: dict[str, None] = field(default_factory=dict[str, None])
    """Neither stored as text nor searchable."""
    stated: list[Section] = field(default_factory=list[Section])
    pages: set[str] = field(default_factory=set[str])

    def beside(self) -> list[Section]:
        return [*(Section(text=text, kind="notice") for text in self.notices), *self.stated]


_LONGEST_NOTICE = 600
_MOST_NOTICES = 200
_LONG_CHARACTERS = 50_000
_LONG_SECONDS = 1.0
_STOPPED = "It was stopped before it was read to the end; add it again."
_UNFINISHED = "A new version is being written; if this stays, add the file again."


class Ingestion:
    """Different files run concurrently, one file once at a time."""

    def __init__(
        self,
        *,
        parse: Parse,
        splitter: Splitter,
        embedder: Embedder,
        index: Index,
        catalog: DocumentCatalog,
        reading: Reading | None = None,
        limits: TextLimits | None = None,
        folder: Path | None = None,
        tables: TableStore | None = None,
        contents: IndexContents | None = None,
    ) -> None:
        self._contents = contents
        self._parse = parse
        self._splitter = splitter
        self._embedder = embedder
        self._index = index
        self._catalog = catalog
        self._reading = reading or _unrecorded
        self._limits = limits or TextLimits()
        self._folder = folder
        self._tables = tables
        self._locks = Locks()
        self._removal = Removal(index=index, catalog=catalog, locks=self._locks, tables=tables)
        self._claims = IngestionTargets(catalog=catalog, removal=self._removal)

    async def ingest(
        self,
        blob: Blob,
        *,
        knowledge_base: KnowledgeBaseId,
        progress: Report | None = None,
        message: MessageText | None = None,
    ) -> Ingested:
        """`changed=False` if the same bytes are stored.

        An unreadable file, or one with too much text, is `failed`; an earlier version stays searchable. Raises
        `Unavailable` (add the file again) and `UnknownKnowledgeBase`, also if it was removed meanwhile.
        """
        async with (
            self._locks.held("uri", knowledge_base, blob.uri),
            self._locks.held("digest", knowledge_base, blob.digest),
            self._reading(knowledge_base, blob),
        ):
            async with self._locks.held("claim", knowledge_base):
                claim = await self._claims.settle(blob, knowledge_base)
            if isinstance(claim, IngestionTarget):
                text = at_once(list(claim.text)) if claim.text else self._parse(blob)
                outcome = await self._carry_out(claim, text, report=progress or _ignore, message=message)
                moved = claim.moved
            else:
                outcome, moved = claim
        if moved is not None:
            with suppress(UnknownDocument):
                await self._relabel(moved)
        return outcome

    async def reindex(self, record: DocumentRecord) -> Ingested:
        document = record.document
        async with self._locks.held("uri", document.knowledge_base, document.uri):
            current = await self._catalog.find(document.knowledge_base, uri=document.uri)
            sections = await self._catalog.sections(document.id)
            if current is None or current.document.id != document.id or not sections:
                raise UnknownDocument(f"There is no text of {shown(document.title)} to index again.")
            known = current.document if current.document.digest else document
            claim = IngestionTarget(record=replace(current, document=known), before=current)
            reason = "" if current.reason == _UNFINISHED else current.reason
            notice = Section(text=reason, anchor="", kind="notice")
            stated = properties_section(await self._catalog.metadata.own(document.id))
            text = at_once([*sections, notice, stated])
            return await self._carry_out(claim, text, report=_ignore, reads=False)

    async def write(self, document: Document, sections: Sequence[Section]) -> Ingested:
        async with self._locks.held("uri", document.knowledge_base, document.uri):
            before = await self._catalog.find(document.knowledge_base, uri=document.uri)
            record = DocumentRecord(document=document, state="embedding")
            if before is None:
                await self._catalog.save(record)
            searchable = before if before is not None and before.chunks else None
            claim = IngestionTarget(record=record, before=searchable)
            return await self._carry_out(claim, at_once(list(sections)), report=_ignore, reads=False)

    @asynccontextmanager
    async def alone(self, record: DocumentRecord) -> AsyncGenerator[bool]:
        """False if the document has changed or is gone."""
        document = record.document
        async with self._locks.held("uri", document.knowledge_base, document.uri):
            current = await self._catalog.find(document.knowledge_base, uri=document.uri)
            yield current is not None and (current.document, current.state) == (document, "ready")

    async def expect(self, name: str, *, uri: str, media_type: str, knowledge_base: KnowledgeBaseId) -> None:
        async with self._locks.held("uri", knowledge_base, uri), self._locks.held("claim", knowledge_base):
            await self._claims.expect(name, uri=uri, media_type=media_type, knowledge_base=knowledge_base)

    async def give_up(self, knowledge_base: KnowledgeBaseId, uri: str, *, reason: str) -> None:
        async with self._locks.held("uri", knowledge_base, uri), self._locks.held("claim", knowledge_base):
            record = await self._catalog.find(knowledge_base, uri=uri)
            if record is not None and record.state == "queued" and not record.chunks:
                await self._catalog.save(replace(record, state="failed", reason=reason))

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """With all sources. False if the index does not answer: hidden from questions, the document is left to
        `finish_removals`.
        """
        return await self._removal.forget(knowledge_base, document)

    async def finish_removals(self) -> bool:
        return await self._removal.finish()

    async def forget_source(
        self, knowledge_base: KnowledgeBaseId, uri: str, titles: Mapping[str, str] | None = None
    ) -> None:
        """The last one takes the document along."""
        async with self._locks.held("uri", knowledge_base, uri), self._locks.held("claim", knowledge_base):
            record = await self._catalog.find(knowledge_base, uri=uri)
            if record is None:
                return
            others = [other for other in await self._catalog.sources(record.document.id) if other != uri]
            if not others:
                await self._removal.discard(knowledge_base, record.document.id)
                return
            moved, title = None, (titles or {}).get(others[0], "")
            if record.document.uri == uri:
                moved = await self._claims.move(record, others[0], title=title)
            await self._catalog.remove_source(knowledge_base, uri)
        if moved is not None:
            with suppress(UnknownDocument):
                await self._relabel(moved)

    async def _relabel(self, moved: DocumentRecord) -> None:
        document = moved.document
        async with self._locks.held("uri", document.knowledge_base, document.uri):
            done = await relabelled(moved, self._contents, self._index, self._catalog, folder=self._folder)
        if not done:
            await self.reindex(moved)

    async def _carry_out(
        self,
        claim: IngestionTarget,
        batches: Batches,
        *,
        report: Report,
        message: MessageText | None = None,
        reads: bool = True,
    ) -> Ingested:
        name = claim.record.document.title
        report(IngestProgress(name=name, state="parsing"))
        used = DocumentText(self._limits, name=name, message=message)
        try:
            with (
                used.refunded_on_error(),
                table_intake(self._tables, claim.record.document, reads=reads) as tables,
                section_spool(self._folder) as sections,
                passage_spool(self._folder) as passages,
            ):
                reading = _Reading(used=used, tables=tables, sections=sections, passages=passages)
                await self._read(claim, batches, reading, report=report)
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

    async def _read(
        self, claim: IngestionTarget, batches: Batches, reading: _Reading, *, report: Report
    ) -> None:
        document = claim.record.document
        progress = IngestProgress(name=document.title, state="parsing")

        def on_read(batch: list[Section]) -> None:
            nonlocal progress
            reading.pages.update(match[0] for section in batch if (match := _PAGE.match(section.anchor)))
            state: DocumentState = "embedding" if reading.passages else "parsing"
            done = progress.sections + len(batch)
            progress = replace(progress, state=state, sections=done, chunks=len(reading.passages))
            report(progress)

        began = asyncio.get_running_loop().time()

        async def on_end() -> None:
            await reading.tables.keep()
            is_slow = asyncio.get_running_loop().time() - began >= _LONG_SECONDS
            long = is_slow or reading.used.characters >= _LONG_CHARACTERS
            if long and not claim.text and (reading.sections or reading.notices):
                read = chain(reading.sections, reading.beside())
                await self._catalog.unfinished.keep_reading(document, read)

        async with reading_ahead(_limited(batches, reading), reading.sections, on_end=on_end) as ahead:
            passages = embedded(
                document,
                ahead,
                splitter=self._splitter,
                embedder=self._embedder,
                on_read=on_read,
                on_split=reading.used.passages,
                folder=self._folder,
            )
            async with aclosing(passages):
                async for part in passages:
                    await asyncio.to_thread(reading.passages.extend, part)
                    on_read([])
        if not reading.passages:
            raise EmptyDocument(f"{shown(document.title)} has no text in it, so there is nothing to search.")

    async def _write(self, claim: IngestionTarget, reading: _Reading) -> DocumentRecord:
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
            pages=len(reading.pages),
        )
        await self._catalog.metadata.describe(document.id, stated_properties(reading.stated))
        await self._index.put(document, reading.passages)
        await reading.tables.publish()
        try:
            await self._catalog.save(record, sections=reading.sections)
        except UnknownKnowledgeBase:
            await self._removal.drop(document.knowledge_base, document.id)
            raise
        return record

    async def _fail(self, claim: IngestionTarget, error: UserError) -> DocumentRecord:
        if claim.before is None:
            record = replace(claim.record, state="failed", reason=str(error))
            await self._catalog.save(record)
            return record
        reason = f"The new version could not be read, so the earlier one stays searchable: {error}"
        await self._catalog.save(replace(claim.before, state="ready", reason=reason))
        return replace(claim.record, state="failed", reason=reason)

    async def _put_back(self, claim: IngestionTarget, reason: str) -> None:
        if claim.before is not None:
            return
        try:
            await self._catalog.save(replace(claim.record, state="queued", reason=reason))
        except RagError as error:
            _log.info("the state of a document could not be recorded: %s", error)


def _unrecorded(knowledge_base: KnowledgeBaseId, blob: Blob) -> AbstractAsyncContextManager[None]:
    return nullcontext()


def _ignore(progress: IngestProgress) -> None: ...


async def _limited(batches: Batches, reading: _Reading) -> AsyncGenerator[list[Section]]:
    notices = reading.notices
    try:
        async for batch in batches:
            reading.used.sections(batch)
            await reading.tables.extend(batch)
            for section in batch:
                if section.kind == "properties":
                    reading.stated = [section]
                if section.kind == "notice" and len(notices) < _MOST_NOTICES:
                    within, _, _ = section.anchor.rpartition(" › ")
                    notices[f"{within}: {section.text}" if within else section.text] = None
            texts = [section for section in batch if section.kind not in ("notice", "properties")]
            yield without_cells(texts)
    finally:
        await close(batches)


def _reason(notices: Iterable[str]) -> str:
    reason = " ".join(" ".join(notices).split())
    return reason if len(reason) <= _LONGEST_NOTICE else f"{reason[:_LONGEST_NOTICE]}…"
