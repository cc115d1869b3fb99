from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.citations.markers.placement import MOST_MARKERS, CitationNumbering, Mark, cited_places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.citations.statements import Statement
    from rag_engine.citations.verification import SupportVerdict
    from rag_engine.types import Hit

UNSUPPORTED: Final = "⚠"
GENERAL: Final = "°"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    text: str
    marks: tuple[Mark, ...]
    signs: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    passages: tuple[int, ...] = ()
    words: str = ""


def corrected(
    text: str,
    marks: Sequence[Mark],
    checked: Sequence[tuple[Statement, SupportVerdict]],
    passages: Sequence[Hit],
    *,
    unheld: str,
) -> Corrected:
    """`unheld`: the sign beside an unsupported statement; "" for none."""
    edits = {at: _Edit(mark.start, mark.end, mark.passages) for at, mark in enumerate(marks)}
    added: list[_Edit] = []
    for statement, verdict in checked:
        if verdict.passages != statement.passages:
            for place, at in enumerate(statement.marks):
                mark = marks[at]
                edits[at] = _Edit(mark.start, mark.end, verdict.passages if place == 0 else ())
        if verdict.state == "unheld":
            added += _sign(text, statement, unheld)
        elif verdict.words:
            added += _beside(text, statement, verdict)
    ordered = sorted((*edits.values(), *added), key=lambda edit: (edit.start, edit.end))
    return _rewritten(text, ordered, passages)


def _sign(text: str, statement: Statement, sign: str) -> Iterator[_Edit]:
    if sign:
        lead = (
            "\n\n"
            if "\n" in text[statement.start : statement.end].strip() and "|" in statement.words
            else " "
        )
        yield _Edit(statement.insertion, statement.insertion, words=f"{lead}{sign}")


def _beside(text: str, statement: Statement, verdict: SupportVerdict) -> Iterator[_Edit]:
    for words in verdict.words:
        at = text.find(words, statement.start, statement.end)
        end = at + len(words) if at >= 0 else statement.insertion
        yield _Edit(end, end, words=f" {UNSUPPORTED}")


def _rewritten(text: str, edits: Sequence[_Edit], passages: Sequence[Hit]) -> Corrected:
    numbering = CitationNumbering(cited_places(passages))
    pieces: list[str] = []
    marks: list[Mark] = []
    signs: set[str] = set()
    length = reached = 0

    def put(piece: str) -> None:
        nonlocal length
        pieces.append(piece)
        length += len(piece)

    for edit in edits:
        if edit.start < reached:
            continue
        put(text[reached : edit.start])
        reached = edit.end
        if edit.words:
            put(edit.words)
            signs.add(edit.words.strip())
        numbered: dict[int, list[int]] = {}
        for passage in edit.passages:
            if len(numbered) < MOST_MARKERS or numbering.peek(passage) in numbered:
                numbered.setdefault(numbering.take(passage), []).append(passage)
        replaced = text[edit.start : edit.end]
        lead = replaced[: len(replaced) - len(replaced.lstrip())]
        for number, cited in numbered.items():
            start = length
            put(f"{lead}[{number}]")
            marks.append(Mark(start=start, end=length, number=number, passages=tuple(cited)))
            lead = ""
    put(text[reached:])
    return Corrected(text="".join(pieces), marks=tuple(marks), signs=frozenset(signs))
