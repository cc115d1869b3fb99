"""How each platform shows Markdown as models write it."""

from __future__ import annotations

import pytest

from bot.port import PlatformLimits, Reply
from bot.rendering import pages


def slack(text: str, *, final: bool = True) -> str:
    return _page(text, "slack", 12_000, final=final)


def discord(text: str, *, final: bool = True) -> str:
    return _page(text, "discord", 2_000, final=final)


def _page(text: str, dialect: str, room: int, *, final: bool) -> str:
    limits = PlatformLimits(characters=room, edit_seconds=1, dialect=dialect)
    (page,) = pages(Reply(text=text, links=frozenset({"https://ok.example"})), limits, final=final)
    return page.text


TABLE = "| Name | Days |\n|:-----|-----:|\n| **Ann** | 25 |\n| Zoë 日本 | 3 |"
AS_IT_IS = (
    "# One\n\n## Two\n\n### Three",
    "- a\n  - b\n    - c\n- d",
    "* a\n* b",
    "1. a\n2. b\n   - c\n3. d",
    "> quoted\n> twice",
    "**bold** *slanted* ~~gone~~ `code` snake_case 2*3*4 a < b AT&T 5 > 4",
    "```python\nprint('<b>') # **not bold**\n    deep\n```",
    "a line\nanother line\n\nA new paragraph with [1] and [2][3].",
    "日本語の文章。もう一つ。",
    "[text](https://ok.example)",
    "\\*literally\\*",
)


@pytest.mark.parametrize(
    "text", [*AS_IT_IS, TABLE, "a\n\n---\n\nb", "- [ ] open\n- [x] done", "#### Four", "> a\n> > b"]
)
def test_slack_shows_it_as_written(text: str) -> None:
    assert slack(text) == text


@pytest.mark.parametrize("text", AS_IT_IS)
def test_discord_shows_it_as_written(text: str) -> None:
    assert discord(text) == text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("#### Deep *one*", "**Deep *one***"),
        ("###### A **b** c", "A **b** c"),
        ("## Closed ##", "## Closed"),
        ("a\n\n---\n\nb", "a\n\n────────────\n\nb"),
        ("a\n***\nb", "a\n────────────\nb"),
        ("- [ ] open\n- [x] done", "- ☐ open\n- ☑ done"),
        ("+ a\n+ b", "- a\n- b"),
        ("1) a\n2) b", "1. a\n2. b"),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
        ("> a\n> > b\nlazy", "> a\n> b\n> lazy"),
        (">a\n>\n>b", "> a\n> \n> b"),
        ("__strong__ a__b __init__", "**strong** a__b **init**"),
        ("a || b || c", "a \\|\\| b \\|\\| c"),
        ("-# small", "\\-# small"),
        ("~~~\ncode\n~~~", "```\ncode\n```"),
        ("````md\n```\nx\n```\n````", "```md\n``\u200b`\nx\n``\u200b`\n```"),
        ("1. a\n   ```\n   x\n   ```", "1. a\n```\nx\n```"),
        ("![a picture](https://ok.example)", "[a picture](https://ok.example)"),
        ("a<br>b <b>c</b> <sup>2</sup>", "a b **c** 2"),
        ("hard\\\nbreak", "hard\nbreak"),
        ("```\nunclosed", "```\nunclosed\n```"),
        ("```\n```", "```\n \n```"),
        (
            "```\na\n\nb\n```",
            "```\na\n \nb\n```",
        ),  # code of empty lines alone would be none, and its fences open others
    ],
)
def test_discord_shows_it_by_its_means(written: str, shown: str) -> None:
    assert discord(written) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a\n---\nb", "a\n\n---\nb"),
        ("List<String> and <b>bold</b>", "List&lt;String> and **bold**"),
        ("[1]: x", "\\[1]: x"),
        ("a ` b", "a \\` b"),
        ("1. a\n1. b", "1. a\n2. b"),
        ("~~~js\nx\n~~~", "```js\nx\n```"),
        ("```\nunclosed", "```\nunclosed\n```"),
        ("![](https://ok.example)", "<https://ok.example>"),
    ],
)
def test_slack_shows_it_by_its_means(written: str, shown: str) -> None:
    assert slack(written) == shown


def test_a_table_is_aligned_on_discord() -> None:
    assert discord(TABLE) == ("```\nName     | Days\n---------+-----\nAnn      |   25\nZoë 日本 |    3\n```")


def test_links_in_a_table_of_discord_name_their_address() -> None:
    assert "docs (https://evil.example)" in discord("| a |\n|---|\n| [docs](https://evil.example) |")


def test_a_wide_table_is_a_list_on_discord() -> None:
    wide = "| Name | What it is |\n|---|---|\n| One | " + "long " * 12 + "|\n| Two | `x` |"
    assert (
        discord(wide)
        == f"- Name: One\n  - What it is: {('long ' * 12).strip()}\n- Name: Two\n  - What it is: `x`"
    )


def test_a_table_of_too_many_columns_is_a_list_on_slack() -> None:
    names = [f"c{number}" for number in range(21)]
    wide = f"|{'|'.join(names)}|\n|{'-|' * 21}\n|{'|'.join(names)}|"
    assert slack(wide).startswith("- c0: c0\n  - c1: c1\n")


def test_a_table_of_too_many_rows_is_two_on_slack() -> None:
    rows = "\n".join(f"| {number} |" for number in range(150))
    shown = slack(f"| n |\n|---|\n{rows}")
    assert shown.count("| n |\n|---|") == 2
    assert max(len(table.split("\n")) for table in shown.split("\n\n")) <= 101


def test_a_growing_table_is_shown_row_by_row() -> None:
    begun = TABLE[: TABLE.index("Zoë") + 3]
    assert slack(begun, final=False).endswith("| **Ann** | 25 |")
    assert discord(begun, final=False).endswith("Ann  |   25\n```")


def test_a_growing_block_of_code_is_closed_where_it_must_be() -> None:
    """Slack reads an open fence as code, and its streams can only be added to; Discord shows it as text."""
    assert slack("```py\nx = 1\ny = 2", final=False) == "```py\nx = 1\ny = 2"
    assert discord("```py\nx = 1\ny = 2", final=False) == "```py\nx = 1\ny = 2\n```"


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("Hello wor", "Hello"),
        ("See [the docs](https://ok.exa", "See"),
        ("a `code", "a"),
        ("text\n\n``", "text"),
        ("text\n\n```py", "text"),
        ("text\n\n| a | b |\n|--", "text"),
        ("text\n\n1", "text"),
        ("text\n\n## Head", "text"),
        ("你好，世界", "你好，世界"),
        ("Slowly [1", "Slowly"),
    ],
)
def test_what_is_undecided_waits(begun: str, shown: str) -> None:
    assert slack(begun, final=False).rstrip() == shown
    assert discord(begun, final=False).rstrip() == shown
