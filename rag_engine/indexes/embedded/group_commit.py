"""Documents put at the same time share a transaction; each is acknowledged when it is committed."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.errors import RagError, SchemaMismatch
from rag_engine.indexes.embedded.rows import row_of
from rag_engine.indexes.embedded.writer import KnownTokens, NewDocument, replace_documents

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.connections import Connections
    from rag_engine.indexes.embedded.rows import IndexRow
    from rag_engine.types import Chunk, Document, Vector

_MOST_CHUNKS = 1_000
"""In one transaction and in memory; a larger document is written in slices of its own transaction."""


@dataclass(slots=True, kw_only=True)
class _Waiting:
    document: Document
    chunks: Sequence[tuple[Chunk, Vector]]
    withdrawn: bool = False
    error: Exception | None = None


class GroupCommit:
    def __init__(self, file: Connections, *, dimensions: int, on_written: Callable[[int], None]) -> None:
        self._file = file
        self._dimensions = dimensions
        self._on_written = on_written
        self._known = KnownTokens()
        self._waiting: deque[_Waiting] = deque()

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        """Cancelled, it happens whole or not at all."""
        waiting = _Waiting(document=document, chunks=chunks)
        self._waiting.append(waiting)
        try:
            await self._file.write(self._commit)
        except BaseException:
            waiting.withdrawn = True
            raise
        if waiting.error is not None:
            raise waiting.error

    def _commit(self, connection: sqlite3.Connection) -> None:
        """The oldest waiting document and as many after it as fit, so that each call's own is done when it returns."""
        group: list[tuple[_Waiting, NewDocument]] = []
        size = 0
        while self._waiting and (not group or size + len(self._waiting[0].chunks) <= _MOST_CHUNKS):
            waiting = self._waiting.popleft()
            if waiting.withdrawn:
                continue
            try:
                group.append((waiting, self._prepared(waiting)))
            except RagError as error:
                waiting.error = error
                continue
            size += len(waiting.chunks)
        if group:
            self._write(connection, group)
            self._on_written(size)

    def _write(self, connection: sqlite3.Connection, group: list[tuple[_Waiting, NewDocument]]) -> None:
        try:
            with self._file.translated():
                replace_documents(connection, [new for _, new in group], self._known)
        except RagError as error:
            if len(group) == 1:
                group[0][0].error = error
                return
            for waiting, _ in group:
                self._write(connection, [(waiting, self._prepared(waiting))])

    def _prepared(self, waiting: _Waiting) -> NewDocument:
        slices = self._slices(waiting.chunks)
        # The first slice, most often all, is computed before the file is locked.
        return NewDocument(
            knowledge_base=waiting.document.knowledge_base,
            document=waiting.document.id,
            slices=chain(list(islice(slices, 1)), slices),
        )

    def _slices(
        self, chunks: Sequence[tuple[Chunk, Vector]]
    ) -> Iterator[tuple[list[IndexRow], NDArray[np.float32]]]:
        last = {chunk.id: position for position, (chunk, _) in enumerate(chunks)}
        pairs = (pair for position, pair in enumerate(chunks) if last[pair[0].id] == position)
        while part := list(islice(pairs, _MOST_CHUNKS)):
            vectors = np.array([vector for _, vector in part], dtype=np.float32)
            if vectors.shape[1:] != (self._dimensions,):
                raise SchemaMismatch(
                    f"The index holds vectors of {self._dimensions} dimensions, the embedder made others;"
                    " run `footnote kb reindex --all`."
                )
            yield [row_of(chunk) for chunk, _ in part], vectors
