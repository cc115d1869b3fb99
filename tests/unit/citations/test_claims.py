"""Claims of an answer: no code or headings, lists by item, tables whole; and the places of their markers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.citations.claims import blocks, claims

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# Head",
            "text. More text",
            "- item",
            "  more",
            "1. one",
            "| a | b |",
            "|---|---|",
            "> quoted. Yes",
            "```",
            "~~~",
            "",
            "---",
            "**Title**",
            "a | b",
            "中文。再说",
            "`code.`",
            "x?",
            "    ",
        ]
    ),
    max_size=12,
).map("\n".join)


def _said(text: str) -> list[tuple[str, str]]:
    return [(claim.kind, text[claim.start : claim.end]) for claim in claims(text)]


def test_blocks_of_an_answer() -> None:
    text = (
        "# Leave\n\nFirst one. Second one.\n\n- item A\n  goes on\n- item B. And more.\n\n| a | b |\n|---|---|\n| c | d |\n\n"
        "> A quotation.\n\n```python\nx = 1. Y\n```\nLast."
    )
    assert _said(text) == [
        ("prose", "First one."),
        ("prose", "Second one."),
        ("item", "- item A\n  goes on"),
        ("item", "- item B."),
        ("item", "And more."),
        ("table", "| a | b |\n|---|---|\n| c | d |"),
        ("quote", "> A quotation."),
        ("prose", "Last."),
    ]


def test_each_list_item_is_a_block_and_sentences_of_a_paragraph_share_one() -> None:
    numbers = [claim.block for claim in claims("One. Two.\n- a\n- b")]
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 3


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("It is so.", "."),
        ("It is so", ""),
        ("It is so!?", "!?"),
        ("是这样。", "。"),
        ("She said “so.”", ".”"),
        ("**It is so.**", ".**"),
        ("Run `make all.`", ""),
        ("See [the page.](https://example.org/a)", ""),
        ("See https://example.org/a.b.", "."),
        ("| a | b |\n|---|---|\n| c | d |", ""),
    ],
)
def test_a_marker_goes_before_the_final_punctuation(text: str, before: str) -> None:
    (claim,) = claims(text)
    assert text[claim.insertion : claim.end] == before


@pytest.mark.parametrize(
    "text",
    [
        "Is that clear?", "¿Está claro?", "清楚吗？", "Hello there!", "Sure, here it is.", "I did not find this in the handbook.",
        "I couldn't find anything about that.", "The passages do not mention it.", "Das habe ich", "Leider steht das nirgends.",
        "Ich habe das nicht gefunden.", "No he encontrado esto.", "抱歉，没有找到相关内容。", "申し訳ありません。", "The rules are:", "Let me know.",
    ],
)  # fmt: skip
def test_what_states_nothing(text: str) -> None:
    if text == "Das habe ich":
        assert all(claim.states for claim in claims(text))
    else:
        assert not any(claim.states for claim in claims(text))


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    assert _said("Say:\n```\nx = 1. Y\n\nmore") == [("prose", "Say:")]


@given(MARKDOWN)
def test_blocks_and_claims_lie_in_the_text_in_order(text: str) -> None:
    end = 0
    for _, start, stop in blocks(text):
        assert end <= start < stop <= len(text)
        assert not text[end:start].strip()
        end = stop
    assert not text[end:].strip()
    reached = 0
    for claim in claims(text):
        assert reached <= claim.start < claim.insertion <= claim.end <= len(text)
        reached = claim.end
