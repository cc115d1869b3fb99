from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.citations.markers.stream import DraftAnswer, MarkerStream
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def hit(
    text: str,
    *,
    document: str = "handbook",
    chunk: str = "",
    rank: int = 1,
    language: str = "en",
    kind: SectionKind = "prose",
) -> Hit:
    return Hit(
        chunk=Chunk(
            id=ChunkId(chunk or f"{document}-{rank}"),
            document=DocumentId(document),
            knowledge_base=KnowledgeBaseId("team"),
            ordinal=rank,
            text=text,
            title=f"{document}.pdf",
            uri=f"file:///{document}.pdf",
            anchor=f"p. {rank}",
            language=language,
            kind=kind,
        ),
        score=1.0 / rank,
        rank=rank,
    )


def numbered(count: int, *, same: Iterable[tuple[int, int]] = ()) -> list[Hit]:
    """`count` passages of different documents; `same` pairs passages (from 1) of one place."""
    places = {later: earlier for earlier, later in same}
    listed: list[Hit] = []
    for number in range(1, count + 1):
        place = places.get(number, number)
        one = hit(f"Passage {number} says {number * 11}.", document=f"d{place}", rank=number)
        listed.append(replace(one, chunk=replace(one.chunk, anchor=f"p. {place}")))
    return listed


def streamed(text: str, passages: Sequence[Hit], *, size: int = 0) -> DraftAnswer:
    """The text as shown when streamed in pieces of `size` characters (0: at once)."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    return in_pieces(pieces, passages)


def in_pieces(
    pieces: Iterable[str], passages: Sequence[Hit], *, reasoning_first: bool = False
) -> DraftAnswer:
    stream = MarkerStream(passages, reasoning_first=reasoning_first)
    shown = "".join([stream.feed(piece) for piece in pieces]) + stream.close()
    assert stream.draft.text == shown
    return stream.draft
