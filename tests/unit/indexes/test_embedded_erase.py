"""After an erase, no byte of the file holds removed text, also while others have the file open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes import embedded
from rag_engine.ports import IndexIdentity
from rag_engine.text import analyzer
from rag_engine.text.analyzer import query_tokens
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Search

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.types import Vector

BASE = KnowledgeBaseId("base")
IDENTITY = IndexIdentity(model="test", dimensions=8, analyzer=analyzer.VERSION)
SETTINGS = embedded.Settings()
PLANTED = ("jabberwockian", "snickersnee", "the-forgotten-one")


async def put(index: EmbeddedIndex, name: str, *texts: str, base: KnowledgeBaseId = BASE) -> None:
    document = Document(
        id=DocumentId(name), knowledge_base=base, title=name, uri="", media_type="text/plain", digest=""
    )
    vector: Vector = np.full(8, 8**-0.5, dtype=np.float32)
    chunks = [
        Chunk(
            id=ChunkId(f"{name}-{number}"),
            document=document.id,
            knowledge_base=base,
            ordinal=number,
            text=text,
        )
        for number, text in enumerate(texts)
    ]
    await index.put(document, [(chunk, vector) for chunk in chunks])


async def found(index: EmbeddedIndex, word: str) -> int:
    tokens = tuple(query_tokens(word))
    [ranking] = await index.search(
        [Search(leg="lexical", knowledge_bases=frozenset({BASE}), limit=50, tokens=tokens)]
    )
    return len(ranking.hits)


def standing(tmp_path: Path) -> set[str]:
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    return {word for word in PLANTED if word.encode() in content}


async def test_no_word_of_a_document_that_was_dropped_is_left(tmp_path: Path) -> None:
    async with (
        embedded.connect(SETTINGS, data_dir=tmp_path, identity=IDENTITY) as index,
        embedded.connect(SETTINGS, data_dir=tmp_path, identity=IDENTITY) as other,
    ):
        for number in range(40):
            await put(
                index, f"note {number}", *(f"Note {number} tells of topic {part}." for part in range(10))
            )
        await put(index, PLANTED[2], *(f"A jabberwockian snickersnee {part}." for part in range(30)))
        for number in range(40, 60):
            await put(
                index, f"note {number}", *(f"Note {number} tells of topic {part}." for part in range(10))
            )
        assert await found(other, "snickersnee") == 30
        await index.drop(BASE, DocumentId(PLANTED[2]))
        assert standing(tmp_path) == set(PLANTED)
        assert await embedded.erase(SETTINGS, data_dir=tmp_path)
        assert standing(tmp_path) == set()
        for opened in (index, other):
            assert await found(opened, "snickersnee") == 0
            assert await found(opened, "topic") == 50
            assert await opened.count(BASE) == 600
        await put(other, "note 60", "A new note of a topic that is newest.")
        assert await found(index, "newest") == 1


async def test_words_that_others_have_stay(tmp_path: Path) -> None:
    async with embedded.connect(SETTINGS, data_dir=tmp_path, identity=IDENTITY) as index:
        await put(index, "one", "The jabberwockian week.")
        await put(index, "two", "A jabberwockian snickersnee.")
        await index.drop(BASE, DocumentId("two"))
        await embedded.erase(SETTINGS, data_dir=tmp_path)
        assert standing(tmp_path) == {"jabberwockian"}
        assert await found(index, "jabberwockain") == 1, "typing errors are still corrected"


def words(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / SETTINGS.file)) as connection:
        return {word for (word,) in connection.execute("SELECT t FROM word")}


async def test_the_words_of_a_removed_knowledge_base_alone_leave_the_table_of_words(tmp_path: Path) -> None:
    other = KnowledgeBaseId("other")
    async with embedded.connect(SETTINGS, data_dir=tmp_path, identity=IDENTITY) as index:
        await put(index, "one", "A jabberwockian meadow.")
        await put(index, "two", "A snickersnee meadow.", base=other)
    assert words(tmp_path) >= {"jabberwockian", "snickersne", "meadow"}
    async with embedded.connect(SETTINGS, data_dir=tmp_path, identity=IDENTITY) as index:
        await index.drop(other)
        await index.count(BASE)
        await index.drop(BASE, DocumentId("none"))  # the writer's next turn
        assert "snickersne" not in words(tmp_path)
        assert words(tmp_path) >= {"jabberwockian", "meadow"}
        await put(index, "three", "A snickersnee again.")
        assert await found(index, "snickersnee") == 1
        assert await found(index, "snickerznee") == 1


async def test_the_words_of_a_removed_document_leave_when_the_index_is_closed(tmp_path: Path) -> None:
    async with embedded.connect(SETTINGS, data_dir=tmp_path, identity=IDENTITY) as index:
        for number in range(70):
            await put(index, f"note {number}", *(f"Note on topic {part}." for part in range(60)))
        await put(index, "one", "A jabberwockian meadow.")
        for number in range(70, 80):
            await put(index, f"note {number}", *(f"Note on topic {part}." for part in range(60)))
        await index.drop(BASE, DocumentId("one"))
    assert "jabberwockian" not in words(tmp_path)
    assert "topic" in words(tmp_path)
