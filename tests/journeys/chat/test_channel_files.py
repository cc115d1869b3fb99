"""Files in the messages of channels that are sources, on both platforms: read, cited by their message, and gone with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.chat.scenario import SECONDS, file, words
from tests.journeys.chat.test_channel_sources import SETTINGS as CHANNELS
from tests.journeys.chat.test_channel_sources import added, asks, source

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {**CHANNELS, "FOOTNOTE_PARSING__FILE_MB": "1"}


def files_read(town: Scenario) -> int:
    return town.bot.log().count('"channel_file_read"')


async def posted(town: Scenario, person: str, room: str, name: str, text: str, *, said: str = "") -> str:
    """A message with a file, once the file was read."""
    before = files_read(town)
    message = await town.says(person, room, said, files=(file(name, text),))
    await town.bot.until(lambda: files_read(town) > before, seconds=2 * SECONDS)
    return message


async def test_files_of_history_and_of_now_answer_and_go_with_their_message(town: Scenario) -> None:
    room, other = town.room(), town.room()
    old = await town.says(
        "ben", room, "", files=(file("berths.md", "The berth of the tugboat is number forty-one."),)
    )
    before = files_read(town)
    await added(town, room)
    await town.bot.until(lambda: files_read(town) > before, seconds=2 * SECONDS)
    told = await asks(town, "cleo", room, "Which berth has the tugboat?")
    assert "forty-one" in told
    assert "berths.md" in told
    assert f"{old.replace('.', '')}" in told, "its message is linked"
    new = await posted(
        town, "cleo", room, "tides.md", "The spring tide of the estuary peaks at dawn.", said="Look"
    )
    assert "at dawn" in await asks(town, "ben", room, "When does the spring tide of the estuary peak?")
    assert "at dawn" not in await asks(town, "ben", other, "When peaks the spring tide of the estuary?")
    await town.chat.deletes(new)
    assert "at dawn" not in await asks(town, "ben", room, "At what time does the spring tide peak?")
    assert "forty-one" in await asks(town, "ben", room, "What berth has the tugboat got?")


async def test_who_opts_out_takes_files_along_and_no_later_one_is_read(town: Scenario) -> None:
    room = town.room()
    await town.says("ada", room, "The regatta is in June.")
    await added(town, room)
    await posted(town, "ben", room, "ropes.md", "The rope of the winch is made of hemp from Riga.")
    await posted(town, "cleo", room, "winch.md", "The winch is greased each Thursday.")
    assert "Riga" in await asks(town, "ada", room, "What is the rope of the winch made of?")
    await source(town, "ben", room, "action:optout", expected="I removed your messages")
    assert "Riga" not in await asks(town, "ada", room, "Of what is the rope of the winch made?")
    await town.says("ben", room, "", files=(file("rope2.md", "The rope of the winch now comes from Oslo."),))
    await posted(town, "cleo", room, "last.md", "The crane is painted green.")
    told = await asks(town, "ada", room, "Where does the rope of the winch come from?")
    assert "Riga" not in told
    assert "Oslo" not in told
    assert "Thursday" in await asks(town, "ada", room, "When is the winch greased?")
    await source(town, "ben", room, "action:optin")


async def test_what_is_too_large_or_broken_is_said_and_other_kinds_are_left_out(town: Scenario) -> None:
    room = town.room()
    await town.says("ada", room, "The regatta is in June.")
    await added(town, room)
    await town.says("ben", room, "", files=(file("film.mp4", "not a film"),))
    await town.says("ben", room, "", files=(file("vast.md", "word " * 300_000),))
    before = files_read(town)
    await town.says("ben", room, "", files=(file("broken.pdf", "%PDF-1.7 nothing"),))
    await town.bot.until(lambda: files_read(town) > before, seconds=2 * SECONDS)
    await posted(town, "ben", room, "fine.md", "The buoy is red.")
    told = await status(town, room)
    assert "vast.md" in told
    assert "1 MB" in told
    assert "broken.pdf" in told
    assert "film.mp4" not in told
    assert "files that I cannot read: 3" in words(
        await source(town, "ada", room, "action:list", expected="messages:")
    )
    assert "is red" in await asks(town, "ada", room, "What colour has the buoy?")


async def status(town: Scenario, room: str) -> str:
    before = {each.id for each in town.ours("ada", room)}
    await town.commands("ada", room, "kb status")
    found = await town.until(
        lambda: [
            each for each in town.ours("ada", room) if each.id not in before and "vast.md" in words(each)
        ]
    )
    return words(found[-1])
