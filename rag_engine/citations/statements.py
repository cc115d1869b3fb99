from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.citations.claims import blocks, claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.citations.markers.placement import Mark

LONGEST_STATEMENT: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`words` lack the markers."""

    start: int
    end: int
    insertion: int
    """Where a sign about the whole statement goes."""
    words: str
    passages: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()
    states: bool = True
    is_line: bool = False
    """A row of a table, or a line without a claim of its own."""


def statements(text: str, marks: Sequence[Mark]) -> list[Statement]:
    """Each marker refers to its sentence, else to its row or line."""
    found: list[Statement] = []
    waiting = list(reversed(list(enumerate(marks))))
    for claim in claims(text):
        while waiting and waiting[-1][1].end <= claim.start:
            found.append(_line(text, *waiting.pop()))
        inside: list[tuple[int, Mark]] = []
        while waiting and waiting[-1][1].end <= claim.end:
            inside.append(waiting.pop())
        if claim.kind == "table" and inside:
            found.extend(_line(text, at, mark) for at, mark in inside)
            continue
        own = [mark for _, mark in inside]
        words, below_table = _without(text, claim.start, claim.end, own), False
        if inside and not words.strip():
            words, below_table = _block_above(text, claim.start)
        found.append(
            Statement(
                start=claim.start,
                end=claim.end,
                insertion=claim.insertion,
                words=words,
                passages=tuple(dict.fromkeys(passage for mark in own for passage in mark.passages)),
                marks=tuple(at for at, _ in inside),
                states=not below_table and (claim.states or bool(inside)),
            )
        )
    found.extend(_line(text, at, mark) for at, mark in reversed(waiting))
    return found


def _line(text: str, at: int, mark: Mark) -> Statement:
    start = text.rfind("\n", 0, mark.start) + 1
    end = text.find("\n", mark.end)
    end = end if end >= 0 else len(text)
    words = text[start : mark.start] + text[mark.end : end]
    return Statement(
        start=start,
        end=end,
        insertion=mark.start,
        words=words[:LONGEST_STATEMENT],
        passages=mark.passages,
        marks=(at,),
        is_line=True,
    )


def _without(text: str, start: int, end: int, marks: Sequence[Mark]) -> str:
    kept: list[str] = []
    for mark in marks:
        kept.append(text[start : max(start, mark.start)])
        start = mark.end
    return "".join((*kept, text[start:end]))


def _block_above(text: str, end: int) -> tuple[str, bool]:
    above = list(blocks(text[:end]))
    kind, start, last = above[-1] if above else ("prose", 0, 0)
    lines = text[start:last].rstrip().split("\n")
    shown = lines[1:-1] if kind == "code" else lines if kind == "table" else []
    return "\n".join(shown)[:LONGEST_STATEMENT], kind == "table"
