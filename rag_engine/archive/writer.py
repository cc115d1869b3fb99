"""Blocking: run it in a thread."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

import numpy as np

from rag_engine.archive import table_lines, zip_container
from rag_engine.archive.schema import (
    CHUNKS,
    DOCUMENTS,
    EXPORT,
    MEMBERS,
    VECTORS,
    ArchiveManifest,
    ArchiveMember,
    ChunkLine,
    DocumentLine,
    ExpansionLine,
    SectionLine,
    VectorLine,
)
from rag_engine.archive.zip_container import MANIFEST, Checksum

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from rag_engine.archive.schema import Identity, VerifiedLine
    from rag_engine.expansion.types import MadeExpansion
    from rag_engine.metadata.filter_types import Properties
    from rag_engine.tables.table_file import StoredTable
    from rag_engine.types import Chunk, DocumentRecord, Expansion, KnowledgeBase, Section, Vector

_LEVEL = 6


class _MemberFile:
    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._checksum = Checksum()
        self._lines = 0

    def write(self, line: BaseModel) -> None:
        text = json.dumps(line.model_dump(exclude_defaults=True), ensure_ascii=False, separators=(",", ":"))
        # Only lone surrogates are replaced.
        encoded = text.encode("utf-8", "replace") + b"\n"
        self.file.write(encoded)
        self._checksum.update(encoded)
        self._lines += 1

    def member(self) -> ArchiveMember:
        return ArchiveMember(lines=self._lines, bytes=self._checksum.bytes, sha256=self._checksum.sha256)


class ArchiveWriter:
    def __init__(self, archive: zipfile.ZipFile, *, spool: IO[bytes], handles: ExitStack) -> None:
        self._archive = archive
        self._handles = handles
        # A zip is written one member at a time, the index read once.
        self._chunks = _MemberFile(spool)
        self._vectors = _MemberFile(self._open(VECTORS))
        self._documents: _MemberFile | None = None
        self._count = 0
        self._described = False
        self._has_tables = False
        self._has_verified = False

    def add_chunks(self, rows: Sequence[tuple[Chunk, Vector]]) -> None:
        for chunk, vector in rows:
            self._chunks.write(_chunk_line(chunk))
            encoded = base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode("ascii")
            self._vectors.write(VectorLine(chunk=chunk.id, vector=encoded))

    def add_document(
        self,
        record: DocumentRecord,
        sources: Sequence[str],
        sections: Sequence[Section],
        *,
        properties: Properties | None = None,
        tags: Sequence[str] = (),
        expansions: Sequence[MadeExpansion] = (),
        tables: Sequence[StoredTable] = (),
        verified: VerifiedLine | None = None,
    ) -> None:
        if self._documents is None:
            self._documents = _MemberFile(self._open(DOCUMENTS))
        line = _document_line(record, sources, len(sections))
        line = line.model_copy(
            update={
                "properties": dict(properties or {}),
                "tags": tuple(tags),
                "tables": len(tables),
                "verified": verified,
                "expansions": tuple(
                    ExpansionLine(kind=made.kind, key=made.key, passage=made.passage, texts=made.texts)
                    for made in expansions
                ),
            }
        )
        self._described = self._described or bool(properties or tags)
        self._documents.write(line)
        for section in sections:
            line = SectionLine(
                text=section.text, anchor=section.anchor, headings=section.headings, kind=section.kind
            )
            self._documents.write(line)
        for line in (each for stored in tables for each in table_lines.lines(stored)):
            self._documents.write(line)
        self._has_tables = self._has_tables or bool(tables)
        self._has_verified = self._has_verified or verified is not None
        self._count += 1

    def finish(
        self,
        knowledge_base: KnowledgeBase,
        identity: Identity,
        synonyms: Sequence[tuple[str, ...]] = (),
        expanded: Sequence[Expansion] = (),
    ) -> ArchiveManifest:
        documents = self._documents or _MemberFile(self._open(DOCUMENTS))
        with self._open(CHUNKS) as output:
            self._chunks.file.seek(0)
            shutil.copyfileobj(self._chunks.file, output, 1 << 20)
        members = (documents.member(), self._chunks.member(), self._vectors.member())
        manifest = ArchiveManifest(
            version=self._version(bool(synonyms), bool(expanded)),
            synonyms=tuple(synonyms),
            expanded=tuple(expanded),
            name=knowledge_base.name,
            knowledge_base=knowledge_base.id,
            identity=identity,
            documents=self._count,
            members=dict(zip(MEMBERS, members, strict=True)),
        )
        with self._open(MANIFEST) as output:
            given = {"synonyms": synonyms, "expanded": expanded}
            without = {name for name, value in given.items() if not value}
            output.write(manifest.model_dump_json(indent=2, exclude=without).encode("utf-8", "replace"))
        return manifest

    def _version(self, has_synonyms: bool, is_expanded: bool) -> int:
        needed = (self._has_tables, 5), (is_expanded, 4), (self._described, 3), (has_synonyms, 2)
        return EXPORT.version if self._has_verified else next((one for has, one in needed if has), 1)

    def _open(self, name: str) -> IO[bytes]:
        self._handles.close()
        return self._handles.enter_context(self._archive.open(name, "w", force_zip64=True))


@contextmanager
def writing(file: Path) -> Generator[ArchiveWriter]:
    """Replaces `file` when the block succeeds."""
    with (
        zip_container.writing(file, level=_LEVEL) as archive,
        tempfile.TemporaryFile(dir=file.parent) as spool,
        ExitStack() as handles,
    ):
        yield ArchiveWriter(archive, spool=spool, handles=handles)


def _chunk_line(chunk: Chunk) -> ChunkLine:
    return ChunkLine(
        id=chunk.id,
        document=chunk.document,
        ordinal=chunk.ordinal,
        text=chunk.text,
        title=chunk.title,
        uri=chunk.uri,
        headings=chunk.headings,
        anchor=chunk.anchor,
        kind=chunk.kind,
        language=chunk.language,
    )


def _document_line(record: DocumentRecord, sources: Sequence[str], sections: int) -> DocumentLine:
    document = record.document
    return DocumentLine(
        id=document.id,
        title=document.title,
        uri=document.uri,
        media_type=document.media_type,
        digest=document.digest,
        size=document.size,
        state="ready" if record.state == "ready" else "failed",
        reason=record.reason,
        pages=record.pages,
        sources=tuple(sources),
        sections=sections,
    )
