from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from rag_engine.archive.schema import ArchiveContents, Identity, VerifiedLine
from rag_engine.archive.threaded_steps import leaving_in_thread
from rag_engine.archive.writer import writing
from rag_engine.archive.zip_container import translate_errors
from rag_engine.errors import UserError
from rag_engine.storage.concurrency.iterators import closing
from rag_engine.storage.concurrency.uncancellable import uninterrupted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from rag_engine.archive.writer import ArchiveWriter
    from rag_engine.expansion.types import ExpansionStore, MadeExpansion
    from rag_engine.metadata.filter_types import Properties
    from rag_engine.ports import IndexContents, IndexIdentity, Library, Metadata, SynonymEntries
    from rag_engine.storage.verified_answers import SqliteVerifiedAnswers
    from rag_engine.tables.store import TableStore
    from rag_engine.types import Chunk, DocumentId, DocumentRecord, Expansion, KnowledgeBase, Vector

_BATCH = 256


async def export(
    knowledge_base: KnowledgeBase,
    file: Path,
    *,
    library: Library,
    contents: IndexContents,
    identity: IndexIdentity,
    synonyms: SynonymEntries | None = None,
    metadata: Metadata | None = None,
    expansions: ExpansionStore | None = None,
    tables: TableStore | None = None,
    verified: SqliteVerifiedAnswers | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ArchiveContents:
    """Replaces `file` at the end. Documents being read are left out and named. Raises `UserError` if the file is
    unwritable or the knowledge base changes meanwhile.
    """
    records = {record.document.id: record for record in await library.records(knowledge_base.id)}
    finished = {key: record for key, record in records.items() if record.state in ("ready", "failed")}
    answers = await _answers(verified, knowledge_base, finished)
    expanded: list[Expansion] = [*await expansions.enabled([knowledge_base.id])] if expansions else []
    with translate_errors(file, doing="written"):
        async with leaving_in_thread(writing(file)) as writer:
            counts = await _write_chunks(writer, contents.scan(knowledge_base.id), finished)
            _check(finished, counts, knowledge_base)
            order = (*counts, *(key for key in finished if key not in counts))
            found = [finished[document] for document in order]
            made = expansions if expanded else None
            await _write_documents(writer, found, answers, progress, library, metadata, made, tables)
            entries = await _entries(synonyms, knowledge_base)
            finish = partial(writer.finish, knowledge_base, _wire(identity), entries, expanded)
            await uninterrupted(asyncio.to_thread(finish))
    left_out = tuple(record.document.title for key, record in records.items() if key not in finished)
    return ArchiveContents(
        name=knowledge_base.name, documents=len(finished), chunks=sum(counts.values()), left_out=left_out
    )


def _wire(identity: IndexIdentity) -> Identity:
    return Identity(model=identity.model, dimensions=identity.dimensions, analyzer=identity.analyzer)


async def _write_documents(
    writer: ArchiveWriter,
    records: Sequence[DocumentRecord],
    answers: Mapping[DocumentId, VerifiedLine],
    progress: Callable[[int, int], None] | None,
    library: Library,
    metadata: Metadata | None,
    expansions: ExpansionStore | None,
    tables: TableStore | None,
) -> None:
    for done, record in enumerate(records, start=1):
        verified = answers.get(record.document.id)
        await _write_document(writer, record, library, metadata, expansions, tables, verified)
        if progress is not None:
            progress(done, len(records))


async def _write_document(
    writer: ArchiveWriter,
    record: DocumentRecord,
    library: Library,
    metadata: Metadata | None,
    expansions: ExpansionStore | None,
    tables: TableStore | None,
    verified: VerifiedLine | None,
) -> None:
    document = record.document.id
    sources, sections = await library.sources(document), await library.sections(document)
    properties: Properties = await metadata.own(document) if metadata is not None else {}
    tags = await metadata.tags(document) if metadata is not None else []
    stored = await tables.stored(record.document) if tables is not None else []
    made: Sequence[MadeExpansion] = await expansions.made(document) if expansions is not None else []
    await uninterrupted(
        asyncio.to_thread(
            writer.add_document,
            record,
            sources,
            sections,
            properties=properties,
            tags=tags,
            expansions=[each for each in made if each.texts],
            tables=stored,
            verified=verified,
        )
    )


async def _answers(
    verified: SqliteVerifiedAnswers | None, base: KnowledgeBase, exported: Collection[DocumentId]
) -> dict[DocumentId, VerifiedLine]:
    found = await verified.read({base.id}) if verified is not None else []
    return {
        each.id: VerifiedLine(
            question=each.question,
            answer=each.answer,
            author=each.author.name,
            written_at=each.written_at,
            review_at=each.review_at,
            uri=each.uri,
            sources=tuple(
                (one.document, one.digest, one.title) for one in each.sources if one.document in exported
            ),
        )
        for each in found
    }


async def _entries(
    synonyms: SynonymEntries | None, knowledge_base: KnowledgeBase
) -> Sequence[tuple[str, ...]]:
    found = await synonyms.read({knowledge_base.id}) if synonyms is not None else None
    return found.get(knowledge_base.id, ()) if found else ()


async def _write_chunks(
    writer: ArchiveWriter,
    scan: AsyncIterator[tuple[Chunk, Vector]],
    records: Mapping[DocumentId, DocumentRecord],
) -> dict[DocumentId, int]:
    counts: dict[DocumentId, int] = {}
    batch: list[tuple[Chunk, Vector]] = []
    async with closing(scan):
        async for chunk, vector in scan:
            record = records.get(chunk.document)
            if record is None or record.state != "ready":
                continue
            counts[chunk.document] = counts.get(chunk.document, 0) + 1
            batch.append((chunk, vector))
            if len(batch) == _BATCH:
                await uninterrupted(asyncio.to_thread(writer.add_chunks, batch))
                batch = []
    await uninterrupted(asyncio.to_thread(writer.add_chunks, batch))
    return counts


def _check(
    records: Mapping[DocumentId, DocumentRecord], counts: Mapping[DocumentId, int], base: KnowledgeBase
) -> None:
    for key, record in records.items():
        if record.state == "ready" and record.chunks != counts.get(key, 0):
            raise UserError(
                f"{record.document.title} changed while it was exported, or the index has lost a part of it: "
                f"export again, and if that does not help run `footnote kb reindex {base.name!r}`."
            )
