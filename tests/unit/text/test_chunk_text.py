from __future__ import annotations

from rag_engine.text.chunk_text import searchable_header, searchable_text
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId


def chunk(*, title: str = "", headings: tuple[str, ...] = ()) -> Chunk:
    return Chunk(
        id=ChunkId("c"),
        document=DocumentId("d"),
        knowledge_base=KnowledgeBaseId("k"),
        ordinal=0,
        text="Twenty-five days.",
        title=title,
        headings=headings,
    )


def test_title_and_headings_come_before_the_text() -> None:
    made = searchable_text(chunk(title="Handbook", headings=("Leave", "Holidays")))
    assert made == "Handbook\nLeave > Holidays\nTwenty-five days."


def test_what_is_empty_or_repeated_leaves_nothing() -> None:
    assert searchable_text(chunk()) == "Twenty-five days."
    assert searchable_header("Leave", ("Leave", " ", "Holidays", "Holidays")) == "Leave\nHolidays"
