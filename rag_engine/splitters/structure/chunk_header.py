from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.splitters.structure.pieces import CHARACTERS_PER_TOKEN
from rag_engine.text.chunk_text import searchable_header

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounter:
    """`overhead`: the tokens of an empty text."""

    count: Callable[[str], int]
    overhead: int
    limit: int

    def weigh(self, text: str) -> int:
        least = -(-len(text) // CHARACTERS_PER_TOKEN)
        return least if text.isspace() else max(least, self.count(text) - self.overhead)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkHeader:
    title: str
    headings: tuple[str, ...]
    header: str
    capacity: int


def frame(title: str, headings: tuple[str, ...], counter: TokenCounter) -> ChunkHeader:
    """Together at most a third of the limit."""
    allowance = counter.limit // 3
    if _too_long(title, headings, allowance, counter):
        title = _shortened(title, allowance // 2, counter)
    while len(headings) > 1 and _too_long(title, headings, allowance, counter):
        headings = headings[1:]
    if headings and _too_long(title, headings, allowance, counter):
        headings = (_shortened(headings[0], allowance // 2, counter),)
    header = searchable_header(title, headings)
    header = f"{header}\n" if header else ""
    return ChunkHeader(
        title=title, headings=headings, header=header, capacity=counter.limit - counter.count(header)
    )


def _too_long(title: str, headings: Sequence[str], tokens: int, counter: TokenCounter) -> bool:
    header = searchable_header(title, headings)
    return len(header) > tokens * CHARACTERS_PER_TOKEN or counter.weigh(header) > tokens


def _shortened(text: str, tokens: int, counter: TokenCounter) -> str:
    cut = text[: tokens * CHARACTERS_PER_TOKEN]
    while counter.weigh(cut) > tokens - 1 and len(cut) > 1:
        cut = cut[: len(cut) * 3 // 4]
    return text if cut == text else f"{cut.rstrip()}…"
