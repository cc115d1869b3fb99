"""`/kb page`: a link for administrators, in private."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.store.web_sessions import SignInLinks, Visitor, WebSessions
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with (
        opened(tmp_path) as chat,
        connect(
            new_database(tmp_path / "links" / "chat.sqlite"), scripts=files("bot.store") / "sql"
        ) as links,
    ):
        made = Counter(chat=chat, room=TownRoom(directory=chat.town))
        made.page = SignInLinks(WebSessions(links), "https://footnote.example.org")
        yield made


async def test_an_administrator_gets_a_link_to_their_workspace(counter: Counter) -> None:
    reply = await counter.reply(ANN, "page")
    (link,) = reply.links or ()
    assert link in reply.text
    assert "within 10 minutes" in reply.text
    assert counter.page is not None
    token = link.removeprefix("https://footnote.example.org/sign-in/")
    session = await counter.page.sessions.begin(token)
    assert session is not None
    found = await counter.page.sessions.visitor(session)
    where = place()
    assert found == Visitor(platform=where.platform, workspace=where.workspace, person=ANN.id, name=ANN.name)


async def test_nobody_else_gets_one(counter: Counter) -> None:
    assert "can do that here" in await counter.say(BEN, "page")
    counter.chat.town.silent.add(ANN.id)
    assert "http" not in await counter.say(ANN, "page")


async def test_without_a_page_it_says_how_to_have_one(counter: Counter) -> None:
    counter.page = None
    assert "FOOTNOTE_WEB__PORT" in await counter.say(ANN, "page")
