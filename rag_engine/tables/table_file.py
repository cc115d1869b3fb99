"""An SQLite database, written once."""

from __future__ import annotations

import functools
import json
import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_engine.errors import StorageUnavailable
from rag_engine.storage.private_files import FILE_MODE, make_folder
from rag_engine.tables.types import ROW_NUMBER, TypedColumn, TypedTable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from rag_engine.tables.types import Value
    from rag_engine.types import Document

VERSION: Final = 1
TOTAL: Final = "_total"
"""The column that is 1 in totals."""
_TEMPORARY: Final = ".new"
_KNOWN_FILES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """With its file and, for a line as displayed, each cell's text column or ""."""

    table: TypedTable
    path: Path
    layout: tuple[str, ...]


@contextmanager
def written(path: Path) -> Generator[sqlite3.Connection]:
    """In one step, if the block ends well and there are tables. Raises `StorageUnavailable`."""
    make_folder(path.parent)
    try:
        remove_unfinished(path)
        handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=_TEMPORARY, dir=path.parent)
        os.close(handle)
        Path(name).chmod(FILE_MODE)
        try:
            with closing(sqlite3.connect(name, isolation_level=None)) as database:
                database.execute("PRAGMA journal_mode = OFF")
                database.execute("PRAGMA synchronous = OFF")
                database.execute("BEGIN")
                yield database
                has_tables = bool(database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone())
                database.execute("COMMIT")
            if has_tables:
                _sync(Path(name))
                Path(name).replace(path)
                _sync(path.parent)
            else:
                path.unlink(missing_ok=True)
        finally:
            Path(name).unlink(missing_ok=True)
    except (OSError, sqlite3.OperationalError) as error:
        raise StorageUnavailable from error


def remove_unfinished(path: Path) -> None:
    """Of killed processes; nobody else writes the document."""
    for left in path.parent.glob(f"{path.name}.*{_TEMPORARY}"):
        left.unlink(missing_ok=True)


def create(database: sqlite3.Connection, table: TypedTable) -> None:
    columns = [f'"{ROW_NUMBER}" INTEGER NOT NULL', f'"{TOTAL}" INTEGER NOT NULL']
    for column in table.columns:
        columns.append(f'"{column.sql_name}"')
        if column.kind != "text":
            columns.append(f'"{column.text_name}"')
    database.execute(f'CREATE TABLE "{table.id}" ({", ".join(columns)})')


def insert(database: sqlite3.Connection, table: TypedTable, rows: Iterable[Sequence[Value]]) -> None:
    width = 2 + sum(1 if column.kind == "text" else 2 for column in table.columns)
    places = ", ".join("?" * width)
    database.executemany(f'INSERT INTO "{table.id}" VALUES ({places})', rows)  # noqa: S608 - our own names


def describe(
    database: sqlite3.Connection, document: Document, tables: Sequence[tuple[TypedTable, list[str]]]
) -> None:
    """Nothing without tables."""
    if not tables:
        return
    content = {
        "version": VERSION,
        "digest": document.digest,
        "tables": [{**asdict(table), "layout": layout} for table, layout in tables],
    }
    database.execute("CREATE TABLE description (content TEXT)")
    database.execute("INSERT INTO description VALUES (?)", (json.dumps(content),))


def read(path: Path) -> list[StoredTable]:
    """None of a missing or damaged file, or another version."""
    try:
        written_at = path.stat().st_mtime_ns
    except OSError:
        return []
    return _read(path, written_at)


@functools.lru_cache(maxsize=_KNOWN_FILES)
def _read(path: Path, written_at: int) -> list[StoredTable]:
    try:
        return [_stored(raw, path) for raw in _content(path).get("tables", [])]
    except (ValueError, KeyError, TypeError):
        return []


def rows(stored: StoredTable) -> Iterator[tuple[Value, ...]]:
    """As they were inserted. Raises `StorageUnavailable`."""
    try:
        with closing(_reading(stored.path)) as database:
            yield from database.execute(f'SELECT * FROM "{stored.table.id}" ORDER BY rowid')  # noqa: S608 - our own names
    except sqlite3.Error as error:
        raise StorageUnavailable from error


def _reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def digest(path: Path) -> str:
    """Of the document's bytes; "" as `read` has none."""
    return str(_content(path).get("digest", ""))


def _content(path: Path) -> dict[str, Any]:
    try:
        with closing(_reading(path)) as database:
            ((text,),) = database.execute("SELECT content FROM description").fetchall()
        content: dict[str, Any] = json.loads(text)
    except (OSError, sqlite3.Error, ValueError):
        return {}
    return content if content.get("version") == VERSION else {}


def _stored(raw: dict[str, Any], path: Path) -> StoredTable:
    layout = tuple(map(str, raw.pop("layout")))
    columns = tuple(_column(column) for column in raw.pop("columns"))
    return StoredTable(table=TypedTable(**raw, columns=columns), path=path, layout=layout)


def _column(raw: dict[str, Any]) -> TypedColumn:
    values: list[str] = raw.pop("values")
    return TypedColumn(**raw, values=tuple(values))


def rename(path: Path, *, title: str, uri: str) -> None:
    """For a document with another name."""
    stored = read(path)
    if not stored:
        return
    renamed = [
        {**asdict(replace(one.table, title=title, uri=uri)), "layout": list(one.layout)} for one in stored
    ]
    with written(path) as database:
        with closing(sqlite3.connect(path)) as before:
            content: dict[str, Any] = json.loads(
                before.execute("SELECT content FROM description").fetchone()[0]
            )
            database.execute("COMMIT")
            before.backup(database)
            database.execute("BEGIN")
        content["tables"] = renamed
        database.execute("UPDATE description SET content = ?", (json.dumps(content),))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(handle)
