from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.errors import RagError, SchemaMismatch
from rag_engine.indexes.embedded.database.rows import row_of
from rag_engine.indexes.embedded.database.writer import KnownTokens, NewDocument, replace_documents

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.database.connections import Connections
    from rag_engine.indexes.embedded.database.rows import IndexRow
    from rag_engine.types import Chunk, Document, Vector

_MOST_CHUNKS = 1_000
"""A larger document is written in slices."""


@dataclass(slots=True, kw_only=True)
class _Waiting:
    document: Document
    chunks: Sequence[tuple[Chunk, Vector]]
    committed: asyncio.Future[None]
    error: Exception | None = None


class GroupCommit:
    def __init__(self, file: Connections, *, dimensions: int, on_written: Callable[[int], None]) -> None:
        self._file = file
        self._dimensions = dimensions
        self._on_written = on_written
        self._known = KnownTokens()
        self._waiting: deque[_Waiting] = deque()
        self._is_scheduled = False

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        """Cancelled, it happens whole or not at all."""
        loop = asyncio.get_running_loop()
        committed: asyncio.Future[None] = loop.create_future()
        self._waiting.append(_Waiting(document=document, chunks=chunks, committed=committed))
        if not self._is_scheduled:
            self._schedule(loop)
        await committed

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        groups: list[list[_Waiting]] = []
        # Before the thread, which clears it, may begin.
        self._is_scheduled = True
        try:
            ended = self._file.writing(lambda connection: self._commit_all(connection, groups, loop))
        except RagError:
            self._is_scheduled = False
            self._waiting.pop()
            raise
        ended.add_done_callback(partial(_settle_all, groups))

    def _commit_all(
        self, connection: sqlite3.Connection, groups: list[list[_Waiting]], loop: asyncio.AbstractEventLoop
    ) -> None:
        # So that a later document schedules a commit.
        self._is_scheduled = False
        while self._waiting:
            groups.append([])
            self._commit(connection, groups[-1])
            loop.call_soon_threadsafe(_settle, groups[-1])

    def _commit(self, connection: sqlite3.Connection, taken: list[_Waiting]) -> None:
        group: list[tuple[_Waiting, NewDocument]] = []
        size = 0
        while self._waiting and (not group or size + len(self._waiting[0].chunks) <= _MOST_CHUNKS):
            waiting = self._waiting.popleft()
            if waiting.committed.cancelled():
                continue
            taken.append(waiting)
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
        # The first slice, most often all, is computed before the lock.
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


def _settle(group: Sequence[_Waiting], failure: BaseException | None = None) -> None:
    for waiting in group:
        if waiting.committed.done():
            continue
        if error := waiting.error or failure:
            waiting.committed.set_exception(error)
        else:
            waiting.committed.set_result(None)


def _settle_all(groups: Sequence[Sequence[_Waiting]], ended: asyncio.Future[None]) -> None:
    failure = None if ended.cancelled() else ended.exception()
    for group in groups:
        _settle(group, failure)
