"""Clean sections from raw blocks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import EmptyDocument
from rag_engine.parsers._shared.lines import LONGEST, NumberedLine, group, lines_anchor
from rag_engine.parsers._shared.sections import LARGEST, clean, entered, is_blank, joined, titles
from rag_engine.types import Section

_TEXT = st.text(st.characters(codec=None), max_size=200)
_BLOCKS = st.lists(
    st.builds(
        Section,
        text=_TEXT,
        anchor=st.sampled_from(["p. 1", "p. 2", ""]),
        headings=st.lists(_TEXT, max_size=2).map(tuple),
        kind=st.sampled_from(["prose", "list", "table", "code"]),
    ),
    max_size=12,
)


def _visible(text: str) -> str:
    return "".join(clean(text).split())


@given(_BLOCKS)
def test_no_word_is_lost_and_controls_are_removed(blocks: list[Section]) -> None:
    try:
        sections = list(joined(blocks))
    except EmptyDocument:
        assert all(is_blank(clean(block.text)) for block in blocks)
        return
    kept = [_visible(block.text) for block in blocks if not is_blank(clean(block.text).strip())]
    assert "".join(_visible(section.text) for section in sections) == "".join(kept)
    for section in sections:
        section.text.encode("utf-8")
        assert section.text == clean(section.text)
        assert not is_blank(section.text)


@given(st.text(min_size=1, max_size=30), st.text(max_size=30), st.sampled_from(["prose", "table"]))
def test_no_section_is_too_long(first: str, word: str, kind: str) -> None:
    text = first * 100 + f"{word}x" * LARGEST
    block = Section(text=text, kind="table" if kind == "table" else "prose")
    assert all(len(section.text) <= LARGEST for section in joined([block]))


def test_a_long_table_repeats_its_header() -> None:
    rows = ["Name | Days", *(f"person {number} | {number}" for number in range(2000))]
    sections = list(joined([Section(text="\n".join(rows), kind="table")]))
    assert len(sections) > 1
    assert all(section.text.startswith("Name | Days\n") for section in sections)
    assert [line for section in sections for line in section.text.splitlines()[1:]] == rows[1:]


def test_neighbours_are_joined_except_tables() -> None:
    blocks = [
        Section(text="one", anchor="p. 1"),
        Section(text="two", anchor="p. 1"),
        Section(text="a | b", anchor="p. 1", kind="table"),
        Section(text="c | d", anchor="p. 1", kind="table"),
        Section(text="three", anchor="p. 2"),
    ]
    assert [section.text for section in joined(blocks)] == ["one\n\ntwo", "a | b", "c | d", "three"]


def test_no_text_is_an_empty_document() -> None:
    with pytest.raises(EmptyDocument, match="picture"):
        list(joined([Section(text=" \u200b\n")], no_text="It is a picture."))


def test_line_ends_and_controls() -> None:
    assert clean("a\r\nb\rc\u2028d\x85e\x00\x07f\ufeff\ud800") == "a\nb\nc\nd\nef"


def test_soft_hyphens_do_not_divide_words() -> None:
    assert clean("Donau\u00addampf\u00adschiff") == "Donaudampfschiff"


def test_heading_ends_the_same_and_deeper_levels() -> None:
    path = entered(entered(entered((), 2, "Early"), 1, "Leave"), 2, "Sick\nleave")
    assert titles(path) == ("Leave", "Sick leave")
    assert titles(entered(path, 2, "Holidays")) == ("Leave", "Holidays")
    assert titles(entered(path, 1, "Reports")) == ("Reports",)


_LINES = st.lists(st.sampled_from(["", "word", "x" * 300, "y" * 900, "  indented"]), max_size=60)


@given(_LINES)
def test_grouping_keeps_every_line_in_order(texts: list[str]) -> None:
    lines = [NumberedLine(number=number, text=text) for number, text in enumerate(texts, 1)]
    groups = list(group(lines, starts=lambda before, line: not before.text and bool(line.text)))
    kept = [line for lines_of_group in groups for line in lines_of_group]
    assert [line for line in kept if line.text.strip()] == [line for line in lines if line.text.strip()]
    assert all(first.number < second.number for first, second in pairwise(kept))
    assert all(sum(len(line.text) for line in lines_of_group) <= LONGEST + 1000 for lines_of_group in groups)


def test_the_anchor_of_lines() -> None:
    lines = [
        NumberedLine(number=4, text=""),
        NumberedLine(number=5, text="a"),
        NumberedLine(number=6, text="b"),
        NumberedLine(number=7, text=" "),
    ]
    assert lines_anchor(lines) == "lines 5–6"
    assert lines_anchor(lines[:2]) == "line 5"
    assert lines_anchor(lines[:1]) == ""
