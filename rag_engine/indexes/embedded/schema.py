"""The tables of the index file, and what is checked when it is opened.

`chunk` and `vec` are the truth; `fts`, `word`, `terms` and `code` are derived from them and can be made again. All of a document's
rows change in one transaction, which also raises `version`: so a reader knows whether what it keeps in memory is of its snapshot.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, cast

from rag_engine.errors import Misconfigured, SchemaMismatch
from rag_engine.storage.write_ahead_log import use_write_ahead_log

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import IndexIdentity

SCHEMA = 1
_APPLICATION = 0x466F6F74  # "Foot"

_PRAGMAS = (
    "synchronous=NORMAL",
    "busy_timeout=10000",
    "temp_store=MEMORY",
    "wal_autocheckpoint=8000",
)
_WRITER_PRAGMAS = ("cache_size=-16000", "mmap_size=0")
_READER_PRAGMAS = ("cache_size=-4000", "mmap_size=134217728", "query_only=ON")
"""Readers look at pages all over the file: those that the system holds already are mapped, not copied."""

_TABLES = (
    "CREATE TABLE kv(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE TABLE base(id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE)",
    # Rowids are never used again: what readers keep in memory is keyed by them.
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY AUTOINCREMENT, base INTEGER NOT NULL, document BLOB NOT NULL,"
    " ordinal INTEGER NOT NULL, cid TEXT NOT NULL, text TEXT NOT NULL, title TEXT NOT NULL, uri TEXT NOT NULL,"
    " headings TEXT NOT NULL, anchor TEXT NOT NULL, kind TEXT NOT NULL, language TEXT NOT NULL)",
    "CREATE INDEX chunk_of_document ON chunk(base, document, ordinal)",
    "CREATE TABLE vec(id INTEGER PRIMARY KEY, v BLOB NOT NULL)",
    "CREATE TABLE deleted(version INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(version, id)) WITHOUT ROWID",
)
DERIVED = (
    # The analyzer's tokens are separated by blanks and hold these signs; `=12` is the token of knowledge base 12.
    "CREATE VIRTUAL TABLE fts USING fts5(t, s, tokenize=\"ascii tokenchars '-_./:@+#='\")",
    "INSERT INTO fts(fts, rank) VALUES('rank', 'bm25(1.0, 0.0)')",
    "INSERT INTO fts(fts, rank) VALUES('automerge', 8)",
    "INSERT INTO fts(fts, rank) VALUES('crisismerge', 32)",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fts, row)",
    # Every word that was ever indexed, for correcting typing errors: a word may be left that no chunk has any more.
    "CREATE TABLE word(t TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE terms(id INTEGER PRIMARY KEY, b BLOB NOT NULL)",
    "CREATE TABLE code(id INTEGER PRIMARY KEY, base INTEGER NOT NULL, length INTEGER NOT NULL, b BLOB NOT NULL)",
)
_DERIVED_TABLES = ("vocabulary", "fts", "word", "terms", "code")


def opened(path: Path) -> sqlite3.Connection:
    """A connection in autocommit; it may be handed from thread to thread, not shared by two at once."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)


def configure(connection: sqlite3.Connection, *, read_only: bool = False) -> None:
    """Set our pragmas."""
    use_write_ahead_log(connection)
    for pragma in (*_PRAGMAS, *(_READER_PRAGMAS if read_only else _WRITER_PRAGMAS)):
        connection.execute(f"PRAGMA {pragma}")


def prepare(connection: sqlite3.Connection, path: Path, identity: IndexIdentity) -> None:
    """Make the tables if there are none; else check that they are ours, of this version and of this identity."""
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
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def is_consistent(connection: sqlite3.Connection) -> bool:
    """Whether every chunk has its place in the derived tables."""
    counted = connection.execute(
        "SELECT (SELECT count(*) FROM chunk), (SELECT count(*) FROM fts_docsize), (SELECT count(*) FROM code),"
        " (SELECT max(id) FROM chunk), (SELECT max(id) FROM fts_docsize), (SELECT max(id) FROM code)"
    ).fetchone()
    chunks, texts, codes, *last = counted
    return chunks == texts == codes and len(set(last)) == 1


def empty_derived(connection: sqlite3.Connection) -> None:
    """Drop and make again the derived tables, empty; inside a transaction."""
    for table in _DERIVED_TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in DERIVED:
        connection.execute(statement)


def read(connection: sqlite3.Connection, key: str) -> object:
    """A value of `kv`, None when it was never written."""
    row = connection.execute("SELECT v FROM kv WHERE k = ?", (key,)).fetchone()
    return None if row is None else row[0]


def read_number(connection: sqlite3.Connection, key: str) -> int:
    """A number of `kv`, 0 when it was never written."""
    return int(cast("int", read(connection, key) or 0))


def write(connection: sqlite3.Connection, key: str, value: str | bytes | int) -> None:
    """Set a value of `kv`."""
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
    wanted: dict[str, str | int] = {
        "model": identity.model,
        "dimensions": identity.dimensions,
        "analyzer": identity.analyzer,
    }
    stored = {key: read(connection, key) for key in wanted}
    if stored == wanted:
        return
    if connection.execute("SELECT 1 FROM chunk LIMIT 1").fetchone() is None:
        for key, value in wanted.items():
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
