"""Adjacent scraps are merged; headings and introductions stay with what follows; numbered lines have exact anchors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from rag_engine.splitters.structure import Settings, build
from rag_engine.types import Section, SectionKind
from tests.unit.splitters.documents import DOCUMENT, sentences, split, words

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(*names: str, anchor: str = "p. 2", outer: str = "Figures") -> list[Section]:
    """Headings with a number each, as a page of figures is read."""
    return [
        Section(text=text, anchor=anchor, headings=(outer, name))
        for name in names
        for text in (name, f"{len(name)} million")
    ]


def test_scraps_of_a_page_are_one_passage_under_the_heading_they_have_in_common() -> None:
    chunks = split(*figures("Revenue", "Profit", "Exports"), limit=100)
    assert [(chunk.headings, chunk.anchor) for chunk in chunks] == [(("Figures",), "p. 2")]
    assert chunks[0].text == "Revenue\n\n7 million\n\nProfit\n\n6 million\n\nExports\n\n7 million"


def test_scraps_of_two_pages_stay_apart() -> None:
    chunks = split(*figures("Revenue"), *figures("Profit", anchor="p. 3"), limit=100)
    assert [chunk.anchor for chunk in chunks] == ["p. 2", "p. 3"]


def test_what_has_no_place_or_another_one_under_each_heading_keeps_its_headings() -> None:
    for anchors in (("", ""), ("§ Revenue", "§ Profit")):
        sections = [
            Section(text=f"{name} is told.", anchor=anchor, headings=(name,))
            for name, anchor in zip(("Revenue", "Profit"), anchors, strict=True)
        ]
        assert [chunk.headings for chunk in split(*sections)] == [("Revenue",), ("Profit",)]


def test_headings_that_the_text_does_not_say_are_not_lost() -> None:
    sections = [
        Section(text="7 million", anchor="slide 4", headings=(name,)) for name in ("Revenue", "Profit")
    ]
    assert [chunk.headings for chunk in split(*sections)] == [("Revenue",), ("Profit",)]


def test_full_sections_stay_apart_and_only_scraps_join_them() -> None:
    full = sentences(5)
    sections = [
        Section(text=f"{name}. {full}", anchor="p. 1", headings=(name,)) for name in ("One", "Two", "Three")
    ]
    assert [chunk.headings for chunk in split(*sections, limit=100)] == [("One",), ("Two",), ("Three",)]


def test_a_long_section_behind_scraps_is_not_held_back() -> None:
    read: list[int] = []

    def sections() -> Iterator[Section]:
        yield from figures("Revenue")
        for number in range(2_000):
            read.append(number)
            yield Section(text=sentences(3), anchor="p. 2", headings=("Figures", "Notes"))

    chunks = build(Settings(), count_tokens=words, max_tokens=100)(DOCUMENT, sections())
    next(chunks)
    next(chunks)
    assert len(read) < 100


@pytest.mark.parametrize("opening", ["2 Background", "The trustee must keep the following:"])
def test_a_passage_does_not_end_with_a_heading_or_an_introduction(opening: str) -> None:
    for before in range(3, 12):
        chunks = split(Section(text=f"{sentences(before)}\n\n{opening}\n\n{sentences(8)}"), limit=64)
        assert not any(chunk.text.endswith(opening) for chunk in chunks)


def test_a_heading_between_two_sections_goes_with_the_second() -> None:
    for before in range(3, 12):
        parts = [sentences(before), "2 Background", sentences(8)]
        chunks = split(*(Section(text=text, anchor="p. 1") for text in parts), limit=64)
        assert not any(chunk.text.endswith("2 Background") for chunk in chunks)


@pytest.mark.parametrize("kind", ["prose", "code", "list"])
@pytest.mark.parametrize("before", ["", "notes.txt › "])
def test_chunks_of_numbered_lines_name_exactly_their_lines(kind: SectionKind, before: str) -> None:
    lines = [f"Line {number} says {number * 7} things." if number % 5 else "" for number in range(11, 61)]
    section = Section(text="\n".join(lines), anchor=f"{before}lines 11–60", kind=kind)
    chunks = split(section, limit=64)
    assert len(chunks) > 4
    for chunk in chunks:
        held = [11 + lines.index(line) for line in chunk.text.split("\n") if line]
        assert chunk.anchor == f"{before}lines {held[0]}–{held[-1]}"
    assert all(first.anchor != second.anchor for first, second in pairwise(chunks))


def test_lines_that_cannot_be_identified_keep_the_anchor_of_all() -> None:
    section = Section(text=sentences(40), anchor="lines 3–9")
    assert {chunk.anchor for chunk in split(section)} == {"lines 3–9"}
