from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk, Hit

_SHEET = re.compile(r"(.+)![A-Z]{1,3}\d+(?::[A-Z]{1,3}\d+)?$")
_RANGE = re.compile(r"(?:rows?|lines?) \d+(?:[–-]\d+)?$|\d\d:\d\d.*")

_Key: TypeAlias = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineSection:
    """Consecutive chunks under one heading or at one place; indices from 0."""

    label: str
    """Its heading, else its place; may be empty."""
    first: int
    last: int
    title: str = ""

    @property
    def size(self) -> int:
        return self.last - self.first + 1


def sections(chunks: Sequence[Chunk]) -> list[OutlineSection]:
    return _grouped(chunks, max((len(chunk.headings) for chunk in chunks), default=0))


def outline(chunks: Sequence[Chunk], *, most: int) -> list[OutlineSection]:
    depth = max((len(chunk.headings) for chunk in chunks), default=0)
    found = _grouped(chunks, depth)
    while len(found) > most and depth > 1:
        depth -= 1
        broader = _grouped(chunks, depth)
        if 2 * len(broader) < most:
            break
        found = broader
    return found if len(found) <= most else _joined(found, most)


def representative(hits: Sequence[Hit], *, most: int) -> tuple[Hit, ...]:
    """In order: the beginning of every section, then others spread evenly."""
    if len(hits) <= most:
        return tuple(hits)
    firsts = [section.first for section in sections([hit.chunk for hit in hits])]
    kept = set(_spread(firsts, most))
    others = [number for number in range(len(hits)) if number not in kept]
    kept.update(_spread(others, most - len(kept)))
    return tuple(hits[number] for number in sorted(kept))


def _spread(numbers: Sequence[int], most: int) -> Sequence[int]:
    if len(numbers) <= most:
        return numbers
    return [numbers[place * len(numbers) // most] for place in range(most)]


def _grouped(chunks: Sequence[Chunk], depth: int) -> list[OutlineSection]:
    found: list[OutlineSection] = []
    for (document, path), run in groupby(enumerate(chunks), key=lambda item: _key(item[1], depth)):
        members = [number for number, _ in run]
        title = chunks[members[0]].title or document
        found.append(
            OutlineSection(label=path[-1] if path else "", first=members[0], last=members[-1], title=title)
        )
    return found


def _key(chunk: Chunk, depth: int) -> _Key:
    headings = tuple(heading for heading in chunk.headings[: max(depth, 1)] if heading)
    if headings:
        return chunk.document, headings
    if sheet := _SHEET.match(chunk.anchor):
        return chunk.document, (sheet[1],)
    return chunk.document, () if not chunk.anchor or _RANGE.match(chunk.anchor) else (chunk.anchor,)


def _joined(found: Sequence[OutlineSection], most: int) -> list[OutlineSection]:
    documents = [list(run) for _, run in groupby(found, key=lambda section: section.title)]
    shares = _shares([len(run) for run in documents], max(most, len(documents)))
    return [
        _as_one(run[number * len(run) // share : (number + 1) * len(run) // share])
        for run, share in zip(documents, shares, strict=True)
        for number in range(share)
    ]


def _shares(sizes: Sequence[int], of: int) -> list[int]:
    shares = [max(1, min(size, round(of * size / sum(sizes)))) for size in sizes]
    while sum(shares) > of and max(shares) > 1:
        shares[shares.index(max(shares))] -= 1
    return shares


def _as_one(run: Sequence[OutlineSection]) -> OutlineSection:
    first, last = run[0], run[-1]
    label = first.label if first.label == last.label else f"{first.label} – {last.label}".strip(" –")
    return OutlineSection(label=label, first=first.first, last=last.last, title=first.title)
