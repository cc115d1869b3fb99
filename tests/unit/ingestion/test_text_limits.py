"""Text beyond the limits of a document or a message is refused, and nothing of it is stored."""

from __future__ import annotations

import asyncio
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.embedders.hashing import HashingEmbedder
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.ingestion.spool import passage_spool, section_spool
from rag_engine.ingestion.text_limits import MessageText, TextLimits
from rag_engine.splitters.structure import Settings, build
from rag_engine.types import Chunk, ChunkId, Section
from tests.unit.ingestion.world import ListedIndex, World, long_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

    from rag_engine.ingestion.ingestion import Parse
    from rag_engine.types import Blob, Document, Matrix, Side, Vector


def limited(world: World, *, characters: int = 1_000_000, passages: int = 1_000_000) -> Ingestion:
    return Ingestion(
        parse=world.parser.parse,
        splitter=build(
            Settings(), count_tokens=world.embedder.count_tokens, max_tokens=world.embedder.max_tokens
        ),
        embedder=world.embedder,
        index=world.index,
        catalog=world.catalog,
        limits=TextLimits(characters=characters, passages=passages),
    )


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"characters": 3_000}, "long.txt has more than 3,000 characters, the most that is read;"),
        ({"passages": 5}, "long.txt becomes more than 5 passages, the most that is read;"),
    ],
)
async def test_a_document_over_a_limit_leaves_one_sentence_and_nothing_else(
    world: World, limits: dict[str, int], sentence: str
) -> None:
    blob = await world.blob("long.txt", long_text("Leave"))
    record = (await limited(world, **limits).ingest(blob, knowledge_base=world.base)).record
    assert (record.state, record.chunks) == ("failed", 0)
    assert record.reason.startswith(sentence)
    assert not world.index.documents
    assert not await world.catalog.sections(record.document.id)
    assert not await world.catalog.unfinished.reading(record.document)


async def test_passages_are_counted_before_they_are_embedded(world: World) -> None:
    """The embedder is stuck until the limit is reached."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    embedded = 0

    class Patient(Constant):
        async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
            nonlocal embedded
            embedded += len(texts)
            await over.wait()
            return await super().embed(texts, side=side)

    def counted(document: Document, sections: Iterable[Section]) -> Iterator[Chunk]:
        for number, chunk in enumerate(one_each(document, sections)):
            if number == 1_200:
                loop.call_soon_threadsafe(over.set)
            yield chunk

    async def parse(blob: Blob) -> AsyncIterator[list[Section]]:
        yield [Section(text=f"passage {number}") for number in range(1_500)]

    ingestion = Ingestion(
        parse=parse,
        splitter=counted,
        embedder=Patient(dimensions=8, max_tokens=512),
        index=world.index,
        catalog=world.catalog,
        limits=TextLimits(passages=1_200),
    )
    async with asyncio.timeout(30):
        record = (
            await ingestion.ingest(await world.blob("long.txt", "text"), knowledge_base=world.base)
        ).record
    assert record.state == "failed"
    assert record.reason.startswith("long.txt becomes more than 1,200 passages")
    assert embedded < 600


async def test_passages_without_letters_and_digits_are_not_indexed(world: World) -> None:
    async def parse(blob: Blob) -> AsyncIterator[list[Section]]:
        yield [Section(text=text) for text in ("[[[[[[", "7", "— · —", "漢字", "]]]]]]")]

    def ingestion_of(parse: Parse) -> Ingestion:
        return Ingestion(
            parse=parse,
            splitter=one_each,
            embedder=Constant(dimensions=8, max_tokens=512),
            index=world.index,
            catalog=world.catalog,
        )

    blob = await world.blob("signs.txt", "signs")
    record = (await ingestion_of(parse).ingest(blob, knowledge_base=world.base)).record
    assert (record.state, record.chunks) == ("ready", 2)
    assert world.index.text(record.document.id) == "7 漢字"

    async def brackets(blob: Blob) -> AsyncIterator[list[Section]]:
        yield [Section(text="[" * 500)]

    blob = await world.blob("deep.json", "brackets")
    record = (await ingestion_of(brackets).ingest(blob, knowledge_base=world.base)).record
    assert (record.state, record.reason) == (
        "failed",
        "deep.json has no text in it, so there is nothing to search.",
    )


async def test_very_many_tiny_sections_count_for_more_than_their_letters(world: World) -> None:
    blob = await world.blob("tiny.txt", "a\n\n" * 2_000)
    record = (await limited(world, characters=50_000).ingest(blob, knowledge_base=world.base)).record
    assert record.state == "failed"


async def test_the_files_of_a_message_share_a_limit_and_a_refused_one_costs_nothing(world: World) -> None:
    ingestion = limited(world, characters=30_000)
    message = MessageText(TextLimits(characters=30_000, passages=1_000))
    states: list[str] = []
    for name, pages in (("a.txt", 3), ("b.txt", 30), ("c.txt", 3), ("d.txt", 3)):
        blob = await world.blob(name, long_text(name, pages=pages))
        outcome = await ingestion.ingest(blob, knowledge_base=world.base, message=message)
        states.append(outcome.record.state)
    assert states == ["ready", "failed", "ready", "failed"]
    assert "the files of one message may have 30,000 characters" in (await world.record("d.txt")).reason


class CountingIndex(ListedIndex):
    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        self.puts += sum(1 for _ in chunks)


class Constant(HashingEmbedder):
    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        return np.ones((len(texts), 8), dtype=np.float32)


def one_each(document: Document, sections: Iterable[Section]) -> Iterator[Chunk]:
    for ordinal, section in enumerate(sections):
        identity = ChunkId(str(ordinal))
        base = document.knowledge_base
        yield Chunk(
            id=identity, document=document.id, knowledge_base=base, ordinal=ordinal, text=section.text
        )


@pytest.mark.slow
async def test_memory_does_not_grow_with_the_document(world: World) -> None:
    """Neither what is read ahead nor the passages with their vectors are in memory."""

    async def peak(count: int) -> int:
        async def parse(blob: Blob) -> AsyncIterator[list[Section]]:
            for number in range(count):
                yield [Section(text=f"{number:08} " * 2_000)]

        index = CountingIndex()
        ingestion = Ingestion(
            parse=parse,
            splitter=one_each,
            embedder=Constant(dimensions=8, max_tokens=512),
            index=index,
            catalog=world.catalog,
        )
        blob = await world.blob(f"{count}.txt", str(count))
        tracemalloc.start()
        record = (await ingestion.ingest(blob, knowledge_base=world.base)).record
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (record.state, index.puts) == ("ready", count)
        return most

    few = await peak(200)
    # 800 times 18,000 letters more.
    assert await peak(1_000) - few < 3_000_000


def test_a_spool_is_a_sequence_that_can_be_read_again() -> None:
    sections = [
        Section(text=f"{number} \ud800 é " * 2_000, anchor=f"p. {number}", headings=("A", "b\n"), kind="list")
        for number in range(200)
    ]
    with section_spool(None) as spool, passage_spool(None) as empty:
        for start in range(0, 200, 7):
            spool.extend(sections[start : start + 7])
        assert list(spool) == list(spool) == sections
        assert (len(spool), spool[3], spool[-1]) == (200, sections[3], sections[-1])
        assert spool[10:20] == sections[10:20]
        assert spool[10:20:3] == sections[10:20:3]
        assert not empty
        assert list(empty) == []
