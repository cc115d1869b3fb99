"""The page for chatting with the bot through the doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.doubles import chats, page
from tests.doubles.page.marks import html, mrkdwn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chats import Chat


@pytest.fixture(params=chats.PLATFORMS)
async def chat(request: pytest.FixtureRequest) -> AsyncIterator[Chat]:
    async with chats.serve(request.param) as opened:
        yield opened


async def test_a_person_writes_drops_a_file_edits_and_sees_it(chat: Chat) -> None:
    ada, general = chat.people["ada"], chat.rooms["general"]
    where = {"platform": chat.platform, "person": ada, "channel": general}
    async with page.serve({chat.platform: chat}) as address, aiohttp.ClientSession(address) as http:
        async with http.get("/changes", params=where) as changes:
            form = aiohttp.FormData(where | {"text": "@footnote <b>hello</b>"})
            form.add_field("files", b"Two weeks.", filename="notes.txt", content_type="text/plain")
            async with http.post("/do/say", params=where, data=form) as said:
                assert said.status == 200
            line = await changes.content.readline()
            assert line.startswith(b"data: ")
        async with http.get("/screen", params=where) as answered:
            screen = await answered.json()
        message = screen["messages"][-1]
        assert [room["name"] for room in screen["rooms"]] == ["general", "projects", "Footnote"]
        assert "&lt;b&gt;hello&lt;/b&gt;" in message["html"]
        assert "<b>" not in message["html"]
        shown = {"message": message["id"], "number": "0"}
        async with http.get("/content", params=where | shown) as file:
            assert await file.read() == b"Two weeks."
        changed = where | {"message": message["id"], "text": "goodbye"}
        async with http.post("/do/edit", params=where, data=changed) as said:
            assert said.status == 200
        assert [each.text for each in chat.shown(message["id"]).texts][-1] == "goodbye"


async def test_impossible_actions_are_reported(chat: Chat) -> None:
    ada, general = chat.people["ada"], chat.rooms["general"]
    question = await chat.says(ada, general, "hello")
    async with page.serve({chat.platform: chat}) as address, aiohttp.ClientSession(address) as http:
        form = {"person": ada, "message": question, "button": "Stop"}
        async with http.post("/do/click", data=form) as answered:
            assert answered.status == 409
            assert (await answered.json())["error"]


async def test_nobody_sees_a_channel_that_they_are_not_in(chat: Chat) -> None:
    await chat.says(chat.people["ada"], chat.rooms["projects"], "secret")
    assert [each.text for each in chat.visible(chat.people["ben"], chat.rooms["projects"])] == ["secret"]
    assert chat.visible(chat.people["cleo"], chat.rooms["projects"]) == []
    assert chat.rooms["projects"] not in [room.id for room in chat.rooms_of(chat.people["cleo"])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*bold* _em_ ~gone~ 2*3*4", "<strong>bold</strong> <em>em</em> <s>gone</s> 2*3*4"),
        ("&lt;script&gt; &amp;", "&lt;script&gt; &amp;"),
        ("<https://a.example|a &amp; b>", '<a href="https://a.example">a &amp; b</a>'),
        ("<javascript:alert(1)|x>", "&lt;javascript:alert(1)|x&gt;"),
        ("`*x*`", "<code>*x*</code>"),
    ],
)
def test_slacks_notation_becomes_safe_html(text: str, expected: str) -> None:
    assert mrkdwn(text) == expected


def test_small_print_mentions_and_scripts_of_discord() -> None:
    made = html("discord", "<@7> **hi**\n-# one\n-# two\n<script>", {"7": "ben"}.__getitem__)
    assert made == (
        '<div><p>@ben <strong>hi</strong></p>\n<div class="small"><p>one<br />\ntwo</p>\n</div>'
        "<p>&lt;script&gt;</p>\n</div>"
    )
