"""Without a model, for a part that a content filter blocked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.citations.quotes import units
from rag_engine.summaries.notes import Note
from rag_engine.summaries.outline import sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk, Hit

_LONGEST = 300


def quoted_notes(hits: Sequence[Hit]) -> Note:
    chunks = [hit.chunk for hit in hits]
    pieces: list[tuple[str, tuple[int, ...]]] = []
    for section in sections(chunks):
        label = f"{section.label}: " if section.label else ""
        pieces.append((f"\n- {label}{_first_sentence(chunks[section.first])}", (section.first,)))
    return Note(pieces=tuple(pieces), quoted=True)


def _first_sentence(chunk: Chunk) -> str:
    said = [" ".join(chunk.text[start : min(end, start + _LONGEST)].split()) for start, end in units(chunk)]
    telling = (sentence for sentence in said if sentence.lstrip("# ") not in chunk.headings)
    return next(telling, said[0] if said else "")
