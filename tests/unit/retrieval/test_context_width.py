"""Which passages are read beside the best ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.retrieval.context_width import Context, LoadedDocument, widened
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def chunks(name: str, count: int, *, headings: Mapping[int, str] | None = None) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(
            id=ChunkId(f"{name}{ordinal}"),
            document=DocumentId(name),
            knowledge_base=KnowledgeBaseId("kb"),
            ordinal=ordinal,
            text=f"Text {ordinal} of {name}.",
            title=f"{name}.md",
            headings=((headings or {}).get(ordinal, ""),),
        )
        for ordinal in range(count)
    )


def whole(name: str, count: int) -> LoadedDocument:
    return LoadedDocument(chunks=chunks(name, count), is_whole=True)


def hit(name: str, ordinal: int, *, rank: int, score: float | None = None) -> Hit:
    return Hit(chunk=chunks(name, ordinal + 1)[ordinal], score=score or 1 / rank, rank=rank)


def ids(context: Context | None) -> list[str]:
    assert context is not None
    return [each.chunk.id for each in context.hits]


def wide(
    best: Sequence[Hit],
    documents: Mapping[str, LoadedDocument],
    *,
    room: int,
    further: Sequence[Hit] = (),
    weak: float = 0.5,
) -> Context | None:
    known = {DocumentId(name): document for name, document in documents.items()}
    return widened(best, further, known, room=room, weigh=lambda _: 10, weak=weak)


def test_documents_that_fit_are_read_whole_by_title_and_in_their_order() -> None:
    best = (hit("zoo", 2, rank=1), hit("ant", 0, rank=2))
    context = wide(best, {"zoo": whole("zoo", 4), "ant": whole("ant", 2)}, room=60)
    assert ids(context) == ["ant0", "ant1", "zoo0", "zoo1", "zoo2", "zoo3"]
    assert context is not None
    assert context.whole == ("ant", "zoo")
    assert [each.rank for each in context.hits] == [2, 0, 0, 0, 1, 0]
    turned = (hit("ant", 1, rank=1), hit("zoo", 0, rank=2))
    assert ids(wide(turned, {"zoo": whole("zoo", 4), "ant": whole("ant", 2)}, room=60)) == ids(context)


def test_one_token_too_few_and_neighbours_come_first() -> None:
    best = (hit("zoo", 2, rank=1), hit("ant", 0, rank=2))
    context = wide(best, {"zoo": whole("zoo", 5), "ant": whole("ant", 2)}, room=69)
    assert ids(context)[:5] == ["zoo2", "ant0", "zoo1", "zoo3", "ant1"]
    assert len(ids(context)) == 5


def test_what_a_small_window_holds_is_not_widened() -> None:
    best = (hit("zoo", 2, rank=1), hit("ant", 0, rank=2))
    documents = {"zoo": whole("zoo", 4), "ant": whole("ant", 2)}
    assert wide(best, documents, room=19) is None
    assert wide(best, documents, room=20) is None


def test_a_neighbour_under_other_headings_is_another_section() -> None:
    parts = chunks("book", 5, headings={0: "One", 1: "One", 2: "Two", 3: "Two", 4: "Three"})
    best = (Hit(chunk=parts[2], score=1.0, rank=1),)
    document = LoadedDocument(chunks=parts, is_whole=False)
    assert ids(wide(best, {"book": document}, room=1_000)) == ["book2", "book3"]


def test_further_hits_are_added_if_they_are_strong() -> None:
    best = (hit("a", 0, rank=1, score=0.8),)
    further = (hit("b", 0, rank=2, score=0.4), hit("c", 0, rank=3, score=0.39))
    context = wide(best, {}, room=1_000, further=further)
    assert ids(context) == ["a0", "b0"]
    assert context is not None
    assert context.left_out == 1


def test_a_document_takes_no_room_from_further_hits() -> None:
    best = (hit("a", 0, rank=1, score=0.8), hit("b", 0, rank=2, score=0.7))
    further = tuple(hit(f"f{number}", 0, rank=3 + number, score=0.6) for number in range(3))
    part = LoadedDocument(chunks=chunks("b", 1), is_whole=False)
    context = wide(best, {"a": whole("a", 6), "b": part}, room=80, further=further)
    assert ids(context) == ["a0", "b0", "a1", "f00", "f10", "f20"]


def test_a_document_that_changed_meanwhile_keeps_the_hits_that_were_found() -> None:
    best = (hit("a", 7, rank=1),)
    context = wide(best, {"a": whole("a", 3)}, room=1_000)
    assert ids(context)[0] == "a7"
