"""Unpacks nothing to disk. Blocking: run it in a thread."""

from __future__ import annotations

import base64
import binascii
import io
import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from pydantic import BaseModel, ValidationError

from rag_engine.archive import table_lines, zip_container
from rag_engine.archive.schema import (
    CHUNKS,
    DOCUMENTS,
    EXPORT,
    MEMBERS,
    VECTORS,
    ArchiveManifest,
    ChunkLine,
    DocumentLine,
    SectionLine,
    VectorLine,
)
from rag_engine.archive.table_lines import RowsLine, TableLine
from rag_engine.archive.zip_container import MANIFEST, Checksum
from rag_engine.types import Section

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from typing_extensions import Buffer

    from rag_engine.archive.schema import ArchiveLimits, ArchiveMember
    from rag_engine.archive.table_lines import ArchivedTable
    from rag_engine.types import Vector

_Line = TypeVar("_Line", bound=BaseModel)

_UNIT_TOLERANCE = 0.02  # an index may store vectors in half precision


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedDocument:
    line: DocumentLine
    sections: tuple[Section, ...]
    tables: tuple[ArchivedTable, ...] = ()
    chunks: tuple[tuple[ChunkLine, Vector], ...]


class Archive:
    def __init__(
        self, file: Path, opened: zipfile.ZipFile, manifest: ArchiveManifest, limits: ArchiveLimits
    ) -> None:
        self.manifest = manifest
        self._file = file
        self._zip = opened
        self._limits = limits

    def documents(self) -> Generator[ArchivedDocument, None, None]:
        with EXPORT.translate_damage(self._file), ExitStack() as stack:
            documents = stack.enter_context(self._open(DOCUMENTS))
            passages = _Passages(
                stack.enter_context(self._open(CHUNKS)),
                stack.enter_context(self._open(VECTORS)),
                dimensions=self.manifest.identity.dimensions,
            )
            seen: set[str] = set()
            for _ in range(self.manifest.documents):
                line = documents.next(DocumentLine)
                if line.id in seen:
                    raise documents.wrong(f"the document {line.title!r} comes twice")
                seen.add(line.id)
                sections = tuple(_section(documents.next(SectionLine)) for _ in range(line.sections))
                tables = tuple(_tables(documents, line.tables))
                yield ArchivedDocument(
                    line=line, sections=sections, tables=tables, chunks=tuple(passages.of(line))
                )
            passages.end()
            documents.end()

    @contextmanager
    def _open(self, name: str) -> Generator[_Lines, None, None]:
        longest = self._limits.section_bytes if name == DOCUMENTS else self._limits.line_bytes
        with (
            cast("zipfile.ZipExtFile", self._zip.open(name)) as member,
            _Hashed(member) as hashed,
            io.BufferedReader(hashed, 1 << 16) as lines,
        ):
            yield _Lines(
                self._file,
                name,
                lines,
                hashed.checksum,
                expected=self.manifest.members[name],
                longest=longest,
            )


class _Hashed(io.RawIOBase):
    def __init__(self, member: zipfile.ZipExtFile) -> None:
        self.checksum = Checksum()
        self._member = member

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        content = self._member.read1(len(memoryview(buffer)))
        memoryview(buffer)[: len(content)] = content
        self.checksum.update(content)
        return len(content)


class _Lines:
    def __init__(
        self,
        file: Path,
        name: str,
        lines: io.BufferedReader[_Hashed],
        checksum: Checksum,
        *,
        expected: ArchiveMember,
        longest: int,
    ) -> None:
        self._file = file
        self._name = name
        self._lines = lines
        self._expected = expected
        self._longest = longest
        self._checksum = checksum
        self._count = 0

    def next(self, kind: type[_Line]) -> _Line:
        line = self.next_or_none(kind)
        if line is None:
            raise self.wrong("it ends too early")
        return line

    def next_or_none(self, kind: type[_Line]) -> _Line | None:
        encoded = self._lines.readline(self._longest + 1)
        if not encoded:
            return None
        self._count += 1
        if len(encoded) > self._longest:
            raise self.wrong(f"it is longer than {self._longest:,} bytes")
        try:
            return kind.model_validate_json(encoded)
        except ValidationError as error:
            raise self.wrong(zip_container.first_error(error)) from error

    def end(self) -> None:
        if self._lines.read(1):
            raise EXPORT.damaged(self._file, f"{self._name} continues after its last line")
        if (self._count, self._checksum.sha256) != (self._expected.lines, self._expected.sha256):
            raise EXPORT.damaged(
                self._file, f"{self._name} is not what the manifest says (its lines or its SHA-256 differ)"
            )

    def wrong(self, what: str) -> Exception:
        return EXPORT.damaged(self._file, f"{self._name}, line {self._count}: {what}")


class _Passages:
    def __init__(self, chunks: _Lines, vectors: _Lines, *, dimensions: int) -> None:
        self._chunks = chunks
        self._vectors = vectors
        self._dimensions = dimensions
        self._ahead: tuple[ChunkLine, Vector] | None = None
        self._seen: set[int] = set()  # hashes of ids, to save memory

    def of(self, document: DocumentLine) -> Iterator[tuple[ChunkLine, Vector]]:
        ordinal = -1
        while (passage := self._peek()) is not None and passage[0].document == document.id:
            if document.state != "ready":
                raise self._chunks.wrong("it belongs to a document that failed")
            if passage[0].ordinal <= ordinal:
                raise self._chunks.wrong("the ordinals of a document do not ascend")
            ordinal = passage[0].ordinal
            self._ahead = None
            yield passage

    def end(self) -> None:
        if self._peek() is not None:
            raise self._chunks.wrong("it belongs to no document, or is in the wrong place")
        self._chunks.end()
        self._vectors.end()

    def _peek(self) -> tuple[ChunkLine, Vector] | None:
        if self._ahead is None:
            chunk = self._chunks.next_or_none(ChunkLine)
            if chunk is None:
                return None
            if hash(chunk.id) in self._seen:
                raise self._chunks.wrong("its id comes twice")
            self._seen.add(hash(chunk.id))
            self._ahead = chunk, self._vector(chunk)
        return self._ahead

    def _vector(self, chunk: ChunkLine) -> Vector:
        line = self._vectors.next(VectorLine)
        if line.chunk != chunk.id:
            raise self._vectors.wrong("it is not the vector of the chunk on the same line")
        try:
            decoded = base64.b64decode(line.vector, validate=True)
        except binascii.Error as error:
            raise self._vectors.wrong("it is not base64") from error
        if len(decoded) != 4 * self._dimensions:
            raise self._vectors.wrong(f"it does not have the {self._dimensions} dimensions of the manifest")
        vector = np.frombuffer(decoded, dtype="<f4").astype(np.float32, copy=False)
        if not abs(math.sqrt(vector @ vector) - 1) < _UNIT_TOLERANCE:  # false for NaN
            raise self._vectors.wrong("its length is not 1")
        return vector


@contextmanager
def opened(file: Path, limits: ArchiveLimits) -> Generator[Archive, None, None]:
    """Checks manifest and member list only."""
    with zip_container.opened(
        file,
        EXPORT,
        parse=ArchiveManifest.model_validate_json,
        allows=MEMBERS.__contains__,
        largest=lambda packed: limits.free_bytes + limits.expansion * packed,
    ) as (archive, manifest):
        for name in MEMBERS:
            if name not in manifest.members:
                raise EXPORT.damaged(file, f"{MANIFEST} does not name {name}")
        yield Archive(file, archive, manifest, limits)


def _tables(documents: _Lines, count: int) -> Generator[ArchivedTable]:
    try:
        yield from table_lines.read(
            count, lambda: documents.next(TableLine), lambda: documents.next(RowsLine)
        )
    except ValueError as error:
        raise documents.wrong(str(error)) from error


def _section(line: SectionLine) -> Section:
    return Section(text=line.text, anchor=line.anchor, headings=line.headings, kind=line.kind)
