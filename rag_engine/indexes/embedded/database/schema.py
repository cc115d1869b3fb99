"""`chunk` and `vec` are the source of truth. A document changes in one transaction, which increments `version`."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, cast

import numpy as np

from rag_engine.errors import Misconfigured, SchemaMismatch
from rag_engine.storage.sqlite.write_ahead_log import use_write_ahead_log

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from rag_engine.ports import IndexIdentity

SCHEMA = 2
_APPLICATION = 0x466F6F74  # "Foot"

_PRAGMAS = (
    "synchronous=NORMAL",
    "busy_timeout=10000",
    "temp_store=MEMORY",
    "wal_autocheckpoint=8000",
)
_WRITER_PRAGMAS = ("cache_size=-16000", "mmap_size=0")
_READER_PRAGMAS = ("cache_size=-4000", "mmap_size=134217728", "query_only=ON")

_TABLES = (
    "CREATE TABLE kv(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE TABLE base(id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE)",
    # Never reused: readers' memory is keyed by rowids.
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY AUTOINCREMENT, base INTEGER NOT NULL, document BLOB NOT NULL,"
    " ordinal INTEGER NOT NULL, cid TEXT NOT NULL, text TEXT NOT NULL, title TEXT NOT NULL, uri TEXT NOT NULL,"
    " headings TEXT NOT NULL, anchor TEXT NOT NULL, kind TEXT NOT NULL, language TEXT NOT NULL)",
    "CREATE INDEX chunk_of_document ON chunk(base, document, ordinal)",
    "CREATE TABLE vec(id INTEGER PRIMARY KEY, v BLOB NOT NULL)",
    "CREATE TABLE deleted(version INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(version, id)) WITHOUT ROWID",
)
_EXPANSIONS = (
    "CREATE TABLE IF NOT EXISTS expansion(id INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL,"
    " kind TEXT NOT NULL, v BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS expansion_of_chunk ON expansion(chunk)",
)
"""Older programs ignore them."""
DERIVED = (
    # A word may outlive its last chunk for a while.
    "CREATE TABLE word(id INTEGER PRIMARY KEY, t TEXT NOT NULL UNIQUE)",
    # Of the newest chunks, not yet in a segment.
    "CREATE TABLE pending(id INTEGER PRIMARY KEY, b BLOB NOT NULL)",
    "CREATE TABLE segment(id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " chunks INTEGER NOT NULL, postings INTEGER NOT NULL, starts BLOB NOT NULL)",
    "CREATE TABLE block(id INTEGER PRIMARY KEY, b BLOB NOT NULL)",
    "CREATE TABLE code(id INTEGER PRIMARY KEY, base INTEGER NOT NULL, length INTEGER NOT NULL, b BLOB NOT NULL)",
)
_DERIVED_TABLES = ("word", "pending", "segment", "block", "code", "vocabulary", "fts", "terms")


def opened(path: Path) -> sqlite3.Connection:
    """For one thread at a time."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)


def configure(connection: sqlite3.Connection, *, read_only: bool = False) -> None:
    use_write_ahead_log(connection)
    for pragma in (*_PRAGMAS, *(_READER_PRAGMAS if read_only else _WRITER_PRAGMAS)):
        connection.execute(f"PRAGMA {pragma}")


def prepare(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    if not _is_empty(connection):
        _check_owner(connection, path)
    connection.execute("PRAGMA page_size=8192")
    configure(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):
            _create(connection)
        _check_owner(connection, path)
        _check_identity(connection, path, identity)
        for statement in _EXPANSIONS:
            connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def is_consistent(connection: sqlite3.Connection) -> bool:
    """The derived tables have this schema and every chunk."""
    if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
        return False
    chunks, codes, last_chunk, last_code = connection.execute(
        "SELECT (SELECT count(*) FROM chunk), (SELECT count(*) FROM code), (SELECT max(id) FROM chunk),"
        " (SELECT max(id) FROM code)"
    ).fetchone()
    new, pending, blocks, expected = connection.execute(
        "SELECT (SELECT count(*) FROM chunk WHERE id > (SELECT coalesce(max(last), 0) FROM segment)),"
        " (SELECT count(*) FROM pending), (SELECT count(*) FROM block),"
        " (SELECT coalesce(sum(length(starts)), 0) / 8 FROM segment)"
    ).fetchone()
    return (chunks, last_chunk, new, expected) == (codes, last_code, pending, blocks)


def has_chunks(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM chunk LIMIT 1").fetchone() is not None


def empty_derived(connection: sqlite3.Connection) -> None:
    for table in _DERIVED_TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in DERIVED:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={SCHEMA}")


def read(connection: sqlite3.Connection, key: str) -> object:
    row = connection.execute("SELECT v FROM kv WHERE k = ?", (key,)).fetchone()
    return None if row is None else row[0]


def read_number(connection: sqlite3.Connection, key: str) -> int:
    return int(cast("int", read(connection, key) or 0))


def mean_of(connection: sqlite3.Connection) -> NDArray[np.float32] | None:
    """None with too few vectors."""
    blob = cast("bytes | None", read(connection, "mean"))
    return None if blob is None else np.frombuffer(blob, dtype="<f4")


def write(connection: sqlite3.Connection, key: str, value: str | bytes | int) -> None:
    connection.execute(
        "INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", (key, value)
    )


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id={_APPLICATION}")
    connection.execute(f"PRAGMA user_version={SCHEMA}")
    for statement in (*_TABLES, *DERIVED):
        connection.execute(statement)


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION:
        raise Misconfigured(
            f"{path} is a database of another program; move it away, or set another data directory."
        )
    if version > SCHEMA:
        raise SchemaMismatch(
            f"The search index {path} was written by a newer version of Footnote (schema {version}, known: {SCHEMA});"
            " install that version again."
        )


def _check_identity(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    expected: dict[str, str | int] = {
        "model": identity.model,
        "dimensions": identity.dimensions,
        "analyzer": identity.analyzer,
    }
    stored = {key: read(connection, key) for key in expected}
    if stored == expected:
        return
    if connection.execute("SELECT 1 FROM chunk LIMIT 1").fetchone() is None:
        for key, value in expected.items():
            write(connection, key, value)
        return
    if stored["model"] != identity.model or stored["dimensions"] != identity.dimensions:
        raise SchemaMismatch(
            f"The search index {path} holds vectors of {stored['model']} ({stored['dimensions']} dimensions), the settings"
            f" name {identity.model} ({identity.dimensions}); run `footnote kb reindex --all`, or set"
            f" the FOOTNOTE_EMBEDDER__… settings back."
        )
    raise SchemaMismatch(
        f"The search index {path} was made with another text analyzer ({stored['analyzer']}, now {identity.analyzer});"
        " run `footnote kb reindex --all`."
    )
