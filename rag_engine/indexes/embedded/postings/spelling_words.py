"""Words for spelling corrections, without those of removed chunks alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.indexes.embedded.database.rows import hash_of
from rag_engine.indexes.embedded.database.schema import read_number, write
from rag_engine.indexes.embedded.database.writer import transaction
from rag_engine.indexes.embedded.postings import compaction
from rag_engine.text.analyzer import tokens
from rag_engine.text.name_similarity import is_code

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

_BATCH: Final = 50_000
_CHUNKS: Final = 500
_ALL: Final = 2**62


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


def add_codes(connection: sqlite3.Connection) -> bool:
    """Earlier versions kept words alone. False at the end."""
    first = read_number(connection, "codes_listed")
    if first == _ALL:
        return False
    rows: list[tuple[int, str, str, str, str]] = connection.execute(
        "SELECT id, text, title, headings, language FROM chunk WHERE id > ? ORDER BY id LIMIT ?",
        (first, _CHUNKS),
    ).fetchall()
    codes = {
        token
        for _, *texts, language in rows
        for token in tokens("\n".join(texts), language=language)
        if is_code(token)
    }
    with transaction(connection):
        connection.executemany(
            "INSERT OR IGNORE INTO word(t) VALUES (?)", ((code,) for code in sorted(codes))
        )
        write(connection, "codes_listed", rows[-1][0] if rows else _ALL)
    return bool(rows)


def _holds(hashes: NDArray[np.uint64], word: str) -> bool:
    place = int(hashes.searchsorted(np.uint64(hash_of(word))))
    return place < hashes.size and int(hashes[place]) == hash_of(word)
