"""Every id that a person is shown leads to a trace."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import settings
from bot.cli.quality import feedback as feedback_command
from bot.maintenance.data_files import CHAT, migrations
from bot.observability import Observers
from bot.observability.metrics import Meters
from bot.observability.operations import Feedback
from bot.store import feedback
from rag_engine.errors import IndexUnavailable
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import TurnId
from tests.databases import new_database
from tests.unit.bot.asked import QUESTION, WITH_ID, here
from tests.unit.bot.chatting import CHANNEL

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from rag_engine.types import Trace
    from tests.unit.bot.chatting import World

__all__ = ["here"]  # a fixture


async def traced(here: World, text: str) -> Trace:
    shown = WITH_ID.search(text)
    assert shown, text
    trace = await here.history.trace(TurnId(shown[0].strip("()").removeprefix("id ")))
    assert trace is not None
    return trace


async def test_a_failed_turn(here: World) -> None:
    async def fails(*arguments: object, **values: object) -> object:
        raise IndexUnavailable

    here.town.scope = fails  # pyright: ignore[reportAttributeAccessIssue]
    post = await here.ask(QUESTION)
    trace = await traced(here, post.text)
    assert trace.details == {"question": QUESTION, "outcome": "failed", "error": "IndexUnavailable"}


async def test_a_failed_command_without_its_words(here: World) -> None:
    await here.command("kb", "fail")
    trace = await traced(here, here.last.text)
    assert trace.details == {"outcome": "failed", "kind": "command", "error": "ValueError"}
    assert trace.conversation.startswith(f"{CHANNEL.platform}:{CHANNEL.workspace}:{CHANNEL.channel}")


async def test_feedback_is_counted_and_listed(here: World, tmp_path: Path) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    await here.press(post, "feedback", ends=":down")
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=migrations()[CHAT]) as database:
        [rated] = await feedback.listed(database, rating="down")
        assert await feedback.listed(database, rating="up") == []
    assert (rated.rating, rated.question, list(rated.documents.values())) == ("down", QUESTION, ["leave.md"])
    meters = Meters()
    with Observers(sinks=(meters,)).around(
        Feedback(platform="slack", rating="down", kinds=frozenset({"web"}))
    ):
        pass
    labels = {"platform": "slack", "rating": "down"}
    assert meters.registry.get_sample_value("footnote_feedback_total", labels) == 1
    of_source = {"source": "web", "rating": "down", "reason": ""}
    assert meters.registry.get_sample_value("footnote_feedback_sources_total", of_source) == 1


async def test_feedback_on_a_private_answer_shows_neither_question_nor_documents(
    here: World, tmp_path: Path
) -> None:
    here.says("28 days [1].")
    await here.command("ask", QUESTION)
    await here.press(here.last, "feedback", ends=":up")
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=migrations()[CHAT]) as database:
        [rated] = await feedback.listed(database)
    assert (rated.place, rated.question, rated.documents) == ("test: private", "", {})


async def test_the_command_filters_by_knowledge_base(
    here: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here.says("28 days [1].")
    await here.press(await here.ask(QUESTION), "feedback", ends=":down")
    await here.file("other.md", "# Other\n\nText.", place=replace(CHANNEL, channel="other"))
    chosen = settings.read().model_copy(update={"data_dir": tmp_path})
    for name, expected in {"general": ["leave.md"], "other": []}.items():
        parser = argparse.ArgumentParser()
        feedback_command.add_arguments(parser)
        arguments = parser.parse_args(["--kb", name, "--limit", "5", "--json"])
        assert await feedback_command.run(arguments, chosen) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [document["title"] for row in rows for document in row["documents"]] == expected
