"""The recipe, then a line per document's state. `begun` is on disk before a document enters the index."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_engine.storage.private_files import make_folder
from rag_engine.storage.sqlite.errors import translate_errors
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from rag_engine.types import Document

Recipe: TypeAlias = "Mapping[str, object]"
"""A rebuild resumes only with the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """With an empty `version` a document may be there."""

    knowledge_base: KnowledgeBaseId
    version: str = ""
    chunks: int = 0


class RebuildLog:
    def __init__(self, path: Path, descriptor: int, entries: dict[DocumentId, Entry]) -> None:
        self._path = path
        self._descriptor = descriptor
        self._entries = entries
        self._writing = asyncio.Lock()

    @property
    def entries(self) -> dict[DocumentId, Entry]:
        return dict(self._entries)

    async def start(self, document: Document) -> None:
        """Synced: the document may enter the index next."""
        await self._write(_Line(state="begun", document=document.id, knowledge_base=document.knowledge_base))

    async def finish(self, document: Document, *, version: str, chunks: int) -> None:
        await self._write(
            _Line(
                state="done",
                document=document.id,
                knowledge_base=document.knowledge_base,
                version=version,
                chunks=chunks,
            )
        )

    async def remove(self, document: DocumentId) -> None:
        known = self._entries[document]
        await self._write(_Line(state="gone", document=document, knowledge_base=known.knowledge_base))

    async def _write(self, line: _Line) -> None:
        async with self._writing:
            await asyncio.to_thread(self._append, line.model_dump_json().encode() + b"\n", line.state)
            _apply(line, self._entries)

    def _append(self, content: bytes, state: str) -> None:
        with translate_errors(self._path):
            _write_all(self._descriptor, content)
            if state == "begun":  # losing another line only repeats its document
                os.fsync(self._descriptor)


@asynccontextmanager
async def opened(path: Path, recipe: Recipe) -> AsyncGenerator[RebuildLog]:
    """Continues a rebuild of this recipe. Raises `StorageUnavailable` or `BadSettings`."""
    descriptor, entries = await asyncio.to_thread(_open, path, recipe)
    try:
        yield RebuildLog(path, descriptor, entries)
    finally:
        os.close(descriptor)


async def remove(path: Path) -> None:
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
        make_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
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
