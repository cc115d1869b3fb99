"""Text without mentions of the bot, with names for ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.markdown import MentionNames, thread_title, to_commonmark

NAMES = MentionNames(
    ours=frozenset({"1", "9"}), people={"2": "ben"}, roles={"3": "team"}, channels={"4": "plans"}
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<@1> why?", "why?"),
        ("<@!1>: why?", "why?"),
        ("<@&9>, why?", "why?"),
        ("<@1>", ""),
        ("<@1> <@1>  why?", "why?"),
        ("why <@1>?", "why?"),
        ("why, <@1>", "why,"),
        ("tell me <@1> why", "tell me why"),
        ("Hello\n<@1> why?\n\n    code  stays", "Hello\nwhy?\n\n    code  stays"),
        ("<@2> and <@!2>", "@ben and @ben"),
        ("<@&3> in <#4>", "@team in #plans"),
        ("<@7> <@&8> <#6>", "<@7> <@&8> <#6>"),
        ("<:tada:5> <a:party:5>", ":tada: :party:"),
        ("</kb show:5>", "/kb show"),
        ("due <t:0:R>", "due 1970-01-01 00:00 UTC"),
        ("<t:999999999999>", "<t:999999999999>"),
        ("a < b > c <@> <@x>", "a < b > c <@> <@x>"),
    ],
)
def test_to_commonmark(text: str, expected: str) -> None:
    assert to_commonmark(text, NAMES) == expected


@given(st.text(alphabet=st.sampled_from("<@!&#:1249abt> \n\0,?")))
def test_no_mention_of_the_bot_is_left(text: str) -> None:
    cleaned = to_commonmark(text, NAMES)
    assert "\0" not in cleaned
    assert cleaned == cleaned.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n  \nWhy?\nBecause", "Why?"),
        ("## **Why** is `it` so?", "Why is it so?"),
        ("x" * 100, "x" * 79 + "…"),
        ("***", ""),
        ("snake_case", "snake_case"),
    ],
)
def test_thread_title(text: str, expected: str) -> None:
    assert thread_title(text) == expected
