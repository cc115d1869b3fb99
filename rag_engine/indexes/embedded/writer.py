"""Changing the index file: each change is one transaction that also raises the version."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import numpy as np

from rag_engine.indexes.embedded.dense import encoded, restored, stored
from rag_engine.indexes.embedded.lexical import audience_token
from rag_engine.indexes.embedded.memory import KEPT_VERSIONS
from rag_engine.indexes.embedded.rows import COLUMNS, Row, chunk_of, key, row_of
from rag_engine.indexes.embedded.schema import empty_derived, read, read_number, write
from rag_engine.spelling import correctable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from rag_engine.types import DocumentId, KnowledgeBaseId

_FIRST_CENTRED = 2_000
_CENTRED_AGAIN = 8
"""The mean is taken anew when the index has grown so many times."""
_BATCH = 1_000
_MERGED_PAGES = 200


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """One write transaction, taken back when the block fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def replace_document(
    connection: sqlite3.Connection,
    knowledge_base: KnowledgeBaseId,
    document: DocumentId,
    rows: Sequence[Row],
    vectors: NDArray[np.float32],
) -> None:
    """Put these rows in place of all that the document has now."""
    with transaction(connection):
        version = _next_version(connection)
        base = _base(connection, knowledge_base)
        _delete(
            connection,
            version,
            "SELECT id FROM chunk WHERE base = ? AND document = ?",
            (base, key(document)),
        )
        codes = encoded(vectors, mean_of(connection)) if rows else []
        for row, vector, code in zip(rows, stored(vectors) if rows else [], codes, strict=True):
            cursor = connection.execute(
                "INSERT INTO chunk(base, document, ordinal, cid, text, title, uri, headings, anchor, kind, language)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (base, *row.values),
            )
            place = cast("int", cursor.lastrowid)
            connection.execute("INSERT INTO vec VALUES (?, ?)", (place, vector))
            _insert_derived(connection, place, base, row, code)


def drop(
    connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId, document: DocumentId | None
) -> None:
    """Remove a document, or all of a knowledge base."""
    with transaction(connection):
        row = connection.execute("SELECT id FROM base WHERE name = ?", (key(knowledge_base),)).fetchone()
        if row is None:
            return
        version = _next_version(connection)
        if document is None:
            _delete(connection, version, "SELECT id FROM chunk WHERE base = ?", row)
            connection.execute("DELETE FROM base WHERE id = ?", row)
        else:
            wanted = (*row, key(document))
            _delete(connection, version, "SELECT id FROM chunk WHERE base = ? AND document = ?", wanted)


def mean_of(connection: sqlite3.Connection) -> NDArray[np.float32] | None:
    """The vector that codes are taken round; None while there are too few to tell."""
    blob = cast("bytes | None", read(connection, "mean"))
    return None if blob is None else np.frombuffer(blob, dtype="<f4")


def rebuild(connection: sqlite3.Connection) -> None:
    """Make all derived tables again, from the chunks and their vectors."""
    with transaction(connection):
        _next_version(connection)
        write(connection, "epoch", read_number(connection, "epoch") + 1)
        empty_derived(connection)
        connection.execute("DELETE FROM deleted")
        connection.execute("DELETE FROM chunk WHERE id NOT IN (SELECT id FROM vec)")
        connection.execute("DELETE FROM vec WHERE id NOT IN (SELECT id FROM chunk)")
        dimensions, mean = read_number(connection, "dimensions"), mean_of(connection)
        last = 0
        while batch := connection.execute(
            f"SELECT chunk.id, chunk.base, vec.v, {COLUMNS} FROM chunk JOIN vec USING (id)"  # noqa: S608 - our own columns
            " JOIN base ON base.id = chunk.base WHERE chunk.id > ? ORDER BY chunk.id LIMIT ?",
            (last, _BATCH),
        ).fetchall():
            codes = encoded(restored((vector for _, _, vector, *_ in batch), dimensions), mean)
            for (place, base, _, *columns), code in zip(batch, codes, strict=True):
                _insert_derived(connection, place, base, row_of(chunk_of(columns)), code)
            last = batch[-1][0]


def tidy(connection: sqlite3.Connection) -> None:
    """What keeps searches quick and the file small, a little at a time: nothing that a search could see."""
    with transaction(connection):
        connection.execute("INSERT INTO fts(fts, rank) VALUES('merge', ?)", (_MERGED_PAGES,))
    count = connection.execute("SELECT count(*) FROM code").fetchone()[0]
    if count >= max(_FIRST_CENTRED, _CENTRED_AGAIN * read_number(connection, "centred_at")):
        _centre(connection, count)
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def _centre(connection: sqlite3.Connection, count: int) -> None:
    """Take the mean of all vectors, and the codes round it."""
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
        _next_version(connection)


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


def _insert_derived(connection: sqlite3.Connection, place: int, base: int, row: Row, code: bytes) -> None:
    connection.execute(
        "INSERT INTO fts(rowid, t, s) VALUES (?, ?, ?)", (place, row.text, audience_token(base))
    )
    words = [(word,) for word in correctable(set(row.text.split(" ")))]
    connection.executemany("INSERT OR IGNORE INTO word VALUES (?)", words)
    connection.execute("INSERT INTO terms VALUES (?, ?)", (place, row.terms))
    connection.execute("INSERT INTO code VALUES (?, ?, ?, ?)", (place, base, row.length, code))


def _delete(connection: sqlite3.Connection, version: int, ids: str, parameters: tuple[object, ...]) -> None:
    gone = connection.execute(ids, parameters).fetchall()
    connection.executemany("DELETE FROM fts WHERE rowid = ?", gone)
    connection.executemany("DELETE FROM terms WHERE id = ?", gone)
    connection.executemany("DELETE FROM code WHERE id = ?", gone)
    connection.executemany("DELETE FROM vec WHERE id = ?", gone)
    connection.executemany("DELETE FROM chunk WHERE id = ?", gone)
    connection.executemany("INSERT INTO deleted VALUES (?, ?)", [(version, place) for (place,) in gone])
    connection.execute("DELETE FROM deleted WHERE version < ?", (version - KEPT_VERSIONS,))


def _base(connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId) -> int:
    name = key(knowledge_base)
    connection.execute("INSERT OR IGNORE INTO base(name) VALUES (?)", (name,))
    return connection.execute("SELECT id FROM base WHERE name = ?", (name,)).fetchone()[0]


def _next_version(connection: sqlite3.Connection) -> int:
    version = read_number(connection, "version") + 1
    write(connection, "version", version)
    return version
