"""Channels as sources on both platforms: history and new messages, edits, deletions, opting out, private channels, removal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import SECONDS, words

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {
    "FOOTNOTE_SLACK__HISTORY_CALLS": "40",
    "FOOTNOTE_DISCORD__HISTORY_CALLS": "60",
    "FOOTNOTE_SLACK__HISTORY_SECONDS": "8",
    "FOOTNOTE_DISCORD__HISTORY_SECONDS": "8",
}
ANNOUNCED = "can be answered from what people write here"


def mention(room: str) -> str:
    return f"<#{room}>"


async def source(town: Scenario, person: str, room: str, line: str, *, expected: str = "") -> Shown:
    """The reply to `/kb source` with the `expected` words, which only that person sees."""
    before = {each.id for each in town.ours(person, room)}
    await town.commands(person, room, f"kb source {line}")
    replies = await town.until(
        lambda: [
            each
            for each in town.ours(person, room)
            if each.id not in before
            and each.only_for
            and words(each)
            and expected in words(each)
            and not each.streaming
        ]
    )
    return replies[-1]


def times_read(town: Scenario) -> int:
    return town.bot.log().count('"channel_read"')


async def added(town: Scenario, room: str) -> None:
    before = times_read(town)
    await source(town, "ada", room, f"action:add address:{mention(room)}", expected="from now on")
    await town.written("ben", room, "", ANNOUNCED)
    await read(town, room, before)


async def read(town: Scenario, room: str, before: int) -> None:
    """Wait until the history was read to its end."""
    await town.bot.until(lambda: times_read(town) > before, seconds=2 * SECONDS)
    line = words(await source(town, "ada", room, "action:list", expected="messages:"))
    assert "still reading" not in line


async def asks(town: Scenario, person: str, room: str, text: str) -> str:
    """What the model was given and the person was shown."""
    before = len(town.model.requests)
    town.model.on(streamed("That is written here [1]."), task="answer", matching=text, times=1)
    question = await town.says(person, room, f"@footnote {text}")
    shown = [words(each) for each in await town.answered(person, room, question)]
    given = [each.text for each in town.model.requests[before:] if each.task == "answer"]
    return "\n".join((*given, *shown))


async def test_history_new_messages_edits_and_deletions_are_seen_by_the_next_question(town: Scenario) -> None:
    room = town.room()
    root = await town.says("ben", room, "Where is the spare projector kept?")
    await town.says("cleo", room, "The projector is kept in cupboard nine of the attic.", thread=root)
    await town.says("ben", room, "The parking permit for visitors is at the porter's lodge.")
    await town.says("robot", room, "The parking permit is a lie told by a robot.")
    await added(town, room)
    told = await asks(town, "ben", room, "Where is the projector kept?")
    assert "cupboard nine" in told
    new = await town.says("cleo", room, "The alarm code of the workshop is seven four one two.")
    assert "seven four one two" in await asks(town, "ben", room, "What is the alarm code of the workshop?")
    await town.chat.edits(new, "The alarm code of the workshop is eight eight three zero.")
    told = await asks(town, "ben", room, "Tell me the alarm code of the workshop?")
    assert "eight eight three zero" in told
    assert "seven four" not in told
    await town.chat.deletes(new)
    assert "eight eight" not in await asks(town, "ben", room, "What alarm code has the workshop?")
    told = await asks(town, "ben", room, "Where is the parking permit for visitors?")
    assert "porter's lodge" in told
    assert "robot" not in told


async def test_only_the_channel_reads_it_and_only_an_administrator_who_is_in_it_adds_it(
    town: Scenario,
) -> None:
    room, other = town.room("ada", "ben", private=True), town.room()
    await town.says("ben", room, "The salary round of the choir starts in October.")
    told = await source(town, "ben", room, f"action:add address:{mention(room)}")
    assert "from now on" not in words(told)
    assert [each for each in town.ours("ada", room) if ANNOUNCED in words(each)] == []
    await town.says("cleo", other, "The rehearsal is on Friday.")
    await added(town, other)
    told = await source(town, "ada", other, f"action:add address:{mention(room)} name:{mention(other)}")
    assert "can only go into a knowledge base of" in words(told)
    before = times_read(town)
    told = await source(town, "ada", room, f"action:add address:{mention(room)}")
    assert "from now on" in words(told)
    await town.written("ada", room, "", ANNOUNCED)
    await read(town, room, before)
    assert "October" in await asks(town, "ben", room, "When does the salary round of the choir start?")
    assert "October" not in await asks(town, "ben", other, "When does the salary round of our choir start?")
    direct = town.direct("cleo")
    assert "October" not in await asks(
        town, "cleo", direct, "When does the salary round of that choir start?"
    )


async def test_who_opts_out_is_left_out_and_a_removed_channel_is_forgotten(town: Scenario) -> None:
    room = town.room()
    await town.says("ben", room, "The heating of the greenhouse is set to nineteen degrees.")
    await town.says("cleo", room, "The lock of the greenhouse sticks in winter.")
    await added(town, room)
    assert "nineteen" in await asks(town, "ada", room, "What is the heating of the greenhouse set to?")
    told = await source(town, "ben", room, "action:optout")
    assert "I removed your messages" in words(told)
    assert "nineteen" not in await asks(town, "ada", room, "To what is the heating of the greenhouse set?")
    await town.says("ben", room, "The heating of the greenhouse is now at twenty-two degrees.")
    before = times_read(town)
    await source(town, "ada", room, f"action:run address:{mention(room)}")
    await read(town, room, before)
    told = await asks(town, "ada", room, "What about the heating of the greenhouse?")
    assert "nineteen" not in told
    assert "twenty-two" not in told
    assert "sticks" in await asks(town, "ada", room, "What is wrong with the lock of the greenhouse?")
    question = await source(town, "ada", room, f"action:remove address:{mention(room)}")
    await town.clicks("ada", question, "Remove")
    await town.written("ada", room, "", "with its documents")
    assert "sticks" not in await asks(town, "ada", room, "Which lock of the greenhouse sticks, and when?")
