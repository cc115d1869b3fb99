"""Copies SQLite files in use as of one instant, in a thread."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.errors import Misconfigured
from rag_engine.storage.sqlite.errors import primary_code

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.01
_PAGES: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    held_seconds: float
    """How long all writers were blocked."""
    _readers: Mapping[Path, sqlite3.Connection]

    def copy(self, path: Path, target: Path, *, check: Callable[[], None]) -> int:
        """Returns the schema number. `check` may raise to stop. Raises `Misconfigured` for a damaged file."""

        def progress(status: int, left: int, total: int) -> None:
            check()

        with closing(sqlite3.connect(target, isolation_level=None)) as copied:
            copied.execute("PRAGMA synchronous = OFF")
            # Reads through the open transaction.
            self._readers[path].backup(copied, pages=_PAGES, progress=progress)
            check()
            if copied.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise Misconfigured(
                    f"{path} is damaged, so no backup of it was made: put an earlier backup in its place."
                )
            copied.execute("PRAGMA journal_mode = DELETE")
            return int(copied.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def snapshots(paths: Sequence[Path], *, seconds: float = _SECONDS) -> Generator[Snapshots]:
    """Blocks writers for milliseconds. Raises `sqlite3.OperationalError` if others write without a pause."""
    with ExitStack() as stack:
        writers = {path: _opened(path, stack) for path in paths}
        readers = {path: _opened(path, stack) for path in paths}
        _lock(writers, deadline=time.monotonic() + seconds)
        started = time.monotonic()
        try:
            for reader in readers.values():
                # Its state is that of its first read, not of its BEGIN.
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        finally:
            for writer in writers.values():
                writer.execute("ROLLBACK")
        yield Snapshots(held_seconds=time.monotonic() - started, _readers=readers)


def _opened(path: Path, stack: ExitStack) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    return stack.enter_context(closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=0)))


def _lock(writers: Mapping[Path, sqlite3.Connection], *, deadline: float) -> None:
    first = next(iter(writers), None)
    while first is not None:
        order = [first, *(path for path in writers if path != first)]
        first = _busy(order, writers, deadline=deadline)


def _busy(
    order: Sequence[Path], writers: Mapping[Path, sqlite3.Connection], *, deadline: float
) -> Path | None:
    held: list[sqlite3.Connection] = []
    for path in order:
        while not _begin(writers[path], last=time.monotonic() > deadline):
            if held:
                for writer in held:
                    writer.execute("ROLLBACK")
                return path
            time.sleep(_POLL_SECONDS)
        held.append(writers[path])
    return None


def _begin(writer: sqlite3.Connection, *, last: bool) -> bool:
    try:
        writer.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if last or primary_code(error) != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
