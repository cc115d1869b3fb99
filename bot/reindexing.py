"""Splitting and embedding again, from the text of the documents as it was read."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from bot import compose, rebuild_log
from bot.process import exclusive
from rag_engine import passages
from rag_engine.errors import UnknownDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bot.library import Foundation, Library
    from bot.rebuild_log import Entry, RebuildLog
    from bot.settings import Settings
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBase, KnowledgeBaseId

    Progress = Callable[[DocumentRecord], None]

FILE = "rebuilding.jsonl"
"""How far a rebuild is, in the data directory."""
_IN_FLIGHT = 4  # while one document is written, others are split and embedded
_WITH_TEXT = {"ready", "embedding"}
"""States of documents that are searchable, a new version of which may have been on its way; the others never were, or are going."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """`documents` are in the new index; `resumed` of them were put there by an earlier run that was interrupted."""

    documents: int
    resumed: int = 0


async def reindex(library: Library, bases: Iterable[KnowledgeBase], progress: Progress | None = None) -> int:
    """Index every document of these knowledge bases again, each replaced in one step; returns how many."""
    count = 0
    for base in bases:
        count += await _index_again(library, base, progress or _ignore)
        await library.catalog.set_model(base.id, library.embedder.model)
    return count


async def rebuild(
    settings: Settings, progress: Progress | None = None, *, patience: float = exclusive.PATIENCE_SECONDS
) -> Rebuilt:
    """Index everything into a fresh index beside the old one, then put it in its place.

    No other program has the index open meanwhile: what it added would be in the old one only. Raises `IndexUnavailable` when
    one still has after `patience` seconds. Interrupted, it leaves the old index and the catalog as they were; done again, it
    goes on where it was, unless what the index is built with has changed.
    """
    async with (
        exclusive.alone(settings.data_dir, seconds=patience),
        compose.foundation(settings) as foundation,
    ):
        return await _rebuild(settings, foundation, progress or _ignore)


async def _rebuild(settings: Settings, foundation: Foundation, progress: Progress) -> Rebuilt:
    path = settings.data_dir / FILE
    recipe = _recipe(settings, foundation)
    async with rebuild_log.opened(path, recipe) as log:
        kept = log.entries and await _is_kept(settings, foundation, log)
    if not kept:
        await rebuild_log.remove(path)
        await compose.abandon_rebuild(settings)
    async with rebuild_log.opened(path, recipe) as log:
        async with compose.library(settings, on=foundation, rebuilding=True) as library:
            resumed = await _build(library, log, progress)
        bases = await foundation.storage.catalog.knowledge_bases()
        await compose.replace_index(
            settings, identity=foundation.identity, knowledge_bases=[base.id for base in bases]
        )
        await _record(foundation, log)
        rebuilt = Rebuilt(documents=len(log.entries), resumed=resumed)
    await rebuild_log.remove(path)
    return rebuilt


def _recipe(settings: Settings, foundation: Foundation) -> dict[str, object]:
    """All that decides what is in the index, the text of the documents aside."""
    return {
        "index": settings.index.kind,
        **asdict(foundation.identity),
        "max_tokens": foundation.embedder.max_tokens,
        "splitter": settings.splitter.model_dump(),
    }


async def _is_kept(settings: Settings, foundation: Foundation, log: RebuildLog) -> bool:
    """Whether what the log says was put is still there: somebody may have removed it, or the index may be another now."""
    expected: dict[KnowledgeBaseId, int] = {}
    for entry in log.entries.values():
        expected[entry.knowledge_base] = expected.get(entry.knowledge_base, 0) + entry.chunks
    async with compose.library(settings, on=foundation, rebuilding=True) as library:
        for base, chunks in expected.items():
            if await library.index.count(base) < chunks:
                return False
    return True


async def _build(library: Library, log: RebuildLog, progress: Progress) -> int:
    """Bring the index from what the log says it holds to what the catalog says; returns how many documents were right already."""
    records = [
        record
        for base in await library.catalog.knowledge_bases()
        for record in await library.catalog.records(base.id)
        if record.state in _WITH_TEXT
    ]
    entries = log.entries
    wanted = {record.document.id for record in records}
    for document, entry in entries.items():
        if document not in wanted:
            await _drop(library, log, document, entry)
    missing = [record for record in records if not _is_done(record, entries.get(record.document.id))]
    waiting = iter(missing)
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(_IN_FLIGHT):
                group.create_task(_work(library, log, waiting, progress), name=f"rebuild-{number}")
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return len(records) - len(missing)


async def _work(
    library: Library, log: RebuildLog, waiting: Iterator[DocumentRecord], progress: Progress
) -> None:
    for record in waiting:
        document = record.document
        sections = await library.catalog.sections(document.id)
        if not sections:
            if document.id in log.entries:
                await _drop(library, log, document.id, log.entries[document.id])
            continue
        chunks: passages.Slice = []
        found = passages.embedded(
            document,
            passages.at_once(sections),
            splitter=library.splitter,
            embedder=library.cached_embedder,
            on_read=_ignore,
        )
        async with aclosing(found):
            async for part in found:
                chunks.extend(part)
        await log.begun(document)
        await library.index.put(document, chunks)
        await log.done(document, version=_version(record), chunks=len(chunks))
        progress(record)


async def _drop(library: Library, log: RebuildLog, document: DocumentId, entry: Entry) -> None:
    await library.index.drop(entry.knowledge_base, document)
    await log.gone(document)


async def _record(foundation: Foundation, log: RebuildLog) -> None:
    """Tell the catalog what the index in use holds now."""
    catalog = foundation.storage.catalog
    entries = log.entries
    for base in await catalog.knowledge_bases():
        for record in await catalog.records(base.id):
            entry = entries.get(record.document.id)
            if entry is None:
                continue
            reason = record.reason if record.state == "ready" else ""
            now = replace(record, state="ready", reason=reason, chunks=entry.chunks)
            if now != record:
                await catalog.save(now)
        await catalog.set_model(base.id, foundation.identity.model)


def _is_done(record: DocumentRecord, entry: Entry | None) -> bool:
    return entry is not None and entry.version == _version(record)


def _version(record: DocumentRecord) -> str:
    """What the chunks of a document are made of: its bytes, and the name and address that each of them bears."""
    document = record.document
    parts = "\x1f".join((document.digest, document.title, document.uri))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


async def _index_again(library: Library, base: KnowledgeBase, progress: Progress) -> int:
    count = 0
    for record in await library.catalog.records(base.id):
        try:
            await library.ingestion.reindex(record)
        except UnknownDocument:
            continue  # never read to the end, or removed meanwhile: there is no text to index
        count += 1
        progress(record)
    return count


def _ignore(seen: object) -> None:
    """Nobody asked."""
