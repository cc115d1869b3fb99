"""Text to CommonMark, and pages to blocks."""

from __future__ import annotations

import pytest

from adapters.slack import markdown
from adapters.slack.outlets import blocks
from bot.port import Button, Page

NAMES = {"U1": "berta", "U2": "carl"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<@UBOT> what is this?", "what is this?"),
        ("<@UBOT>: what", "what"),
        ("hey <@UBOT|footnote> what", "hey what"),
        ("<@U1> and <@U9|dora> and <@U8>", "@berta and @dora and @U8"),
        ("<#C1|general> or <#C2>", "#general or #C2"),
        ("<!here> <!subteam^S1|@ops> <!channel>", "@here @ops @channel"),
        ("<https://a.example/?a=1&amp;b=2>", "https://a.example/?a=1&b=2"),
        ("<https://a.example|our site>", "[our site](https://a.example)"),
        ("<https://a.example|https://a.example>", "https://a.example"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt; stays", "&lt; stays"),
        ("*bold* _it_ ~gone~", "**bold** _it_ ~~gone~~"),
        ("2*3*4 and a~b~c", "2*3*4 and a~b~c"),
        ("• one\n• two\n    ◦ three", "- one\n- two\n    - three"),
        ("see `*code* &lt;b&gt;` now", "see `*code* <b>` now"),
        ("```*x* = 1\ny```", "```\n*x* = 1\ny\n```"),
        ("```\nx\n```", "```\nx\n```"),
        ("`<https://a.example>`", "`https://a.example`"),
        ("&gt; quoted", "> quoted"),
        ("", ""),
    ],
)
def test_mrkdwn_becomes_commonmark(written: str, expected: str) -> None:
    assert markdown.to_commonmark(written, bot_user="UBOT", names=NAMES) == expected


def test_mentions_of_others_are_people_and_groups() -> None:
    assert not markdown.mentions_others("<@UBOT> hi", "UBOT")
    assert markdown.mentions_others("<@UBOT> <@U1> hi", "UBOT")
    assert markdown.mentions_others("<!subteam^S1> hi", "UBOT")
    assert not markdown.mentions_others("hi @all", "UBOT")


def test_a_page_becomes_blocks() -> None:
    footer = "\n".join(f"[{number}] {'x' * 200}" for number in range(40))
    buttons = tuple(Button(name=f"b{number}", label="l" * 90, value="v") for number in range(7))
    made = blocks.page_blocks(Page(text="text", footer=footer, buttons=buttons))
    kinds = [block["type"] for block in made]
    assert kinds == ["markdown", "context", "actions", "actions"]
    assert [len(block["elements"]) for block in made[2:]] == [5, 2]
    small = [element["text"] for element in made[1]["elements"]]
    assert "\n".join(small) == footer
    assert max(len(each) for each in small) <= 3000
    assert len(made[2]["elements"][0]["text"]["text"]) == 75


def test_a_long_footer_without_line_ends_is_split() -> None:
    made = blocks.page_blocks(Page(footer="y" * 7000))
    assert "".join(each["text"] for each in made[0]["elements"]) == "y" * 7000


def test_a_pair_of_ratings_becomes_a_feedback_element() -> None:
    up = Button(name="rate", label="Good", value="up", feedback=True)
    down = Button(name="rate", label="Bad", value="down", feedback=True)
    other = Button(name="other", label="Bad", value="down", feedback=True)
    assert [block["type"] for block in blocks.footer_and_buttons(Page(buttons=(up, down)))] == [
        "context_actions"
    ]
    assert [block["type"] for block in blocks.footer_and_buttons(Page(buttons=(up, other)))] == ["actions"]
    assert [block["type"] for block in blocks.footer_and_buttons(Page(buttons=(up,)))] == ["actions"]


def test_every_button_has_its_own_action_id() -> None:
    buttons = (Button(name="page", label="1", value="1"), Button(name="page", label="2", value="2"))
    elements = blocks.footer_and_buttons(Page(buttons=buttons))[0]["elements"]
    assert len({each["action_id"] for each in elements}) == 2
    assert {blocks.button_name(each["action_id"]) for each in elements} == {"page"}


def test_the_notification_is_plain_text() -> None:
    assert blocks.notification(Page(text="<!channel> & <@U1>")) == "&lt;!channel&gt; &amp; &lt;@U1&gt;"
    assert blocks.page_blocks(Page())[0]["type"] == "context"


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("bind <#C1|general>", "bind <#C1>"),
        ("add <https://acme.slack.com/archives/C1/p1>", "add https://acme.slack.com/archives/C1/p1"),
        ("who is <@U1|berta> &amp; co", "who is <@U1> & co"),
        ("  ", ""),
    ],
)
def test_the_line_of_a_command_keeps_ids_and_bare_addresses(typed: str, line: str) -> None:
    assert markdown.command_line(typed) == line
