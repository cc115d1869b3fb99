"""Nothing is lost, nothing is too long, and what was left stays as it is."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.port import PlatformLimits, Reply
from bot.rendering import pages
from bot.rendering.markdown.lines import show
from bot.rendering.markdown.widths import width
from bot.rendering.pages import dialect_named
from bot.rendering.parts import split
from bot.rendering.safety.links import links
from tests.hypothesis_profiles import IS_SOAK, examples
from tests.unit.bot.rendering.markdown_texts import markdown, sentence, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.rendering.parts import MessagePart

PERMITTED = frozenset({"https://ok.example/a"})
STEP = 3 if IS_SOAK else 9
"""Characters between two looks at a growing text."""
DIALECTS = pytest.mark.parametrize("dialect", ["commonmark", "slack", "discord"])


def rendered(text: str, dialect: str, *, growing: bool = False) -> str:
    shown = show(text, dialect_named(dialect), links(PERMITTED), growing=growing)
    return "\n".join(line.text for line in shown.lines)


def _joined(parts: Sequence[MessagePart]) -> str:
    return "".join(part.body + part.gap for part in parts)


def texts_of(text: str, dialect: str, room: int, *, final: bool = True) -> list[str]:
    limits = PlatformLimits(characters=room, edit_seconds=1, dialect=dialect)
    return [page.text for page in pages(Reply(text=text, links=PERMITTED), limits, final=final)]


@DIALECTS
@examples(30)
@given(text=texts, room=st.integers(250, 700))
def test_parts_join_to_the_text_and_fit(dialect: str, text: str, room: int) -> None:
    lines = show(text, dialect_named(dialect), links(PERMITTED)).lines
    parts = split(lines, room)
    assert _joined(parts) == "\n".join(line.text for line in lines)
    for part in parts:
        assert width(part.text) <= room
        assert part.text == part.opened + part.body + part.closed
        assert not part.gap.strip()


@examples(30)
@given(text=texts)
def test_commonmark_is_shown_as_written(text: str) -> None:
    assert rendered(text, "commonmark").rstrip() == re.sub("\r\n?", "\n", text).rstrip()


@DIALECTS
@examples(30)
@given(
    blocks=st.lists(
        st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1, max_size=12), min_size=1
    )
)
def test_text_that_needs_no_change_stays_as_written(dialect: str, blocks: list[list[str]]) -> None:
    text = "\n\n".join(" ".join(words) for words in blocks)
    assert rendered(text, dialect) == text


@DIALECTS
@examples(10)
@given(text=texts)
def test_what_is_shown_of_a_growing_text_only_grows(dialect: str, text: str) -> None:
    """At every cut: each state begins with the one before it, and the final text with all of them."""
    before, whole = "", rendered(text, dialect)
    for end in range(len(text) + 1):
        now = rendered(text[:end], dialect, growing=True)
        assert now.startswith(before.rstrip()), text[:end]
        assert whole.startswith(now.rstrip()), text[:end]
        before = now


@DIALECTS
@examples(6)
@given(text=st.lists(texts, min_size=2, max_size=4).map("\n\n".join), room=st.integers(150, 400))
def test_a_part_that_was_left_stays_as_it_is(dialect: str, text: str, room: int) -> None:
    left: list[str] = []
    for end in (*range(0, len(text), STEP), len(text)):
        now = texts_of(text[:end], dialect, room, final=end == len(text))
        assert now[: len(left)] == left, text[:end]
        left = now[:-1]


@DIALECTS
@examples(4)
@given(blocks=st.lists(markdown, min_size=2, max_size=5))
@pytest.mark.slow
def test_a_long_answer_arrives_whole(dialect: str, blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    text = "\n\n".join([text] * (30_000 // (len(text) + 2) + 1))[:30_000]
    room = 2_000 if dialect == "discord" else 12_000
    lines = show(text, dialect_named(dialect), links(PERMITTED)).lines
    assert _joined(split(lines, room)) == "\n".join(line.text for line in lines)
    assert all(width(page) <= room for page in texts_of(text, dialect, room))


@DIALECTS
def test_thirty_thousand_characters_are_split_in_linear_time(dialect: str) -> None:
    block = (
        "Some **bold** words of an answer [1]. " * 8
        + "\n\n- one\n- two [2]\n\n```py\nfor x in y:\n    pass\n```\n\n"
    )
    seconds: list[float] = []
    for size in (15_000, 60_000):
        text = (block * 200)[:size]
        best = 60.0
        for _ in range(3):
            began = time.process_time()
            texts_of(text, dialect, 2_000)
            best = min(best, time.process_time() - began)
        seconds.append(best)
    assert seconds[1] < seconds[0] * 12, (
        seconds
    )  # four times the text; a quadratic would take sixteen times as long


HOSTILE = ("[" * 5_000, "`" * 4_999, "[a](" * 2_000, "> " * 2_000 + "x", "*" * 9_000, "- " * 3_000, "<" * 9_000,
           "a" * 20_000, "https://" * 2_000, "![" * 3_000, "a.b" * 4_000, "|" * 4_000 + "\n" + "|-" * 4_000, "&lt;" * 3_000,
           "[x](y" * 2_000, "`a``b" * 2_000, "@" * 5_000, "\u200d" * 5_000, "e\u0301" * 5_000, "👩‍👩‍👧‍👦" * 1_500, "x@y." * 3_000)  # fmt: skip


@DIALECTS
@pytest.mark.parametrize("text", HOSTILE, ids=[text[:6] for text in HOSTILE])
def test_no_text_takes_long(dialect: str, text: str) -> None:
    began = time.process_time()
    shown = texts_of(text, dialect, 2_000)
    assert time.process_time() - began < 2
    assert all(width(page) <= 2_000 for page in shown)


# --- what a part begins and ends with -------------------------------------------------------------------------------


@DIALECTS
def test_code_is_closed_and_opened_again_with_its_language(dialect: str) -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(60))
    shown = texts_of(f"Look:\n\n```python\n{code}\n```\n\nDone.", dialect, 400)
    assert len(shown) > 2
    for page in shown:
        assert page.count("```") == 2
        assert "```python\n" in page
    lines = [line for page in shown for line in page.split("\n") if line.startswith("line_")]
    assert lines == code.split("\n")


@DIALECTS
def test_a_table_repeats_its_header(dialect: str) -> None:
    rows = "\n".join(f"| name {number} | {number} |" for number in range(60))
    shown = texts_of(f"| Name | Days |\n|------|-----:|\n{rows}", dialect, 400)
    assert len(shown) > 2
    for page in shown:
        assert re.search(r"Name\s+\| Days", page)
        assert re.search(r"-[-|+:]+-", page)
    assert [int(found) for page in shown for found in re.findall(r"name (\d+)", page)] == list(range(60))


@pytest.mark.parametrize("dialect", ["slack", "discord"])
def test_a_list_continues_its_numbers(dialect: str) -> None:
    items = "\n".join(f"1. item {'word ' * 12}" for _ in range(20))
    shown = texts_of(items, dialect, 400)
    numbers = [int(found) for page in shown for found in re.findall(r"(?m)^(\d+)\. item", page)]
    assert numbers == list(range(1, 21))


@pytest.mark.parametrize("dialect", ["slack", "discord"])
def test_an_item_that_is_cut_is_opened_again(dialect: str) -> None:
    shown = texts_of("1. first\n2. " + "a sentence of words. " * 40 + "\n3. last", dialect, 400)
    assert all(page.startswith("2. … ") for page in shown[1:])
    assert shown[-1].endswith("\n3. last")


@pytest.mark.parametrize("dialect", ["slack", "discord"])
def test_a_quote_keeps_its_marks(dialect: str) -> None:
    shown = texts_of("> " + "a sentence of words. " * 60, dialect, 400)
    assert len(shown) > 2
    assert all(page.startswith("> ") for page in shown)


@pytest.mark.parametrize("dialect", ["slack", "discord"])
@examples(40)
@given(words=st.lists(sentence, min_size=20, max_size=40), room=st.integers(600, 900))
def test_links_code_and_citations_are_not_cut(dialect: str, words: list[str], room: int) -> None:
    whole = rendered(" ".join(words), dialect)
    shown = texts_of(" ".join(words), dialect, room)
    for pattern in (
        r"\[text\]\(https://ok\.example/a\)",
        r"(?<!\[)\[\d+\](?!\[)",
        r"`https://evil\.example/[a-z.]+`",
    ):
        assert sum(len(re.findall(pattern, page)) for page in shown) == len(re.findall(pattern, whole))


def test_a_cut_is_made_between_blocks_then_sentences_then_words() -> None:
    paragraph = "One sentence here. Another one there. " * 5
    shown = texts_of(f"{paragraph.strip()}\n\n{paragraph.strip()}", "slack", 300)
    assert shown == [paragraph.strip()] * 2
    shown = texts_of(paragraph * 3, "slack", 300)
    assert all(page.endswith(".") for page in shown)
    shown = texts_of("word " * 200, "slack", 300)
    assert all(page.startswith("word") and page.endswith("word") for page in shown)


def test_characters_as_people_see_them_are_not_cut() -> None:
    family = "👩‍👩‍👧‍👦"
    shown = texts_of(family * 100, "discord", 200)
    assert "".join(shown) == family * 100
    assert all(len(page) % len(family) == 0 for page in shown)


def test_a_heading_stays_with_what_follows() -> None:
    text = "x " * 120 + "\n\n## Heading\n\n" + "y " * 60
    assert texts_of(text, "slack", 300)[1].startswith("## Heading")
