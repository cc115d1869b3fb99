"""What stands above the text of every chunk of a group, and what that leaves for the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.searchable import searchable_header
from rag_engine.splitters.structure.pieces import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounter:
    """The embedder's tokenizer with its limit; `overhead` is what an empty text takes: special tokens and prefix."""

    count: Callable[[str], int]
    overhead: int
    limit: int

    def weigh(self, text: str) -> int:
        least = -(-len(text) // CHARACTERS_PER_TOKEN)
        return least if text.isspace() else max(least, self.count(text) - self.overhead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands above the text of every chunk of a group, and how many tokens that leaves for the text."""

    title: str
    headings: tuple[str, ...]
    header: str
    capacity: int


def frame(title: str, headings: tuple[str, ...], counter: TokenCounter) -> Frame:
    """The frame for a title and heading path, which together get a third of the limit at the most."""
    allowance = counter.limit // 3
    if _too_long(title, headings, allowance, counter):
        title = _shortened(title, allowance // 2, counter)
    while len(headings) > 1 and _too_long(title, headings, allowance, counter):
        headings = headings[1:]
    if headings and _too_long(title, headings, allowance, counter):
        headings = (_shortened(headings[0], allowance // 2, counter),)
    header = searchable_header(title, headings)
    header = f"{header}\n" if header else ""
    return Frame(
        title=title, headings=headings, header=header, capacity=counter.limit - counter.count(header)
    )


def _too_long(title: str, headings: Sequence[str], tokens: int, counter: TokenCounter) -> bool:
    header = searchable_header(title, headings)
    return len(header) > tokens * CHARACTERS_PER_TOKEN or counter.weigh(header) > tokens


def _shortened(text: str, tokens: int, counter: TokenCounter) -> str:
    """The text if it has no more than so many tokens, else its beginning with an ellipsis."""
    cut = text[: tokens * CHARACTERS_PER_TOKEN]
    while counter.weigh(cut) > tokens - 1 and len(cut) > 1:
        cut = cut[: len(cut) * 3 // 4]
    return text if cut == text else f"{cut.rstrip()}…"
