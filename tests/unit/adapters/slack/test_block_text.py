"""The text of messages that carry it in blocks or attachments."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.incoming.block_text import forwarded_text, message_text
from bot.port import Fields

Json = dict[str, Any]


def text_of(**raw: Any) -> str:
    return message_text(Fields("message", raw))


def rich(*elements: Json, kind: str = "rich_text_section", **more: Any) -> list[Json]:
    return [{"type": "rich_text", "elements": [{"type": kind, "elements": list(elements), **more}]}]


def words(text: str, **style: bool) -> Json:
    return {"type": "text", "text": text, "style": style} if style else {"type": "text", "text": text}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


SECTION = {"type": "section", "text": mrkdwn("*Leave*"), "fields": [mrkdwn("days: 30"), plain("a < b")]}
CONTEXT = {"type": "context", "elements": [{"type": "image", "alt_text": "logo"}, mrkdwn("by <@U1>")]}
ITEM = {"type": "rich_text_section", "elements": [words("one")]}
CELLS = [{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}]


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        (rich(words("a & "), words("b", bold=True), words("<c>", code=True)), "a &amp; *b*`&lt;c&gt;`"),
        (rich({"type": "user", "user_id": "U1"}, words(" hi")), "<@U1> hi"),
        (
            rich(
                {"type": "link", "url": "https://x.test/a|b", "text": "x"}, {"type": "emoji", "name": "tada"}
            ),
            "<https://x.test/a%7Cb|x>:tada:",
        ),
        (
            rich({"type": "channel", "channel_id": "C1"}, {"type": "broadcast", "range": "here"}),
            "<#C1><!here>",
        ),
        (rich({"type": "usergroup", "usergroup_id": "S1"}), "<!subteam^S1>"),
        (rich(words("a\nb"), kind="rich_text_quote"), "&gt; a\n&gt; b"),
        (rich(words("x = 1"), kind="rich_text_preformatted"), "```x = 1```"),
        (rich(ITEM, ITEM, kind="rich_text_list", style="ordered", indent=1), "  1. one\n  2. one"),
        (rich(ITEM, kind="rich_text_list", style="bullet"), "• one"),
        ([SECTION, CONTEXT], "*Leave*\ndays: 30\na &lt; b\nlogo\nby <@U1>"),
        ([{"type": "header", "text": plain("News")}, {"type": "divider"}], "News"),
        ([{"type": "markdown", "text": "**bold** & <b>"}], "**bold** &amp; &lt;b&gt;"),
        ([{"type": "table", "rows": [CELLS]}], "a | b"),
        ([{"type": "actions", "elements": [{"type": "button", "text": plain("Yes")}]}], ""),
        ([{"type": "of the future", "body": mrkdwn("read"), "elements": [plain("too")]}], "read\ntoo"),
    ],
)
def test_blocks_are_read_where_there_is_no_text(blocks: list[Json], text: str) -> None:
    assert text_of(blocks=blocks) == text
    assert text_of(text="This content can't be displayed.", blocks=blocks) == text


def test_a_persons_own_text_is_used_before_blocks() -> None:
    assert text_of(text="what?", blocks=rich(words("what? and more"))) == "what?"


def test_a_bots_blocks_say_more_than_its_notification() -> None:
    assert text_of(text="Alert", bot_id="B1", blocks=[SECTION]).startswith("*Leave*")
    long = "a long notification with it all"
    assert text_of(text=long, bot_id="B1", blocks=rich(words("x"))) == long


def test_attachments_are_read_where_there_is_nothing_else() -> None:
    attachment = {"pretext": "Build", "title": "failed", "fields": [{"title": "branch", "value": "main"}]}
    assert text_of(attachments=[attachment]) == "Build\nfailed\nbranch: main"
    assert text_of(attachments=[{"fallback": "summary"}]) == "summary"
    assert text_of(text="own", attachments=[attachment]) == "own"


def test_a_forwarded_message_of_blocks_is_read() -> None:
    shared = {"is_share": True, "message_blocks": [{"message": {"blocks": rich(words("the offer"))}}]}
    raw = Fields("message", {"text": "", "attachments": [shared]})
    assert (message_text(raw), forwarded_text(raw)) == ("", "the offer")


@pytest.mark.parametrize(
    "bad",
    [
        None,
        3,
        "x",
        [],
        {},
        [None],
        [3],
        [{"type": None}],
        [{"type": "rich_text", "elements": 3}],
        [{"rows": [3]}],
    ],
)
def test_malformed_blocks_are_left_out(bad: object) -> None:
    assert text_of(text=None, blocks=bad, attachments=bad) == ""


def test_blocks_nested_without_end_are_cut_off() -> None:
    block: Json = plain("deep")
    for _ in range(500):
        block = {"type": "container", "blocks": [block]}
    assert text_of(blocks=[block]) == ""
