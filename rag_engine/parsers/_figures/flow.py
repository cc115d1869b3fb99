from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from rag_engine.parsing.figures import is_caption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

Crop: TypeAlias = tuple[float, float, float, float]
"""Shares that are cut off: left, top, right, bottom."""
Span: TypeAlias = tuple[int, int]

WHOLE: Final[Crop] = (0.0, 0.0, 0.0, 0.0)
_MOST_PICTURES: Final = 2_000
_FARTHEST: Final = 600
"""Letters and digits from a quote to its picture."""
_BEGINNING: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPicture:
    """`load` gives its bytes in the format of the file."""

    load: Callable[[], bytes]
    description: str = ""
    crop: Crop = WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowText:
    """`begins`: a heading or slide; no picture belongs to words on its other side."""

    text: str
    begins: bool = False


FlowItem: TypeAlias = FlowText | FlowPicture


@dataclass(slots=True)
class _Placed:
    picture: FlowPicture
    at: int
    part: int
    said: list[Span] = field(default_factory=list[Span])


@dataclass(slots=True)
class _Flow:
    text: str = ""
    placed: list[_Placed] = field(default_factory=list[_Placed])
    parts: list[int] = field(default_factory=lambda: [0])
    """Where each begins."""

    @classmethod
    def of(cls, items: Iterable[FlowItem]) -> Self:
        flow, pieces, length, caption = cls(), list[str](), 0, None
        follows = False
        for item in items:
            plain = plain_text(item.text if isinstance(item, FlowText) else item.description)
            span = (length, length + len(plain))
            if isinstance(item, FlowText):
                if item.begins:
                    flow.parts.append(length)
                if plain:
                    caption = span if is_caption(item.text) else None
                    if follows and caption:
                        flow.placed[-1].said.append(span)
                    follows = False
            elif len(flow.placed) < _MOST_PICTURES:
                said = [one for one in (span if plain else None, caption) if one]
                flow.placed.append(_Placed(item, length, len(flow.parts), said))
                follows = True
            pieces.append(plain)
            length += len(plain)
        flow.text = "".join(pieces)
        return flow

    def found(self, quote: str) -> Span | None:
        plain = plain_text(quote)
        for part in (plain, plain[:_BEGINNING], plain[-_BEGINNING:]):
            at = self.text.find(part) if part else -1
            if at >= 0:
                return at, at + len(part)
        return None

    def part_of(self, at: int) -> int:
        return sum(begins <= at for begins in self.parts)


def chosen(items: Iterable[FlowItem], quotes: Sequence[str]) -> Iterator[FlowPicture]:
    """The one whose description or caption is quoted, then those near the quotes."""
    flow = _Flow.of(items)
    ranked: dict[int, int] = {}
    for span in filter(None, map(flow.found, quotes)):
        for number, one in enumerate(flow.placed):
            distance = _distance(one, span, flow)
            if distance is not None:
                ranked[number] = min(distance, ranked.get(number, distance))
    for number in sorted(ranked, key=lambda number: (ranked[number], number)):
        yield flow.placed[number].picture


def _distance(one: _Placed, quote: Span, flow: _Flow) -> int | None:
    start, end = quote
    if any(start < said_end and said_start < end for said_start, said_end in one.said):
        return -1
    if one.part not in (flow.part_of(start), flow.part_of(end - 1)):
        return None
    distance = max(one.at - end, start - one.at, 0)
    return distance if distance <= _FARTHEST else None


def plain_text(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
