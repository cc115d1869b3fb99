from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.citations.markers.placement import Mark, MarkerPlacement, cited_places
from rag_engine.citations.markers.reasoning_prefix import ReasoningPrefix
from rag_engine.citations.markers.stream_reader import StreamReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftAnswer:
    text: str
    marks: tuple[Mark, ...] = ()
    invalid: int = 0
    dropped: int = 0
    repeated: int = 0
    reasoning: str = ""
    """Never shown."""
    reasoning_shown: int = 0
    """Characters of `text`; if any, set `reasoning_first` for the model's next stream."""


class MarkerStream:
    """Shown text never changes. `[i]` names `passages[i - 1]` and becomes `[n]`, counting places in order of first
    use. At most 64 characters are held back (200 for a tag). `reasoning_first`: the stream starts with hidden
    reasoning.
    """

    def __init__(self, passages: Sequence[Hit], *, reasoning_first: bool = False) -> None:
        self._placement = MarkerPlacement(cited_places(passages))
        self._reader = StreamReader(self._placement)
        self._overture = ReasoningPrefix(reasoning_first=reasoning_first)
        self._text: list[str] = []
        self._closed = False

    def feed(self, text: str) -> str:
        self._reader.feed(self._overture.feed(text))
        return self._shown()

    def close(self) -> str:
        if self._closed:
            return ""
        self._closed = True
        self._reader.feed(self._overture.feed("", closed=True))
        self._reader.close()
        return self._shown()

    @property
    def draft(self) -> DraftAnswer:
        counts = self._placement.counts
        thoughts = (self._overture.reasoning, "".join(self._reader.thoughts).strip())
        return DraftAnswer(
            text="".join(self._text),
            marks=tuple(self._placement.marks),
            invalid=counts.invalid,
            dropped=counts.dropped,
            repeated=counts.repeated,
            reasoning="\n".join(filter(None, thoughts)),
            reasoning_shown=self._reader.reasoning_shown,
        )

    def _shown(self) -> str:
        shown = self._placement.taken()
        if shown:
            self._text.append(shown)
        return shown
