"""Conversations and answers of an earlier Footnote open, and their answers get further versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING

from bot.store.turns import Turns
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.storage.sqlite.migrations import migrate
from rag_engine.types import ConversationId, Trace, Turn, TurnId

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

HERE = ConversationId("c")


def old(path: Path, scripts: Traversable, folder: Path, *, most: str) -> sqlite3.Connection:
    """A database of the scripts up to `most`."""
    folder.mkdir()
    for script in scripts.iterdir():
        if script.name.endswith(".sql") and script.name[:4] <= most:
            (folder / script.name).write_text(script.read_text("utf-8"), encoding="utf-8")
    migrate(path, folder)
    return sqlite3.connect(path)


async def test_an_old_answer_gets_another_version_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "footnote.sqlite"
    scripts = files("rag_engine.storage") / "sql"
    with closing(old(path, scripts, tmp_path / "old", most="0004")) as database, database:
        for name, role in (("q1", "user"), ("a1", "assistant"), ("q2", "user"), ("a2", "assistant")):
            database.execute(
                "INSERT INTO turns (id, conversation, role, text, at) VALUES (?, ?, ?, ?, 1)",
                (name, HERE, role, name),
            )
    async with connect(path) as opened:
        history = SqliteHistory(opened)
        assert [turn.id for turn in await history.read(HERE, limit=9)] == ["q1", "a1", "q2", "a2"]
        turns = [
            Turn(id=TurnId("q1b"), conversation=HERE, role="user", text="q1b", at=2),
            Turn(id=TurnId("a1b"), conversation=HERE, role="assistant", text="a1b", at=2),
        ]
        trace = Trace(turn=TurnId("a1b"), conversation=HERE, at=2, seconds={})
        await history.write(turns, trace, in_place_of=[TurnId("q1"), TurnId("a1")])
        assert [turn.id for turn in await history.read(HERE, limit=9)] == ["q1b", "a1b", "q2", "a2"]


async def test_the_answer_that_is_shown_is_the_first_version(tmp_path: Path) -> None:
    path, scripts = tmp_path / "chat.sqlite", files("bot.store") / "sql"
    with closing(old(path, scripts, tmp_path / "old", most="0011")) as database, database:
        for name, turn in (("one", "one-1"), ("two", "")):
            before = (name, "test", "w", "c", "", name, "", "U1", "", "", 0, 0)
            row = (*before, "?", 1.0, "final", "[]", "c", turn, "[]", 1.0)
            columns = (
                "id, platform, workspace, channel, thread, message, uri, person, name, language, private, by_bot, question, "
                "asked_at, state, messages, conversation, turn, citations, updated_at"
            )
            places = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO answers ({columns}) VALUES ({places})", row)  # noqa: S608
    async with connect(path, scripts=scripts) as opened:
        turns = Turns(opened)
        one, two = await turns.find("one"), await turns.find("two")
    assert one is not None
    assert two is not None
    assert (one.versions, one.version_number) == (("one-1",), 1)
    assert two.versions == ()
