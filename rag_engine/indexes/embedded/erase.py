from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.indexes.embedded import schema
from rag_engine.indexes.embedded.errors import translate_errors
from rag_engine.indexes.embedded.postings import compaction
from rag_engine.indexes.embedded.rows import hash_of
from rag_engine.indexes.embedded.schema import read_number, write
from rag_engine.indexes.embedded.writer import transaction
from rag_engine.storage.sqlite.erase import erase

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from numpy.typing import NDArray

_BATCH: Final = 50_000


def erase_index(path: Path) -> None:
    with translate_errors(path), closing(schema.opened(path)) as connection:
        schema.configure(connection)
        with transaction(connection):
            compaction.rewrite(connection)
            write(connection, "version", read_number(connection, "version") + 1)
        _remove_words(connection)
    erase(path)


def _remove_words(connection: sqlite3.Connection) -> None:
    """In small batches, so that others can write in between; words of documents being put stay."""
    last = 0
    while rows := connection.execute(
        "SELECT id, t FROM word WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
    ).fetchall():
        last = rows[-1][0]
        with transaction(connection):
            held = compaction.hashes(connection)
            gone = [(place,) for place, word in rows if not _holds(held, word)]
            connection.executemany("DELETE FROM word WHERE id = ?", gone)
            # Every program drops the words it keeps in memory.
            write(connection, "epoch", read_number(connection, "epoch") + 1)
            write(connection, "version", read_number(connection, "version") + 1)


def _holds(hashes: NDArray[np.uint64], word: str) -> bool:
    place = int(hashes.searchsorted(np.uint64(hash_of(word))))
    return place < hashes.size and int(hashes[place]) == hash_of(word)
