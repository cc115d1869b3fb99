from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import StorageUnavailable
from rag_engine.generation.partial_tables import partial_tables_notice
from rag_engine.types import Chunk, ChunkId, Citation, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from rag_engine.types import Vector

BASE, FILE = KnowledgeBaseId("kb"), DocumentId("stock")
SAID = "Only part of the table in stock.csv was read: rows may be missing here."


def _part(ordinal: int, first: int, last: int, *, anchor: str = "", header: str = "Item | Care") -> Chunk:
    rows = [f"kit {row} | dry" for row in range(first, last + 1)]
    return Chunk(
        id=ChunkId(f"c{ordinal}"),
        document=FILE,
        knowledge_base=BASE,
        ordinal=ordinal,
        text="\n".join([header, *rows] if header else rows),
        title="stock.csv",
        anchor=anchor or f"rows {first}–{last}",
        kind="table",
    )


@dataclass
class Stored:
    """The chunks of one document, read as an index reads them."""

    parts: Sequence[Chunk]
    fault: bool = False
    reads: list[int] = field(default_factory=list[int])

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        self.reads.append(start)
        if self.fault:
            raise StorageUnavailable("away")
        return [part for part in self.parts if start <= part.ordinal < start + limit]

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return len(self.parts)

    async def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        raise NotImplementedError
        yield


def _row(part: Chunk, row: int, number: int = 1) -> Citation:
    return Citation(
        number=number,
        title=part.title,
        anchor=f"row {row}",
        uri="",
        quote=f"Item | Care\nkit {row} | dry",
        document=part.document,
        chunk=part.id,
    )


async def _said(
    stored: Stored,
    read: Sequence[Chunk],
    citations: Sequence[Citation],
    *,
    text: str = "",
    **more: frozenset[ChunkId],
) -> str:
    hits = [Hit(chunk=part, score=1.0, rank=rank) for rank, part in enumerate(read, 1)]
    return await partial_tables_notice(text, citations, hits, contents=stored, language="en", **more)


FIRST, SECOND, THIRD = _part(0, 2, 9), _part(1, 10, 17), _part(2, 18, 25)


@pytest.mark.parametrize("part", [FIRST, SECOND, THIRD])
async def test_rows_of_a_part(part: Chunk) -> None:
    row = int(part.anchor.split()[1].split("–")[0])
    stored = Stored([FIRST, SECOND, THIRD])
    assert await _said(stored, [part], [_row(part, row), _row(part, row + 1)]) == SAID


async def test_a_part_between_two_that_were_read() -> None:
    rows = [_row(FIRST, 2), _row(THIRD, 18)]
    assert await _said(Stored([FIRST, SECOND, THIRD]), [FIRST, THIRD], rows) == SAID


async def test_all_of_it_was_read_though_one_part_is_cited() -> None:
    rows = [_row(SECOND, 10), _row(SECOND, 11)]
    assert await _said(Stored([FIRST, SECOND, THIRD]), [THIRD, FIRST, SECOND], rows) == ""


async def test_one_row_is_no_list_and_reads_nothing() -> None:
    stored = Stored([FIRST, SECOND])
    assert await _said(stored, [FIRST], [_row(FIRST, 2), _row(FIRST, 2, number=2)]) == ""
    assert not stored.reads


async def test_a_shortened_passage_is_a_part() -> None:
    rows = [_row(FIRST, 2), _row(FIRST, 3)]
    assert await _said(Stored([FIRST]), [FIRST], rows, shortened=frozenset({FIRST.id})) == SAID


@pytest.mark.parametrize(
    "other",
    [
        _part(1, 2, 9, anchor="Other!A2:B9"),
        _part(1, 40, 47),
        _part(1, 2, 9, anchor="p. 3", header="Name | Room"),
    ],
    ids=["another sheet", "other rows", "another header"],
)
async def test_another_table_follows(other: Chunk) -> None:
    rows = [_row(FIRST, 2), _row(FIRST, 3)]
    assert await _said(Stored([FIRST, other]), [FIRST], rows) == ""


async def test_tables_without_row_numbers_go_on_below_the_same_header() -> None:
    first, second = _part(0, 2, 9, anchor="p. 3"), _part(1, 10, 17, anchor="p. 3")
    assert await _said(Stored([first, second]), [first], [_row(first, 2), _row(first, 3)]) == SAID


async def test_what_the_answer_says_is_not_said_again() -> None:
    rows = [_row(FIRST, 2), _row(FIRST, 3)]
    text = "Kits. Not all rows that fit are quoted here."
    assert await _said(Stored([FIRST, SECOND]), [FIRST], rows, text=text) == ""


async def test_an_index_that_does_not_answer_takes_nothing_from_the_answer() -> None:
    rows = [_row(FIRST, 2), _row(FIRST, 3)]
    assert await _said(Stored([FIRST, SECOND], fault=True), [FIRST], rows) == ""
