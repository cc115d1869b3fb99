"""Nothing is left in the index file of what was removed: no word, no posting, no page."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

from rag_engine.indexes.embedded import schema
from rag_engine.indexes.embedded.faults import translate_errors
from rag_engine.indexes.embedded.writer import transaction
from rag_engine.storage import erasing

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_BATCH: Final = 500


def erase(path: Path) -> None:
    """Take out what is derived from chunks that are gone, and write the file anew."""
    with translate_errors(path), closing(schema.opened(path)) as connection:
        schema.configure(connection)
        # A segment keeps the words of what was deleted from it until it is merged.
        connection.execute("INSERT INTO fts(fts) VALUES('optimize')")
        _remove_words(connection)
    erasing.erase(path)


def _remove_words(connection: sqlite3.Connection) -> None:
    """The words that no chunk has any more, some at a time: others write in between."""
    words = [
        word
        for (word,) in connection.execute("SELECT t FROM word WHERE t NOT IN (SELECT term FROM vocabulary)")
    ]
    for start in range(0, len(words), _BATCH):
        with transaction(connection):
            connection.executemany(
                "DELETE FROM word WHERE t = ?1 AND NOT EXISTS (SELECT 1 FROM vocabulary WHERE term = ?1)",
                [(word,) for word in words[start : start + _BATCH]],
            )
