"""What writing a document to the embedded index needs in memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.indexes.embedded.database.rows import row_of
from rag_engine.indexes.embedded.database.schema import configure, opened, prepare
from rag_engine.indexes.embedded.database.writer import KnownTokens, NewDocument, replace_documents
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId
from tests.faults.put_documents import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.database.rows import IndexRow

_BASE, _DOCUMENT = KnowledgeBaseId("base"), DocumentId("document")
_WORDS = 10_000


def _slices(count: int) -> Iterator[tuple[list[IndexRow], NDArray[np.float32]]]:
    for number in range(count):
        chunk = Chunk(
            id=ChunkId(str(number)), document=_DOCUMENT, knowledge_base=_BASE, ordinal=number, text="A text."
        )
        words = {f"{number}-{place}-word" for place in range(_WORDS)}
        yield [replace(row_of(chunk), tokens=words)], np.ones((1, IDENTITY.dimensions), dtype=np.float32)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_distinct_words_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    connection = opened(path)
    configure(connection)
    prepare(connection, path, IDENTITY)
    known = KnownTokens()
    tracemalloc.start()
    document = NewDocument(knowledge_base=_BASE, document=_DOCUMENT, slices=_slices(20))
    replace_documents(connection, [document], known)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    connection.close()
    # 200,000 words of which 50,000 are kept.
    assert most < 10_000_000
