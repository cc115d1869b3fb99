"""Writing an archive: synchronous, in a thread; under a temporary name until it is whole."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import zipfile
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

import numpy as np

from rag_engine.archive.wire import (
    CHUNKS,
    DOCUMENTS,
    MANIFEST,
    MEMBERS,
    VECTORS,
    ChunkLine,
    DocumentLine,
    Manifest,
    Member,
    SectionLine,
    VectorLine,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from rag_engine.archive.wire import Identity
    from rag_engine.types import Chunk, DocumentRecord, KnowledgeBase, Section, Vector

_LEVEL = 6


class _MemberFile:
    """A member on its way: counts and digests its lines."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._digest = hashlib.sha256()
        self._lines = 0
        self._bytes = 0

    def write(self, line: BaseModel) -> None:
        text = json.dumps(line.model_dump(), ensure_ascii=False, separators=(",", ":"))
        # Halves of surrogate pairs have no place in UTF-8; nothing else is changed.
        encoded = text.encode("utf-8", "replace") + b"\n"
        self.file.write(encoded)
        self._digest.update(encoded)
        self._lines += 1
        self._bytes += len(encoded)

    def member(self) -> Member:
        return Member(lines=self._lines, bytes=self._bytes, sha256=self._digest.hexdigest())


class ArchiveWriter:
    """First all chunks with their vectors, then the documents in the same order, then `finish`."""

    def __init__(self, archive: zipfile.ZipFile, *, spool: IO[bytes], handles: ExitStack) -> None:
        self._archive = archive
        self._handles = handles
        # A zip file takes one member at a time, and the index is read once: the chunks wait beside it.
        self._chunks = _MemberFile(spool)
        self._vectors = _MemberFile(self._open(VECTORS))
        self._documents: _MemberFile | None = None
        self._count = 0

    def add_chunks(self, rows: Sequence[tuple[Chunk, Vector]]) -> None:
        """Chunks with their vectors, in the order of the whole archive."""
        for chunk, vector in rows:
            self._chunks.write(_chunk_line(chunk))
            encoded = base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode("ascii")
            self._vectors.write(VectorLine(chunk=chunk.id, vector=encoded))

    def add_document(
        self, record: DocumentRecord, sources: Sequence[str], sections: Sequence[Section]
    ) -> None:
        """A document with its text, once its chunks are in."""
        if self._documents is None:
            self._documents = _MemberFile(self._open(DOCUMENTS))
        self._documents.write(_document_line(record, sources, len(sections)))
        for section in sections:
            line = SectionLine(
                text=section.text, anchor=section.anchor, headings=section.headings, kind=section.kind
            )
            self._documents.write(line)
        self._count += 1

    def finish(self, knowledge_base: KnowledgeBase, identity: Identity) -> Manifest:
        """The chunks that waited, and the manifest."""
        documents = self._documents or _MemberFile(self._open(DOCUMENTS))
        with self._open(CHUNKS) as output:
            self._chunks.file.seek(0)
            shutil.copyfileobj(self._chunks.file, output, 1 << 20)
        members = (documents.member(), self._chunks.member(), self._vectors.member())
        manifest = Manifest(
            name=knowledge_base.name,
            knowledge_base=knowledge_base.id,
            identity=identity,
            documents=self._count,
            members=dict(zip(MEMBERS, members, strict=True)),
        )
        with self._open(MANIFEST) as output:
            output.write(manifest.model_dump_json(indent=2).encode("utf-8", "replace"))
        return manifest

    def _open(self, name: str) -> IO[bytes]:
        self._handles.close()
        return self._handles.enter_context(self._archive.open(name, "w", force_zip64=True))


@contextmanager
def writing(file: Path) -> Generator[ArchiveWriter, None, None]:
    """Write the archive `file`: it appears whole at the end of the block, and not at all if the block fails."""
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("xb") as output:
            with (
                tempfile.TemporaryFile(dir=file.parent) as spool,
                zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
                ExitStack() as handles,
            ):
                yield ArchiveWriter(archive, spool=spool, handles=handles)
            output.flush()
            os.fsync(output.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


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
