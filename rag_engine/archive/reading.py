"""Reading an archive: synchronous, in a thread; everything is checked, nothing is believed, and nothing is unpacked to disk."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from pydantic import BaseModel, ValidationError

from rag_engine.archive.wire import (
    CHUNKS,
    DOCUMENTS,
    MANIFEST,
    MEMBERS,
    VECTORS,
    VERSION,
    ChunkLine,
    DocumentLine,
    Manifest,
    SectionLine,
    VectorLine,
    damaged,
    translate_errors,
)
from rag_engine.errors import EncryptedFile, FileTooLarge, UnsupportedFile
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from rag_engine.archive.wire import Limits, Member
    from rag_engine.types import Vector

_Line = TypeVar("_Line", bound=BaseModel)

_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_UNIT_TOLERANCE = 0.02  # an index may keep its vectors in half precision


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedDocument:
    """One document of an archive with everything that belongs to it."""

    line: DocumentLine
    sections: tuple[Section, ...]
    chunks: tuple[tuple[ChunkLine, Vector], ...]


class Archive:
    """An open archive whose members are those of its manifest. `documents` may be read more than once."""

    def __init__(self, file: Path, opened: zipfile.ZipFile, manifest: Manifest, limits: Limits) -> None:
        self.manifest = manifest
        self._file = file
        self._zip = opened
        self._limits = limits

    def documents(self) -> Generator[ArchivedDocument, None, None]:
        """Every document in order. To read to the end without an error is to have checked the whole archive."""
        with translate_damage(self._file), ExitStack() as stack:
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
                yield ArchivedDocument(line=line, sections=sections, chunks=tuple(passages.of(line)))
            passages.end()
            documents.end()

    @contextmanager
    def _open(self, name: str) -> Generator[_Lines, None, None]:
        longest = self._limits.section_bytes if name == DOCUMENTS else self._limits.line_bytes
        with (
            cast("zipfile.ZipExtFile", self._zip.open(name)) as member,
            io.BufferedReader(member, 1 << 16) as lines,
        ):
            yield _Lines(self._file, name, lines, expected=self.manifest.members[name], longest=longest)


class _Lines:
    """The lines of one member, counted, measured and digested on the way."""

    def __init__(
        self,
        file: Path,
        name: str,
        lines: io.BufferedReader[zipfile.ZipExtFile],
        *,
        expected: Member,
        longest: int,
    ) -> None:
        self._file = file
        self._name = name
        self._lines = lines
        self._expected = expected
        self._longest = longest
        self._digest = hashlib.sha256()
        self._count = 0

    def next(self, kind: type[_Line]) -> _Line:
        """The next line, which must be there and of that kind."""
        line = self.next_or_none(kind)
        if line is None:
            raise self.wrong("it ends too early")
        return line

    def next_or_none(self, kind: type[_Line]) -> _Line | None:
        """The next line, None at the end."""
        encoded = self._lines.readline(self._longest + 1)
        if not encoded:
            return None
        self._count += 1
        if len(encoded) > self._longest:
            raise self.wrong(f"it is longer than {self._longest:,} bytes")
        self._digest.update(encoded)
        try:
            return kind.model_validate_json(encoded)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise self.wrong(f"{place}: {first['msg']}" if place else first["msg"]) from error

    def end(self) -> None:
        """Nothing may follow, and all that came must be what the manifest says."""
        if self._lines.read(1):
            raise damaged(self._file, f"{self._name} goes on after its last line")
        if (self._count, self._digest.hexdigest()) != (self._expected.lines, self._expected.sha256):
            raise damaged(
                self._file, f"{self._name} is not what the manifest says (its lines or its SHA-256 differ)"
            )

    def wrong(self, what: str) -> Exception:
        """The error for the line read last."""
        return damaged(self._file, f"{self._name}, line {self._count}: {what}")


class _Passages:
    """Chunks and vectors, read side by side."""

    def __init__(self, chunks: _Lines, vectors: _Lines, *, dimensions: int) -> None:
        self._chunks = chunks
        self._vectors = vectors
        self._dimensions = dimensions
        self._ahead: tuple[ChunkLine, Vector] | None = None
        self._seen: set[int] = set()  # hashes of the ids, so that a million of them stay small

    def of(self, document: DocumentLine) -> Iterator[tuple[ChunkLine, Vector]]:
        """The passages of the document: those that come next and name it."""
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
            raise self._chunks.wrong("it belongs to no document, or stands in the wrong place")
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
            raise self._vectors.wrong("it is no base64") from error
        if len(decoded) != 4 * self._dimensions:
            raise self._vectors.wrong(f"it has not the {self._dimensions} dimensions of the manifest")
        vector = np.frombuffer(decoded, dtype="<f4").astype(np.float32, copy=False)
        if not abs(float(np.linalg.norm(vector)) - 1) < _UNIT_TOLERANCE:  # false for what is no number, too
            raise self._vectors.wrong("it has not the length 1")
        return vector


@contextmanager
def opened(file: Path, limits: Limits) -> Generator[Archive, None, None]:
    """Open an archive and check its manifest and its list of members; what is in them is checked as it is read."""
    with translate_damage(file), ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(file))
        _check_members(file, archive, limits)
        manifest = _manifest(file, archive, limits)
        yield Archive(file, archive, manifest, limits)


@contextmanager
def translate_damage(file: Path) -> Generator[None, None, None]:
    """Turn what zipfile and the operating system say of a bad file into a sentence."""
    with translate_errors(file, doing="read"):
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise damaged(
                file, f"it is no sound zip archive ({str(error).rstrip('.') or 'it ends too early'})"
            ) from error


def _check_members(file: Path, archive: zipfile.ZipFile, limits: Limits) -> None:
    members = archive.infolist()
    names = [member.filename for member in members]
    wanted = (MANIFEST, *MEMBERS)
    for name in names:
        if name not in wanted:
            raise UnsupportedFile(
                f"{file.name} holds {name!r}, which no export of Footnote has; only {', '.join(wanted)} are taken. "
                "Nothing was imported."
            )
    for name in wanted:
        if names.count(name) != 1:
            raise damaged(file, f"it lacks {name}" if name not in names else f"it has {name} twice")
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise EncryptedFile(f"{file.name} is protected by a password; export it again without one.")
    if any(member.compress_type not in _READABLE for member in members):
        raise damaged(file, "it is compressed in a way no export is")
    allowed = limits.free_bytes + limits.expansion * sum(member.compress_size for member in members)
    size = sum(member.file_size for member in members)
    if size > allowed:
        raise FileTooLarge(
            f"{file.name} would unpack to {size:,} bytes, which no export does. Nothing was imported."
        )


def _manifest(file: Path, archive: zipfile.ZipFile, limits: Limits) -> Manifest:
    if archive.getinfo(MANIFEST).file_size > limits.manifest_bytes:
        raise damaged(file, f"{MANIFEST} is too large")
    encoded = archive.read(MANIFEST)
    try:
        version = _Version.model_validate_json(encoded).version
        if version > VERSION:
            raise UnsupportedFile(
                f"{file.name} was made by a newer Footnote (format {version}, this one reads {VERSION}): update Footnote."
            )
        manifest = Manifest.model_validate_json(encoded)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise damaged(file, f"{MANIFEST}: {place}: {first['msg']}".replace(" : ", " ")) from error
    for name in MEMBERS:
        expected = manifest.members.get(name)
        if expected is None:
            raise damaged(file, f"{MANIFEST} does not tell of {name}")
        if archive.getinfo(name).file_size != expected.bytes:
            raise damaged(file, f"{name} is not of the size that the manifest says")
    return manifest


class _Version(BaseModel):
    version: int


def _section(line: SectionLine) -> Section:
    return Section(text=line.text, anchor=line.anchor, headings=line.headings, kind=line.kind)
