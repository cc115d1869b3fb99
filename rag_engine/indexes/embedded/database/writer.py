from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag_engine.indexes.embedded.database.rows import (
    CHUNK_COLUMNS,
    IndexRow,
    chunk_of,
    key,
    knowledge_base_of,
    row_of,
)
from rag_engine.indexes.embedded.database.schema import (
    empty_derived,
    is_consistent,
    mean_of,
    read_number,
    write,
)
from rag_engine.indexes.embedded.memory import RETAINED_VERSIONS
from rag_engine.indexes.embedded.postings import compaction
from rag_engine.indexes.embedded.postings.vocabulary import spelled_tokens
from rag_engine.indexes.embedded.vectors.dense import encoded, restored, stored

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.types import DocumentId, KnowledgeBaseId

_log = logging.getLogger(__name__)

_FIRST_CENTRED = 2_000
_CENTRED_AGAIN = 8
_BATCH = 1_000
_MOST_KNOWN = 50_000
_MOST_JOINED = 10_000
"""Different words of chunks, of several documents, that are inserted at once."""

_Slice: TypeAlias = "tuple[KnowledgeBaseId, Sequence[IndexRow], NDArray[np.float32]]"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    knowledge_base: KnowledgeBaseId
    document: DocumentId
    slices: Iterable[tuple[Sequence[IndexRow], NDArray[np.float32]]]
    """At least one chunk in each slice."""


class KnownTokens:
    """Certainly in the table `word`; saves look-ups."""

    def __init__(self) -> None:
        self._epoch = -1
        self._tokens: set[str] = set()

    def new(self, rows: Iterable[IndexRow], *, epoch: int) -> set[str]:
        if epoch != self._epoch or len(self._tokens) > _MOST_KNOWN:
            self._epoch = epoch
            self._tokens.clear()
        return {token for row in rows for token in row.tokens - self._tokens}

    def stored(self, tokens: Iterable[str]) -> None:
        self._tokens.update(tokens)


def replace_documents(
    connection: sqlite3.Connection, documents: Iterable[NewDocument], known: KnownTokens
) -> None:
    stored: set[str] = set()
    with transaction(connection):
        version = next_version(connection)
        epoch = read_number(connection, "epoch")
        mean = mean_of(connection)
        for part in _joined(documents):
            bases = {name: _base(connection, name) for name in part.knowledge_bases}
            for name, document in part.replaced:
                of_document = (bases[name], key(document))
                _delete(
                    connection, version, "SELECT id FROM chunk WHERE base = ? AND document = ?", of_document
                )
            if part.slices:
                new = _insert_part(connection, part, bases, mean, epoch=epoch, known=known) - stored
                _insert_words(connection, new)
                if len(stored) < _MOST_KNOWN:
                    stored |= new
    known.stored(stored)


@dataclass(slots=True)
class _Part:
    """Documents whose old chunks go and new ones come at once; more of the last may follow."""

    replaced: dict[tuple[KnowledgeBaseId, DocumentId], None] = field(
        default_factory=dict[tuple["KnowledgeBaseId", "DocumentId"], None]
    )
    slices: list[_Slice] = field(default_factory=list["_Slice"])

    @property
    def knowledge_bases(self) -> set[KnowledgeBaseId]:
        return {name for name, _ in self.replaced} | {name for name, *_ in self.slices}


def _joined(documents: Iterable[NewDocument]) -> Iterator[_Part]:
    part, size = _Part(), 0
    for document in documents:
        name = (document.knowledge_base, document.document)
        if name in part.replaced:
            yield part
            part, size = _Part(), 0
        part.replaced[name] = None
        for rows, vectors in document.slices:
            part.slices.append((document.knowledge_base, rows, vectors))
            size += sum(len(row.tokens) for row in rows)
            if size >= _MOST_JOINED:
                # Before the next slice is made.
                yield part
                part.slices.clear()
                part, size = _Part(), 0
    yield part


def _insert_part(
    connection: sqlite3.Connection,
    part: _Part,
    bases: Mapping[KnowledgeBaseId, int],
    mean: NDArray[np.float32] | None,
    *,
    epoch: int,
    known: KnownTokens,
) -> set[str]:
    """Words that may be new."""
    rows = [row for _, its_rows, _ in part.slices for row in its_rows]
    owners = [bases[owner] for owner, its_rows, _ in part.slices for _ in its_rows]
    vectors = [vectors for *_, vectors in part.slices]
    _insert(connection, owners, rows, vectors[0] if len(vectors) == 1 else np.concatenate(vectors), mean)
    if any(len(its_rows) >= _BATCH for _, its_rows, _ in part.slices):
        # A long document's terms are not all kept in memory.
        compaction.fold(connection)
    return known.new(rows, epoch=epoch)


def _insert(
    connection: sqlite3.Connection,
    bases: Sequence[int],
    rows: Sequence[IndexRow],
    vectors: NDArray[np.float32],
    mean: NDArray[np.float32] | None,
) -> None:
    first = _last_chunk(connection) + 1
    places = range(first, first + len(rows))
    connection.executemany(
        "INSERT INTO chunk(id, base, document, ordinal, cid, text, title, uri, headings, anchor, kind, language)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((place, base, *row.values) for place, base, row in zip(places, bases, rows, strict=True)),
    )
    connection.executemany("INSERT INTO vec VALUES (?, ?)", zip(places, stored(vectors), strict=True))
    _insert_derived(connection, places, bases, rows, vectors, mean)


def _last_chunk(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").fetchone()
    return row[0] if row else 0


def drop(
    connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId, document: DocumentId | None
) -> None:
    with transaction(connection):
        row = connection.execute("SELECT id FROM base WHERE name = ?", (key(knowledge_base),)).fetchone()
        if row is None:
            return
        version = next_version(connection)
        if document is None:
            _delete(connection, version, "SELECT id FROM chunk WHERE base = ?", row)
            connection.execute("DELETE FROM base WHERE id = ?", row)
        else:
            of_document = (*row, key(document))
            _delete(connection, version, "SELECT id FROM chunk WHERE base = ? AND document = ?", of_document)


def expand(
    connection: sqlite3.Connection,
    knowledge_base: KnowledgeBaseId,
    document: DocumentId,
    vectors: Sequence[ExpansionVector],
) -> bool:
    """In one transaction."""
    with transaction(connection):
        rows = connection.execute(
            "SELECT chunk.cid, chunk.id FROM chunk JOIN base ON base.id = chunk.base"
            " WHERE base.name = ? AND chunk.document = ?",
            (key(knowledge_base), key(document)),
        ).fetchall()
        places = dict(rows)
        connection.executemany("DELETE FROM expansion WHERE chunk = ?", [(place,) for _, place in rows])
        placed = [each for each in vectors if each.chunk in places]
        if len(placed) < len(vectors):
            _log.warning("expansions_without_passage dropped=%d", len(vectors) - len(placed))
        halves = stored(np.array([each.vector for each in placed], dtype=np.float32)) if placed else []
        connection.executemany(
            "INSERT INTO expansion(chunk, kind, v) VALUES (?, ?, ?)",
            ((places[each.chunk], each.kind, half) for each, half in zip(placed, halves, strict=True)),
        )
        write(connection, "expansions", read_number(connection, "expansions") + 1)
        next_version(connection)
    return bool(rows)


def rebuild(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        if is_consistent(connection):
            return
        next_version(connection)
        write(connection, "epoch", read_number(connection, "epoch") + 1)
        empty_derived(connection)
        connection.execute("DELETE FROM deleted")
        connection.execute("DELETE FROM chunk WHERE id NOT IN (SELECT id FROM vec)")
        connection.execute("DELETE FROM vec WHERE id NOT IN (SELECT id FROM chunk)")
        orphans = connection.execute(
            "DELETE FROM expansion WHERE chunk NOT IN (SELECT id FROM chunk)"
        ).rowcount
        if orphans:
            _log.warning("expansions_without_passage dropped=%d", orphans)
        dimensions, mean = read_number(connection, "dimensions"), mean_of(connection)
        last = 0
        while batch := connection.execute(
            f"SELECT chunk.id, chunk.base, vec.v, base.name, {CHUNK_COLUMNS} FROM chunk JOIN vec USING (id)"  # noqa: S608
            " JOIN base ON base.id = chunk.base WHERE chunk.id > ? ORDER BY chunk.id LIMIT ?",
            (last, _BATCH),
        ).fetchall():
            places, bases, vectors, *_ = zip(*batch, strict=True)
            rows = [row_of(chunk_of(columns, knowledge_base_of(name))) for _, _, _, name, *columns in batch]
            _insert_derived(connection, places, bases, rows, restored(vectors, dimensions), mean)
            _insert_words(connection, {token for row in rows for token in row.tokens})
            last = batch[-1][0]
            if compaction.fold(connection):
                compaction.merge(connection)


def tidy(connection: sqlite3.Connection) -> bool:
    """Whether segments were written."""
    with transaction(connection):
        if is_compacted := compaction.fold(connection) or compaction.merge(connection):
            compaction.merge(connection)
            next_version(connection)
    count = connection.execute("SELECT count(*) FROM code").fetchone()[0]
    if count >= max(_FIRST_CENTRED, _CENTRED_AGAIN * read_number(connection, "centred_at")):
        _centre(connection, count)
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return is_compacted


def _centre(connection: sqlite3.Connection, count: int) -> None:
    dimensions = read_number(connection, "dimensions")
    with transaction(connection):
        total = np.zeros(dimensions, dtype=np.float64)
        for _, vectors in _stored_vectors(connection, dimensions):
            total += vectors.sum(axis=0, dtype=np.float64)
        mean = (total / count).astype("<f4")
        for ids, vectors in _stored_vectors(connection, dimensions):
            changed = zip(encoded(vectors, mean), ids, strict=True)
            connection.executemany("UPDATE code SET b = ? WHERE id = ?", changed)
        write(connection, "mean", mean.tobytes())
        write(connection, "centred_at", count)
        write(connection, "epoch", read_number(connection, "epoch") + 1)
        next_version(connection)


def _stored_vectors(
    connection: sqlite3.Connection, dimensions: int
) -> Iterator[tuple[tuple[int, ...], NDArray[np.float32]]]:
    last = 0
    while rows := connection.execute(
        "SELECT id, v FROM vec WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
    ).fetchall():
        ids, blobs = zip(*rows, strict=True)
        yield ids, restored(blobs, dimensions)
        last = ids[-1]


def _insert_derived(
    connection: sqlite3.Connection,
    places: Sequence[int],
    bases: Sequence[int],
    rows: Sequence[IndexRow],
    vectors: NDArray[np.float32],
    mean: NDArray[np.float32] | None,
) -> None:
    connection.executemany(
        "INSERT INTO pending VALUES (?, ?)",
        ((place, row.terms) for place, row in zip(places, rows, strict=True)),
    )
    lengths = [row.length for row in rows]
    coded = zip(places, bases, lengths, encoded(vectors, mean), strict=True)
    connection.executemany("INSERT INTO code VALUES (?, ?, ?, ?)", coded)


def _insert_words(connection: sqlite3.Connection, tokens: Iterable[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO word(t) VALUES (?)", ((word,) for word in spelled_tokens(tokens))
    )


def _delete(connection: sqlite3.Connection, version: int, ids: str, parameters: tuple[object, ...]) -> None:
    gone = connection.execute(ids, parameters).fetchall()
    if not gone:
        return
    connection.executemany("DELETE FROM pending WHERE id = ?", gone)
    connection.executemany("DELETE FROM code WHERE id = ?", gone)
    connection.executemany("DELETE FROM vec WHERE id = ?", gone)
    if connection.executemany("DELETE FROM expansion WHERE chunk = ?", gone).rowcount:
        write(connection, "expansions", read_number(connection, "expansions") + 1)
    connection.executemany("DELETE FROM chunk WHERE id = ?", gone)
    write(connection, "removed_at", version)
    connection.executemany("INSERT INTO deleted VALUES (?, ?)", [(version, place) for (place,) in gone])
    connection.execute("DELETE FROM deleted WHERE version < ?", (version - RETAINED_VERSIONS,))


def _base(connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId) -> int:
    name = key(knowledge_base)
    connection.execute("INSERT OR IGNORE INTO base(name) VALUES (?)", (name,))
    return connection.execute("SELECT id FROM base WHERE name = ?", (name,)).fetchone()[0]


def next_version(connection: sqlite3.Connection) -> int:
    version = read_number(connection, "version") + 1
    write(connection, "version", version)
    return version
