from __future__ import annotations

import asyncio
import hashlib
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from bot.composition import application, retrieval
from bot.data_directory import index_lock
from bot.maintenance import reindex_journal
from rag_engine.errors import first_error
from rag_engine.ingestion import embedding_stream
from rag_engine.ingestion.spool import passage_spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.composition.components import BaseComponents, IndexingComponents
    from bot.maintenance.reindex_journal import Entry, RebuildLog
    from bot.settings import Settings
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBaseId

    Progress = Callable[[DocumentRecord], None]

FILE = "rebuilding.jsonl"
_IN_FLIGHT = 4
_WITH_TEXT = {"ready", "embedding"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    documents: int
    resumed: int = 0


async def rebuild(
    settings: Settings, progress: Progress | None = None, *, patience: float = index_lock.PATIENCE_SECONDS
) -> Rebuilt:
    """Beside the old index, then in its place. Raises `IndexUnavailable` if another program has the index open after
    `patience` seconds. The next run resumes an interrupted one unless index settings changed.
    """
    async with (
        index_lock.alone(settings.data_dir, seconds=patience),
        retrieval.base_components(settings) as components,
    ):
        return await _rebuild(settings, components, progress or _ignore)


async def _rebuild(settings: Settings, components: BaseComponents, progress: Progress) -> Rebuilt:
    path = settings.data_dir / FILE
    recipe = _recipe(settings, components)
    async with reindex_journal.opened(path, recipe) as log:
        resumable = log.entries and await _is_resumable(settings, components, log)
    if not resumable:
        await reindex_journal.remove(path)
        await application.abandon_rebuild(settings)
    async with reindex_journal.opened(path, recipe) as log:
        async with application.library(settings, on=components, rebuilding=True) as library:
            resumed = await _build(library, log, progress)
        bases = await components.storage.catalog.knowledge_bases()
        await application.replace_index(
            settings, identity=components.identity, knowledge_bases=[base.id for base in bases]
        )
        await _record(components, log)
        rebuilt = Rebuilt(documents=len(log.entries), resumed=resumed)
    await reindex_journal.remove(path)
    return rebuilt


def _recipe(settings: Settings, components: BaseComponents) -> dict[str, object]:
    return {
        "index": settings.index.kind,
        **asdict(components.identity),
        "max_tokens": components.embedder.max_tokens,
        "splitter": settings.splitter.model_dump(),
    }


async def _is_resumable(settings: Settings, components: BaseComponents, log: RebuildLog) -> bool:
    expected: dict[KnowledgeBaseId, int] = {}
    for entry in log.entries.values():
        expected[entry.knowledge_base] = expected.get(entry.knowledge_base, 0) + entry.chunks
    async with application.library(settings, on=components, rebuilding=True) as library:
        for base, chunks in expected.items():
            if await library.index.count(base) < chunks:
                return False
    return True


async def _build(library: IndexingComponents, log: RebuildLog, progress: Progress) -> int:
    records = [
        record
        for base in await library.catalog.knowledge_bases()
        for record in await library.catalog.records(base.id)
        if record.state in _WITH_TEXT
    ]
    entries = log.entries
    present = {record.document.id for record in records}
    for document, entry in entries.items():
        if document not in present:
            await _drop(library, log, document, entry)
    missing = [record for record in records if not _is_done(record, entries.get(record.document.id))]
    waiting = iter(missing)
    with first_error():
        async with asyncio.TaskGroup() as group:
            for number in range(_IN_FLIGHT):
                group.create_task(_work(library, log, waiting, progress), name=f"rebuild-{number}")
    return len(records) - len(missing)


async def _work(
    library: IndexingComponents, log: RebuildLog, waiting: Iterator[DocumentRecord], progress: Progress
) -> None:
    for record in waiting:
        document = record.document
        sections = await library.catalog.sections(document.id)
        if not sections:
            if document.id in log.entries:
                await _drop(library, log, document.id, log.entries[document.id])
            continue
        found = embedding_stream.embedded(
            document,
            embedding_stream.at_once(sections),
            splitter=library.splitter,
            embedder=library.cached_embedder,
            on_read=_ignore,
        )
        with passage_spool(None) as chunks:
            async with aclosing(found):
                async for part in found:
                    await asyncio.to_thread(chunks.extend, part)
            await log.start(document)
            await library.index.put(document, chunks)
            await log.finish(document, version=_version(record), chunks=len(chunks))
        progress(record)


async def _drop(library: IndexingComponents, log: RebuildLog, document: DocumentId, entry: Entry) -> None:
    await library.index.drop(entry.knowledge_base, document)
    await log.remove(document)


async def _record(components: BaseComponents, log: RebuildLog) -> None:
    catalog = components.storage.catalog
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
        await catalog.set_model(base.id, components.identity.model)


def _is_done(record: DocumentRecord, entry: Entry | None) -> bool:
    return entry is not None and entry.version == _version(record)


def _version(record: DocumentRecord) -> str:
    document = record.document
    parts = "\x1f".join((document.digest, document.title, document.uri))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _ignore(value: object) -> None: ...
