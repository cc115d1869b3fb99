"""Merges scraps, such as a slide's few words, under their common headings."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.types import Section

_SCRAP: Final = 3


def place(section: Section) -> tuple[tuple[str, ...], str]:
    return section.headings, section.anchor


def gathered(
    sections: Iterable[Section], *, weigh: Callable[[str], int], capacity: Callable[[tuple[str, ...]], int]
) -> Iterator[Section]:
    """`capacity` of a chunk under a heading path."""
    pending: list[Section] = []
    weight = 0
    for (headings, anchor), run in groupby(sections, key=place):
        most = capacity(headings)
        read: list[Section] = []
        its_weight = 0
        while its_weight <= most and (section := next(run, None)) is not None:
            read.append(section)
            its_weight += weigh(section.text) if len(section.text) <= most * _SCRAP * _SCRAP else most + 1
        fitting = weight + its_weight <= most and min(weight, its_weight) * _SCRAP < most
        if pending and not (fitting and anchor == pending[0].anchor and _named(pending, read)):
            yield from _together(pending)
            pending, weight = [], 0
        if its_weight > most or not anchor:
            yield from chain(_together(pending), read, run)
            pending, weight = [], 0
            continue
        pending += read
        weight += its_weight
    yield from _together(pending)


def _together(scraps: Sequence[Section]) -> Iterator[Section]:
    common = _common(scraps)
    for section in scraps:
        yield section if section.headings == common else replace(section, headings=common)


def _named(pending: Sequence[Section], read: Sequence[Section]) -> bool:
    scraps = [*pending, *read]
    depth = len(_common(scraps))
    left_out = {heading for section in scraps for heading in section.headings[depth:]}
    text = " ".join(" ".join(section.text.split()) for section in scraps)
    return all(" ".join(heading.split()) in text for heading in left_out)


def _common(sections: Sequence[Section]) -> tuple[str, ...]:
    paths = [section.headings for section in sections]
    common: list[str] = []
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        common.append(level[0])
    return tuple(common)
