"""Raw model text in, in pieces; clean text with numbered markers out. What was shown never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.citations.placement import Mark, Placement
from rag_engine.citations.reader import Reader
from rag_engine.citations.reasoning import Overture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer as it was streamed, with its markers and what became of them."""

    text: str
    marks: tuple[Mark, ...] = ()
    invalid: int = 0
    dropped: int = 0
    repeated: int = 0
    reasoning: str = ""
    """What the model thought before it answered, never shown."""
    reasoning_shown: int = 0
    """How much of `text`, from its start, proved to be reasoning only after it was shown: 0 but for models that do not
    announce it. Say `reasoning_first` to the next stream of such a model."""


class MarkerStream:
    """Turns what a model writes into what a person reads: `feed` its pieces, then `close`.

    Each call returns text to append to what was shown; together they are the same however the stream was cut. Markers of
    every form become `[n]`, n counting documents in order of first use; `[i]` in the stream names `passages[i - 1]`. At most
    64 characters are held back (200 for a tag), but for reasoning, and a start that reads like thinking aloud.

    `reasoning_first` says that this model begins with its reasoning without announcing it: nothing is shown before its end.
    """

    def __init__(self, passages: Sequence[Hit], *, reasoning_first: bool = False) -> None:
        self._placement = Placement([hit.chunk.document for hit in passages])
        self._reader = Reader(self._placement)
        self._overture = Overture(reasoning_first=reasoning_first)
        self._text: list[str] = []
        self._closed = False

    def feed(self, text: str) -> str:
        """What more may be shown, now that `text` has come."""
        self._reader.feed(self._overture.feed(text))
        return self._shown()

    def close(self) -> str:
        """The rest, now that nothing more comes. Right also after a stream that broke off; a second time it is empty."""
        if self._closed:
            return ""
        self._closed = True
        self._reader.feed(self._overture.feed("", closed=True))
        self._reader.close()
        return self._shown()

    @property
    def draft(self) -> Draft:
        """The text shown so far, with its markers and counts; whole after `close`."""
        counts = self._placement.counts
        thoughts = (self._overture.reasoning, "".join(self._reader.thoughts).strip())
        return Draft(
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
