"""What every `IndexContents` gives back of one document."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rag_engine.types import DocumentId
from tests.contracts.indexing import base, chunk, document, put, vector

if TYPE_CHECKING:
    from rag_engine.types import Chunk
    from tests.contracts.indexing import StoredIndex


async def read(index: StoredIndex, name: str, *, of: str = "kb", limit: int = 10_000) -> list[Chunk]:
    return await index.chunks(base(of), DocumentId(name), limit=limit)


async def test_its_chunks_come_in_their_order_and_no_others(index: StoredIndex) -> None:
    of = document("report.pdf")
    chunks = [chunk(of, f"Passage {number}.", ordinal=number) for number in range(12)]
    await index.put(of, [(each, vector(each.ordinal)) for each in reversed(chunks)])
    await put(index, document("report.pdf2"), "Another document.")
    assert await read(index, "report.pdf") == chunks


async def test_at_most_as_many_as_are_asked_for_the_first_ones(index: StoredIndex) -> None:
    await put(index, document("long.txt"), *(f"Line {number}." for number in range(2_100)))
    assert [each.ordinal for each in await read(index, "long.txt", limit=3)] == [0, 1, 2]
    assert [each.ordinal for each in await read(index, "long.txt", limit=1_000)] == list(range(1_000))
    assert [each.ordinal for each in await read(index, "long.txt")] == list(range(2_100))


async def test_a_part_begins_where_it_is_asked_to(index: StoredIndex) -> None:
    of = document("long.txt")
    await put(index, of, *(f"Line {number}." for number in range(40)))
    part = await index.chunks(of.knowledge_base, of.id, limit=3, start=7)
    assert [each.ordinal for each in part] == [7, 8, 9]
    assert [each.ordinal for each in await index.chunks(of.knowledge_base, of.id, limit=9, start=38)] == [
        38,
        39,
    ]
    assert await index.chunks(of.knowledge_base, of.id, limit=9, start=40) == []


async def test_a_document_of_another_knowledge_base_has_none(index: StoredIndex) -> None:
    await put(index, document("plan.md", knowledge_base="board"), "The secret plan.")
    await put(index, document("menu.md"), "Soup.")
    assert await read(index, "plan.md") == []
    assert await read(index, "plan.md", of="nobody") == []
    assert [each.text for each in await read(index, "plan.md", of="board")] == ["The secret plan."]


async def test_a_replaced_document_is_the_new_one_and_a_removed_one_is_gone(index: StoredIndex) -> None:
    of = document("rules.txt")
    await put(index, of, "Old one.", "Old two.", "Old three.")
    await put(index, of, "New one.")
    assert [each.text for each in await read(index, "rules.txt")] == ["New one."]
    await index.drop(of.knowledge_base, of.id)
    assert await read(index, "rules.txt") == []


async def test_while_it_is_replaced_it_is_one_version_or_the_other(index: StoredIndex) -> None:
    of = document("rules.txt")
    versions = [[f"{version} {number}" for number in range(30)] for version in ("even", "odd")]
    await put(index, of, *versions[0])
    done = asyncio.Event()

    async def replace() -> None:
        for version in (*reversed(versions), *reversed(versions)):
            await put(index, of, *version)
        done.set()

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(replace())
        while not done.is_set():
            assert [each.text for each in await read(index, "rules.txt")] in versions
