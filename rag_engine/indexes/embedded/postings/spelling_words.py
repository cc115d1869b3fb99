"""Words for spelling corrections, without those of removed chunks alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.indexes.embedded.database.rows import hash_of
from rag_engine.indexes.embedded.database.schema import read_number, write
from rag_engine.indexes.embedded.database.writer import transaction
from rag_engine.indexes.embedded.postings import compaction

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

_BATCH: Final = 50_000


def remove_unused(connection: sqlite3.Connection) -> None:
    """In batches, so that others can write in between."""
    checked = version = read_number(connection, "version")
    if read_number(connection, "words_checked_at") >= read_number(connection, "removed_at"):
        return
    held = compaction.hashes(connection)
    last = 0
    while rows := connection.execute(
        "SELECT id, t FROM word WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
    ).fetchall():
        last = rows[-1][0]
        if all(_holds(held, word) for _, word in rows):
            continue
        with transaction(connection):
            if (now := read_number(connection, "version")) != version:
                held = compaction.hashes(connection)
            unused = [(place,) for place, word in rows if not _holds(held, word)]
            connection.executemany("DELETE FROM word WHERE id = ?", unused)
            write(connection, "epoch", read_number(connection, "epoch") + 1)
            version = now + 1
            write(connection, "version", version)
    with transaction(connection):
        write(connection, "words_checked_at", checked)


def _holds(hashes: NDArray[np.uint64], word: str) -> bool:
    place = int(hashes.searchsorted(np.uint64(hash_of(word))))
    return place < hashes.size and int(hashes[place]) == hash_of(word)
