"""Blocking: run it in a thread."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import SchemaMismatch
from rag_engine.storage.private_files import make_file
from rag_engine.storage.sqlite.write_ahead_log import use_write_ahead_log

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

_BUSY_SECONDS = 10.0

_log = logging.getLogger(__name__)


def migrate(path: Path, scripts: Traversable) -> None:
    """By scripts `NNNN_name.sql`; `PRAGMA user_version` is the last number. Data is first copied to
    `<name>.schema-<number>.backup`. Raises `SchemaMismatch` for a newer file.
    """
    numbered = _numbered(scripts)
    newest = numbered[-1][0]
    with closing(sqlite3.connect(path, isolation_level=None, timeout=_BUSY_SECONDS)) as connection:
        version = _version(connection)
        if version > newest:
            raise SchemaMismatch(
                f"{path} belongs to a newer Footnote (schema {version}, this one knows {newest}): "
                "update Footnote or use another FOOTNOTE_DATA_DIR."
            )
        if version == newest:
            return
        use_write_ahead_log(connection)
        left = [each for each in numbered if each[0] > version]
        # Each transaction waits for the disk.
        for scripts_at_once in [[each] for each in left] if version else [left]:
            _apply(connection, path, scripts_at_once, since=version)
        if version:
            _remove_earlier_backups(path, version)
            _log.info(
                "%s was migrated from schema %d to %d; the earlier file is kept as %s",
                *(path.name, version, newest, backup_path(path, version).name),
            )


def latest(scripts: Traversable) -> int:
    return _numbered(scripts)[-1][0]


def objects(scripts: Traversable, version: int) -> frozenset[tuple[str, str]]:
    """Type and name of everything that a database of that schema has."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for number, script in _numbered(scripts):
            if number <= version:
                for statement in _statements(script):
                    connection.execute(statement)
        return objects_of(connection)


def objects_of(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    rows = connection.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    return frozenset((str(kind), str(name)) for kind, name in rows)


def backup_path(path: Path, version: int) -> Path:
    return path.with_name(f"{path.name}.schema-{version}.backup")


def _numbered(scripts: Traversable) -> list[tuple[int, str]]:
    found = [script for script in scripts.iterdir() if script.name.endswith(".sql")]
    return sorted(
        (int(script.name.partition("_")[0]), script.read_text(encoding="utf-8")) for script in found
    )


def _apply(
    connection: sqlite3.Connection, path: Path, numbered: Sequence[tuple[int, str]], *, since: int
) -> None:
    with _transaction(connection):
        version = _version(connection)
        for number, script in numbered:
            if number > version:
                if since and not backup_path(path, since).exists():
                    _back_up(path, since)
                _run(connection, path, number, script)


def _run(connection: sqlite3.Connection, path: Path, number: int, script: str) -> None:
    for statement in _statements(script):
        connection.execute(statement)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise SchemaMismatch(
            f"{path} could not be brought to schema {number}: its table {broken[0]} has rows that belong to nothing. "
            f"The database is unchanged; use the Footnote that made it."
        )
    connection.execute(f"PRAGMA user_version = {number}")


def _back_up(path: Path, version: int) -> None:
    target = backup_path(path, version)
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    try:
        make_file(unfinished)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _remove_earlier_backups(path: Path, version: int) -> None:
    """Each holds personal data."""
    for backup in path.parent.glob(f"{path.name}.schema-*.backup"):
        if backup != backup_path(path, version):
            backup.unlink(missing_ok=True)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None, None, None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _statements(script: str) -> Iterator[str]:
    """`executescript` would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
