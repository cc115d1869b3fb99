"""A file's name is shown as it was written: it pings nobody, links nowhere and is no markup."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import PlatformLimits
from tests.unit.bot.chatting import ADMIN, THREAD, Outlet, attachment, world
from tests.unit.bot.rendering import detectors

if TYPE_CHECKING:
    from pathlib import Path

    from bot.port import Page
    from tests.unit.bot.chatting import World

NAMES = (
    "http://evil.example.com/x.md",
    "[handbook](https://evil.example.com).md",
    "<https://evil.example.com|handbook>.md",
    "www.evil-login.com.md",
    "report.zip",
    "mail@evil.com.md",
    "<!channel>.md",
    "<@U012AB3CD>.md",
    "@everyone.md",
    "<@123456789012345678>.md",
    "# Heading.md",
    "**bold** and __under__.md",
    "- [ ] task.md",
    "1. list.md",
    "> quote.md",
    "`code` ``<!here>``.md",
    "||hidden||.md",
    "~~gone~~.md",
    "![picture](https://evil.example.com/a.png).md",
)
PING = {"slack": detectors.slack_pings, "discord": detectors.discord_pings}
BROKEN = re.compile("(www\\.|https?:)\u200b")
"""Looks like an address and is none: an invisible sign is in it."""
MARKUP = ("<strong>", "<em>", "<s>", "<h1>", "<blockquote>", "<img", "<a ")


def shown(here: World) -> list[Page]:
    return [page for post in here.chat.posts.values() for page in post.pages]


def links(text: str, page: Page, dialect: str) -> list[str]:
    """Slack shows the text as Markdown, the small print as mrkdwn and the status as plain text."""
    if dialect == "discord":
        return detectors.discord_links(text)
    return detectors.slack_links(text) if text is page.text else detectors.mrkdwn_links(text)


async def post_everything(here: World) -> None:
    """The ways in which names get into messages: added, failed, refused, with an answer, not permitted, promoted."""
    here.says("28 days [1].")
    good = [attachment(name, f"# Leave\n\n{number} days.\n") for number, name in enumerate(NAMES)]
    post = await here.ask("", *good, place=THREAD, in_thread=True)
    await here.press(post, "promote", person=ADMIN)
    await here.ask("", good[0], place=THREAD, in_thread=True)
    bad = [attachment(name, b"\0\1", id=f"bad-{name}") for name in NAMES]
    await here.ask("", *bad, place=THREAD, in_thread=True)
    refused = [replace(each, id=f"refused {each.id}", refusal="It is refused.") for each in bad]
    await here.ask("How many days?", *refused, place=THREAD, in_thread=True)
    here.town.closed = True
    await here.ask("", *(replace(each, id=f"closed {each.id}") for each in bad), place=THREAD, in_thread=True)


@pytest.mark.parametrize("dialect", ["slack", "discord"])
async def test_names_of_files(dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outlet, "limits", PlatformLimits(characters=4000, edit_seconds=0, dialect=dialect))
    async with world(tmp_path) as here:
        await post_everything(here)
        pages = shown(here)
    found = {
        each
        for page in pages
        for text in (page.text, page.status, page.footer)
        for each in (*PING[dialect](text), *links(text, page, dialect))
        if not BROKEN.match(each)
    }
    assert found == set()
    assert any("bold" in page.text for page in pages)
    for page in pages:
        rendered = detectors._COMMONMARK.render(page.text)
        assert not [mark for mark in MARKUP if mark in rendered], page.text
