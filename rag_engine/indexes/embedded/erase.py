from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from rag_engine.indexes.embedded.database import schema
from rag_engine.indexes.embedded.database.schema import read_number, write
from rag_engine.indexes.embedded.database.writer import transaction
from rag_engine.indexes.embedded.errors import translate_errors
from rag_engine.indexes.embedded.postings import compaction
from rag_engine.indexes.embedded.postings.spelling_words import remove_unused
from rag_engine.storage.sqlite.erase import erase

if TYPE_CHECKING:
    from pathlib import Path


def erase_index(path: Path) -> None:
    with translate_errors(path), closing(schema.opened(path)) as connection:
        schema.configure(connection)
        with transaction(connection):
            compaction.rewrite(connection)
            version = read_number(connection, "version") + 1
            write(connection, "version", version)
            # Earlier versions did not record removals.
            write(connection, "removed_at", version)
        remove_unused(connection)
    erase(path)
