"""How far a rebuild of the index is, in a file that outlives the process.

The first line says what the index is built with, each other line what became of a document. A document is in the rebuilt index
only if the file names it: `begun` is on the disk before anything is put, so that what was removed from the catalog meanwhile is
found and dropped.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_engine.storage.faults import translate_errors
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from rag_engine.types import Document

Recipe: TypeAlias = "Mapping[str, object]"
"""What the index is built with, in JSON values: a rebuild with another recipe cannot be gone on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A document that is in the rebuilt index, or may be while `version` is empty; `chunks` is 0 until it is done."""

    knowledge_base: KnowledgeBaseId
    version: str = ""
    chunks: int = 0


class RebuildLog:
    """The open file, and what it says."""

    def __init__(self, path: Path, descriptor: int, entries: dict[DocumentId, Entry]) -> None:
        self._path = path
        self._descriptor = descriptor
        self._entries = entries
        self._writing = asyncio.Lock()

    @property
    def entries(self) -> dict[DocumentId, Entry]:
        """Every document that may be in the rebuilt index; a copy."""
        return dict(self._entries)

    async def begun(self, document: Document) -> None:
        """Say that the document may be in the index from now on; when this returns, the disk has it."""
        await self._write(_Line(state="begun", document=document.id, knowledge_base=document.knowledge_base))

    async def done(self, document: Document, *, version: str, chunks: int) -> None:
        """Say that the index has this version of the document."""
        await self._write(
            _Line(
                state="done",
                document=document.id,
                knowledge_base=document.knowledge_base,
                version=version,
                chunks=chunks,
            )
        )

    async def gone(self, document: DocumentId) -> None:
        """Say that the document is not in the index any more."""
        known = self._entries[document]
        await self._write(_Line(state="gone", document=document, knowledge_base=known.knowledge_base))

    async def _write(self, line: _Line) -> None:
        async with self._writing:
            await asyncio.to_thread(self._append, line.model_dump_json().encode() + b"\n", line.state)
            _apply(line, self._entries)

    def _append(self, content: bytes, state: str) -> None:
        with translate_errors(self._path):
            _write_all(self._descriptor, content)
            if (
                state == "begun"
            ):  # the others may be lost with the machine: a document is then done or dropped once more
                os.fsync(self._descriptor)


@asynccontextmanager
async def opened(path: Path, recipe: Recipe) -> AsyncGenerator[RebuildLog]:
    """The file of a rebuild with this recipe: what an interrupted one left, else a new one with no entries.

    Raises `StorageUnavailable` or `BadSettings` when it cannot be written.
    """
    descriptor, entries = await asyncio.to_thread(_open, path, recipe)
    try:
        yield RebuildLog(path, descriptor, entries)
    finally:
        os.close(descriptor)


async def remove(path: Path) -> None:
    """Forget the rebuild; no error when there is none."""
    with translate_errors(path):
        await asyncio.to_thread(path.unlink, missing_ok=True)


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    state: Literal["begun", "done", "gone"]
    document: DocumentId
    knowledge_base: KnowledgeBaseId
    version: str = ""
    chunks: int = 0


def _open(path: Path, recipe: Recipe) -> tuple[int, dict[DocumentId, Entry]]:
    with translate_errors(path, starting=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
            # What has no line end was being written when the process ended: it never happened.
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            entries = _read(whole, recipe)
            os.truncate(descriptor, 0 if entries is None else len(whole))
            if entries is None:
                _write_all(descriptor, _first_line(recipe))
                os.fsync(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor, entries or {}


def _read(content: bytes, recipe: Recipe) -> dict[DocumentId, Entry] | None:
    """What the lines say; None when they are of another recipe, or no lines of ours."""
    first, *lines = content.splitlines(keepends=True) or [b""]
    if first != _first_line(recipe):
        return None
    entries: dict[DocumentId, Entry] = {}
    try:
        for line in lines:
            _apply(_Line.model_validate_json(line), entries)
    except ValidationError:
        return None
    return entries


def _apply(line: _Line, entries: dict[DocumentId, Entry]) -> None:
    if line.state == "gone":
        entries.pop(line.document, None)
        return
    entries[line.document] = Entry(
        knowledge_base=line.knowledge_base, version=line.version, chunks=line.chunks
    )


def _first_line(recipe: Recipe) -> bytes:
    return json.dumps(dict(recipe), sort_keys=True, default=str).encode() + b"\n"


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
