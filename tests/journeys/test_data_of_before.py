"""What an earlier Footnote stored opens today: `tests/data` was made in November 2026, before the modules got their present names."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import pytest

from bot.port import Place
from bot.store.places import Places, PlaceSettings
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import ConversationId
from tests.conftest import PROJECT
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import scenario, words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

DATA: Final = PROJECT / "tests" / "data"
ROOM: Final = "slack:TACME:CROOM1~c172341653e4"
CONVERSATION: Final = ConversationId("slack:TACME:CROOM1:1795392481.000009")
TURN: Final = "0b59713dcf6201b3-1"
STAFF: Final = {
    "leave.csv": ("be3e5ad28e956c8d0b0496a004346b17", "ready", 1),
    "travel.md": ("f5d7b856feb9782b49c37506943f50e1", "ready", 1),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data directory as the earlier version left it."""
    with zipfile.ZipFile(DATA / "data_directory_2026_11.zip") as archive:
        archive.extractall(tmp_path / "data")
    return tmp_path / "data"


async def as_json(footnote: Footnote, *arguments: str, error_output: str = "") -> Any:
    finished = await footnote(*arguments, "--json")
    assert (finished.code, finished.err) == (0, error_output)
    return json.loads(finished.out)


async def assert_found_by_both_legs(footnote: Footnote, name: str, *, rebuilt: Path | None = None) -> None:
    """The text and the vectors of a document of "Staff" are in the index, which the first search after an upgrade rebuilds."""
    notice = (
        f"footnote: The search index {rebuilt} is of an earlier version or incomplete, and is rebuilt.\n"
        if rebuilt
        else ""
    )
    hits = await as_json(footnote, "search", "hotel night", "--kb", name, error_output=notice)
    assert (hits[0]["title"], {leg["leg"] for leg in hits[0]["legs"]}) == ("travel.md", {"lexical", "dense"})
    assert "A hotel may cost 140 euros a night." in hits[0]["text"]


async def test_its_knowledge_bases_are_listed_searched_and_cited(footnote: Footnote, data: Path) -> None:
    listed = await as_json(footnote, "kb", "list")
    assert {row["name"]: (row["documents"], row["chunks"], row["model"]) for row in listed} == {
        "Staff": (2, 2, "hashing-256@v1"),
        ROOM: (1, 1, "hashing-256@v1"),
    }
    shown = await as_json(footnote, "kb", "show", "Staff")
    assert {row["title"]: (row["id"], row["state"], row["chunks"]) for row in shown} == STAFF
    text = await footnote("kb", "show", "Staff", "travel.md", "--text")
    assert "A hotel may cost 140 euros a night." in text.out
    await assert_found_by_both_legs(footnote, "Staff", rebuilt=data / "index.sqlite")
    answer = await as_json(footnote, "ask", "What may a hotel cost?", "--kb", "Staff")
    assert "140 euros" in answer["answer"]
    assert answer["citations"][0]["title"] == "travel.md"


async def test_its_chat_history_and_traces_are_there(footnote: Footnote, data: Path) -> None:
    newest = await as_json(footnote, "trace")
    assert (newest["turn"], newest["conversation"]) == (TURN, CONVERSATION)
    async with connect(data / "footnote.sqlite") as database:
        turns = await SqliteHistory(database).read(CONVERSATION, limit=10)
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "how long are invoices kept?"),
        ("assistant", "Invoices are kept for ten years [1]."),
    ]


async def test_the_bot_continues_in_its_channel(data: Path, tmp_path: Path) -> None:
    async with scenario("slack", tmp_path) as town:
        room = town.room()
        assert room == "CROOM1", "the channel that the data tells of"
        town.model.on(streamed("Minutes are kept for two years [1]."), task="answer")
        question = await town.says("ben", room, "@footnote how long are minutes kept?")
        (answer,) = await town.answered("ben", room, question)
        assert "two years" in words(answer)
        assert "handbook.md" in words(answer)
    with closing(sqlite3.connect(data / "chat.sqlite")) as chat:
        states = chat.execute("SELECT question, state FROM answers WHERE turn <> '' ORDER BY asked_at")
        assert states.fetchall() == [
            ("how long are invoices kept?", "final"),
            ("how long are minutes kept?", "final"),
        ]
        places = chat.execute("SELECT channel, mode, knowledge, language FROM place_settings").fetchall()
    assert places == [("CROOM1", "thread", "strict", "")]


async def test_its_settings_of_a_channel_override_the_defaults(data: Path) -> None:
    async with connect(data / "chat.sqlite", scripts=files("bot.store") / "sql") as database:
        places = Places(database, defaults=PlaceSettings(mode="mention", knowledge="blended"))
        stored = await places.settings(Place(platform="slack", workspace="TACME", channel="CROOM1"))
    assert stored == PlaceSettings(mode="thread", knowledge="strict")


async def test_its_export_is_imported(footnote: Footnote) -> None:
    imported = await footnote("kb", "import", str(DATA / "export_2026_11.zip"), "--name", "Copy")
    assert (imported.code, imported.err) == (0, "")
    await assert_found_by_both_legs(footnote, "Copy")


async def test_its_backup_is_restored(footnote: Footnote, tmp_path: Path) -> None:
    restored = await as_json(footnote, "restore", str(DATA / "backup_2026_11.zip"))
    assert (restored["databases"], restored["originals"]) == (4, 0)
    await assert_found_by_both_legs(footnote, "Staff", rebuilt=tmp_path / "data" / "index.sqlite")
    assert (await as_json(footnote, "trace", TURN))["conversation"] == CONVERSATION
    with closing(sqlite3.connect(tmp_path / "data" / "chat.sqlite")) as chat:
        assert chat.execute("SELECT state FROM answers").fetchall() == [("final",), ("final",)]
