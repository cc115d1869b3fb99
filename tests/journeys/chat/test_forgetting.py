"""`footnote forget` while the bot runs: planted words are in no file of the data directory afterwards."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from bot.maintenance import data_files
from bot.settings import read
from tests.conftest import PROJECT
from tests.doubles import commands
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def forget(town: Scenario, *arguments: str) -> dict[str, Any]:
    """The output of the command."""
    settings = {
        "PYTHONPATH": str(PROJECT),
        "FOOTNOTE_DATA_DIR": str(town.folder / "data"),
        "FOOTNOTE_EMBEDDER__KIND": "hashing",
    }
    process = await commands.start(
        *("forget", *arguments, "--json", "--yes"),
        folder=town.folder,
        environment=environment(town.folder, **settings),
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert out, err.decode()
    return json.loads(out)


def standing(town: Scenario, *planted: str) -> dict[str, list[str]]:
    """Which words are in which file."""
    found: dict[str, list[str]] = {}
    data_dir: Path = town.folder / "data"
    for path in sorted(data_dir.rglob("*")):
        if path.is_file():
            content = path.read_bytes().lower()
            here = [word for word in planted if word.lower().encode() in content]
            if here:
                found[path.name] = here
    return found


async def test_a_person_is_forgotten_and_the_others_are_not(town: Scenario) -> None:
    room = town.room("ada", "ben", "cleo")
    await town.knows(room, "# Logs\n\nLogs are kept for two weeks.\n", name=f"logs-{room}.md")
    town.model.on(streamed("Two weeks, zanzibariba [1]."), task="answer", matching="quagmirewort", times=1)
    town.model.on(streamed("Two weeks, tintinnabula [1]."), task="answer", matching="pettifogweed", times=1)
    of_ben = await town.says("ben", room, "@footnote For how long are the quagmirewort logs kept?")
    await town.answered("ben", room, of_ben)
    await town.commands("ben", room, "/ask For how long are the quagmirewort logs kept?")
    of_cleo = await town.says("cleo", room, "@footnote For how long are the pettifogweed logs kept?")
    await town.answered("cleo", room, of_cleo)
    ben = town.chat.people["ben"]
    await town.until(lambda: "zanzibariba" in str(standing(town, "zanzibariba")))
    before = standing(town, "quagmirewort", "zanzibariba", ben)
    assert {"quagmirewort", "zanzibariba", ben} <= {word for words in before.values() for word in words}
    would = await forget(town, "person", "ben", "--dry-run")
    assert not would["forgotten"]
    assert standing(town, "quagmirewort") != {}
    told = await forget(town, "person", f"{town.chat.platform}:{ben}")
    assert told["found"] == would["found"]
    assert (told["forgotten"], told["verified"], told["left"]) == (True, True, []), told
    assert standing(town, "quagmirewort", "zanzibariba", ben) == {}
    kept = {word for words in standing(town, "pettifogweed", "tintinnabula").values() for word in words}
    assert kept == {"pettifogweed", "tintinnabula"}
    # the bot still works
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="kept now", times=1)
    again = await town.says("ben", room, "@footnote For how long are logs kept now?")
    assert "Two weeks [1]." in (await town.answered("ben", room, again))[0].text


async def test_a_document_is_forgotten_with_what_was_answered_from_it(town: Scenario) -> None:
    room = town.room("ada", "ben", "cleo")
    text = "# Payroll\n\nThe xylocarpous bonus is paid in the jabberwockian week.\n"
    await town.knows(room, text, name="snickersnee.md")
    town.model.on(
        streamed("In the jabberwockian week [1]."), task="answer", matching="bonus be paid", times=1
    )
    asked = await town.says("ben", room, "@footnote When will the bonus be paid?")
    await town.answered("ben", room, asked)
    planted = ("xylocarpous", "jabberwockian", "snickersnee")
    await town.until(lambda: "jabberwockian" in str(standing(town, "jabberwockian")))
    names = {word for words in standing(town, *planted).values() for word in words}
    assert names == set(planted)
    [base] = [name for name in await bases(town) if room in name]
    told = await forget(town, "document", base, "snickersnee.md")
    assert (told["verified"], told["bytes_in"]) == (True, {}), told
    assert standing(town, *planted) == {}
    after = await town.says("ben", room, "@footnote When will the bonus be paid after all?")
    [answer] = await town.answered("ben", room, after)
    assert "jabberwockian" not in answer.text


async def test_a_channel_is_forgotten_with_its_threads_and_files(town: Scenario) -> None:
    room, other = town.room("ada", "ben", "cleo"), town.room("ada", "ben", "cleo")
    await town.knows(room, "# Rota\n\nThe gallimaufry rota is on the fridge.\n", name="flibberti.md")
    await town.knows(other, "# Rota\n\nThe other rota is in the drawer, hobbledehoy.\n", name="rota.md")
    town.model.on(streamed("On the fridge, snollygoster [1]."), task="answer", matching="rota hang", times=1)
    asked = await town.says("ben", room, "@footnote Where does the widdershinsy rota hang?")
    await town.answered("ben", room, asked)
    planted = ("gallimaufry", "flibberti", "snollygoster", "widdershinsy", room.lower())
    await town.until(lambda: "snollygoster" in str(standing(town, "snollygoster")))
    told = await forget(town, "channel", room)
    assert (told["verified"], told["bytes_in"]) == (True, {}), told
    assert standing(town, *planted) == {}
    assert "hobbledehoy" in str(standing(town, "hobbledehoy"))
    there = data_files.of(read({}).model_copy(update={"data_dir": town.folder / "data"}))
    names = {path.name for path in there.data_dir.iterdir() if not path.name.endswith(".lock")}
    assert names - {path.name for path in there.replaceable()} <= {
        "workers",
        "retention.json",
        "footnote.version",
    }, "what is kept is known by name"


async def bases(town: Scenario) -> list[str]:
    """The knowledge bases, as the operator sees them."""
    settings = {"PYTHONPATH": str(PROJECT), "FOOTNOTE_DATA_DIR": str(town.folder / "data")}
    process = await commands.start(
        *("kb", "list", "--json"), folder=town.folder, environment=environment(town.folder, **settings)
    )
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return [row["name"] for row in json.loads(out)]


async def test_a_persons_words_in_a_channel_that_is_a_source_are_forgotten(town: Scenario) -> None:
    room = town.room("ada", "ben", "cleo")
    await town.says("ben", room, "The flummadiddle of the boiler is replaced in May.")
    await town.says("cleo", room, "The boiler is borborygmic on Mondays.")
    await town.commands("ada", room, f"kb source action:add address:<#{room}>")
    await town.bot.until(lambda: '"channel_read"' in town.bot.log())
    assert standing(town, "flummadiddle") != {}
    ben = town.chat.people["ben"]
    told = await forget(town, "person", f"{town.chat.platform}:{ben}")
    assert (told["verified"], told["bytes_in"]) == (True, {}), told
    assert standing(town, "flummadiddle", ben) == {}
    await town.says("ben", room, "The flummadiddle was bought in Leeds.")
    town.model.on(streamed("Noises [1]."), task="answer", matching="boiler on Mondays", times=1)
    asked = await town.says("cleo", room, "@footnote What about the boiler on Mondays?")
    await town.answered("cleo", room, asked)
    assert "borborygmic" in next(each.text for each in reversed(town.model.requests) if each.task == "answer")
    with closing(sqlite3.connect(town.folder / "data" / "chat.sqlite")) as database:
        stored = [text for (text,) in database.execute("SELECT text FROM channel_messages")]
    assert stored == ["The boiler is borborygmic on Mondays."]
