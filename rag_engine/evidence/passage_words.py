"""What passages hold, read once for all wordings of a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.evidence.question import month_forms
from rag_engine.text.analyzer import tokens
from rag_engine.text.chunk_text import searchable_header, searchable_text
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Chunk, ChunkId, Ranking

_POOLED: Final = 40
"""They show how rare a word is."""
LONGEST_READ: Final = 4_000
"""Characters of a passage."""

_Part = tuple["ChunkId", bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Of the rankings of one wording."""

    cosines: Mapping[ChunkId, float]
    lowest: float
    texts: Sequence[str]
    """Case folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    parts: Sequence[str]
    forms: Sequence[frozenset[str]]
    header: frozenset[str]


@dataclass(frozen=True, slots=True)
class PassageWords:
    _pools: dict[tuple[int, ...], Pool] = field(default_factory=dict[tuple[int, ...], Pool])
    _texts: dict[ChunkId, str] = field(default_factory=dict["ChunkId", str])
    _forms: dict[_Part, frozenset[str]] = field(default_factory=dict[_Part, frozenset[str]])
    _sentences: dict[_Part, Sentences] = field(default_factory=dict[_Part, Sentences])
    _months: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def pool(self, rankings: Sequence[Ranking]) -> Pool:
        """`rankings` must outlive this."""
        own = tuple(map(id, rankings))
        if own not in self._pools:
            cosines = {
                hit.chunk.id: hit.score
                for ranking in rankings
                if ranking.leg == "dense"
                for hit in ranking.hits
            }
            chunks = {hit.chunk.id: hit.chunk for ranking in rankings for hit in ranking.hits[:_POOLED]}
            self._pools[own] = Pool(
                cosines=cosines,
                lowest=min(cosines.values(), default=0.0),
                texts=[self._text(chunk) for chunk in chunks.values()],
            )
        return self._pools[own]

    def months(self, text: str) -> frozenset[str]:
        if text not in self._months:
            self._months[text] = month_forms(text)
        return self._months[text]

    def forms(self, chunk: Chunk, *, with_months: bool) -> frozenset[str]:
        place = (chunk.id, with_months)
        if place not in self._forms:
            self._forms[place] = _forms(searchable_text(chunk)[:LONGEST_READ], chunk, with_months)
        return self._forms[place]

    def sentences(self, chunk: Chunk, *, with_months: bool) -> Sentences:
        """Of a table, its lines."""
        place = (chunk.id, with_months)
        if place not in self._sentences:
            self._sentences[place] = _sentences(chunk, with_months)
        return self._sentences[place]

    def _text(self, chunk: Chunk) -> str:
        if chunk.id not in self._texts:
            self._texts[chunk.id] = searchable_text(chunk).casefold()
        return self._texts[chunk.id]


def _sentences(chunk: Chunk, with_months: bool) -> Sentences:
    text = chunk.text[:LONGEST_READ]
    parts = text.split("\n") if chunk.kind == "table" else split_sentences(text)
    header = _forms(searchable_header(chunk.title, chunk.headings), chunk, with_months)
    if chunk.kind == "table" and parts:
        header |= _forms(parts[0], chunk, with_months)
    return Sentences(parts=parts, forms=[_forms(part, chunk, with_months) for part in parts], header=header)


def _forms(text: str, chunk: Chunk, with_months: bool) -> frozenset[str]:
    found = frozenset(tokens(text, language=chunk.language))
    return found | month_forms(text) if with_months else found
