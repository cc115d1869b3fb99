"""Which messages are answered, in which order, and what a conversation hears. Through the service, over ports in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.conversation.turn.context import place_conversation
from bot.port import Command, Person
from bot.settings import ChatSettings
from bot.store.places import PlaceSettings
from tests.unit.bot.asked import LEAVE, QUESTION, WITH_ID, here, prompt
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, THREAD, Here, world

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from bot.access.permissions import Scope
    from tests.unit.bot.chatting import World

__all__ = ["here"]  # a fixture


async def test_a_message_that_is_delivered_twice_is_answered_once(here: World) -> None:
    here.says("28 days [1].")
    message = here.chat.message(QUESTION)
    await here.send(message)
    await here.send(message)
    await here.send(replace(message, text=""))  # as Slack delivers some again
    assert len(here.chat.posts) == 1


async def test_twins_that_come_at_the_same_time_are_one_question(here: World) -> None:
    here.says("28 days [1].")
    message = here.chat.message(QUESTION)
    await asyncio.gather(*(here.send(message) for _ in range(5)))
    assert len(here.chat.posts) == 1


async def test_our_own_messages_and_other_bots_are_ignored(here: World) -> None:
    await here.send(here.chat.message(QUESTION, ours=True))
    await here.send(here.chat.message(QUESTION, by_bot=True, person=Person(id="B7")))
    assert not here.chat.posts


async def test_a_bot_that_is_allowed_has_so_many_answers_in_a_thread(tmp_path: Path) -> None:
    async with world(tmp_path, settings=ChatSettings(bots=("B7",), bot_turns=2)) as here:
        await here.file("leave.md", LEAVE)
        here.says("28 days [1].")
        for _ in range(4):
            bot = Person(id="B7", name="Other")
            await here.send(
                here.chat.message(QUESTION, by_bot=True, person=bot, place=THREAD, in_thread=True)
            )
        assert len(here.chat.posts) == 2
        await here.ask(QUESTION, place=THREAD, in_thread=True)
        assert len(here.chat.posts) == 3, "people are not counted"


async def test_in_a_thread_with_one_person_a_mention_is_enough_once(here: World) -> None:
    here.says("28 days [1].")
    first = await here.ask(QUESTION)
    await here.send(here.chat.message("And next year?", place=first.place, in_thread=True, addressed=False))
    assert len(here.chat.posts) == 2
    await here.send(here.chat.message("Thanks!", place=first.place, in_thread=True, addressed=False))
    assert len(here.chat.posts) == 2, "a courtesy needs no answer"


async def test_among_several_people_only_what_addresses_us_is_answered(here: World) -> None:
    here.says("28 days [1].")
    first = await here.ask(QUESTION)
    in_thread = {"place": first.place, "in_thread": True}
    await here.send(here.chat.message("Really?", person=BEN, addressed=False, **in_thread))
    assert len(here.chat.posts) == 1
    await here.send(here.chat.message("And next year?", addressed=False, **in_thread))
    assert len(here.chat.posts) == 1, "two people now"
    await here.send(here.chat.message("And next year?", person=BEN, **in_thread))
    assert len(here.chat.posts) == 2


async def test_where_nobody_knows_who_is_in_the_thread_only_a_mention_counts(here: World) -> None:
    here.says("28 days [1].")
    first = await here.ask(QUESTION)
    here.chat.mute = True
    await here.send(here.chat.message("And next year?", place=first.place, in_thread=True, addressed=False))
    assert len(here.chat.posts) == 1


async def test_in_a_place_of_mentions_a_thread_is_no_invitation(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="mention")
    here.says("28 days [1].")
    first = await here.ask(QUESTION)
    await here.send(here.chat.message("And next year?", place=first.place, in_thread=True, addressed=False))
    assert len(here.chat.posts) == 1
    assert here.chat.reads == 0


async def test_why_a_message_was_left_alone_is_logged_without_its_text(
    here: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        await here.send(here.chat.message("secret-word", addressed=False))
    (record,) = [one for one in caplog.records if one.message == "message_left_alone"]
    assert record.fields["why"] == "not addressed, outside threads"
    assert "secret-word" not in str(record.__dict__)


async def test_where_everything_is_answered_a_question_needs_no_mention(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    here.says("You have ", "28 days [1]", " a year.")
    await here.send(here.chat.message(QUESTION, addressed=False))
    assert here.last.text == "You have 28 days [1] a year."
    await here.send(here.chat.message("I am on leave tomorrow.", addressed=False))
    await here.send(here.chat.message("@Ben, how many days?", addressed=False, to_others=True))
    assert len(here.chat.posts) == 1


async def test_unasked_it_speaks_only_if_the_files_say_something(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    here.says("I do not know.")
    message = here.chat.message("What is for lunch?", addressed=False)
    await here.send(message)
    assert not here.chat.posts
    here.town.empty = True
    await here.send(here.chat.message("What is for lunch?", addressed=False))
    assert not here.chat.posts
    assert await here.turns.of_message(message.place, message.id) is None, "nothing of it is kept"


async def test_unasked_no_thread_is_opened_before_there_is_something_to_say(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    here.says("I do not know.")
    silent = here.chat.message("What is for lunch?", addressed=False)
    room = Here(here.chat, silent.place, silent, threads=False)
    await here.send(silent, into=room)
    assert room.opened == 0
    here.says("28 days [1].")
    message = here.chat.message(QUESTION, addressed=False)
    await here.send(message, into=Here(here.chat, message.place, message, threads=False))
    turn = await here.turns.of_message(message.place, message.id)
    assert turn is not None
    assert turn.place == CHANNEL


async def test_where_no_thread_can_be_opened_the_channel_is_the_conversation(here: World) -> None:
    here.says("28 days [1].")
    first = here.chat.message(QUESTION)
    await here.send(first, into=Here(here.chat, first.place, first, threads=False))
    here.says("Every year [1].")
    second = here.chat.message("Every year?")
    await here.send(second, into=Here(here.chat, second.place, second, threads=False))
    assert "28 days" in prompt(here)
    turn = await here.turns.of_message(second.place, second.id)
    assert turn is not None
    assert turn.place == CHANNEL


# --- what was said before


async def test_a_mention_in_a_running_thread_reads_what_others_said(here: World) -> None:
    in_thread = {"place": THREAD, "in_thread": True, "addressed": False}
    here.chat.message("We talk about parental leave.", person=BEN, **in_thread)
    here.chat.message("For the Lisbon office.", person=Person(id="U5"), **in_thread)
    here.says("28 days [1].")
    await here.ask("How many days?", place=THREAD, in_thread=True)
    assert "Ben: We talk about parental leave." in prompt(here)
    assert "Someone: For the Lisbon office." in prompt(here)
    assert "U5" not in prompt(here)


async def test_our_answers_are_not_read_twice(here: World) -> None:
    here.says("28 days [1].")
    first = await here.ask(QUESTION)
    in_thread = {"place": first.place, "in_thread": True}
    here.chat.message("I read 30 somewhere.", person=BEN, addressed=False, **in_thread)
    await here.ask("Who is right?", **in_thread)
    said = prompt(here)
    assert said.count(QUESTION) == 1
    assert "Ann: " not in said
    assert said.index(QUESTION) < said.index("28 days") < said.index("Ben: I read 30 somewhere.")


async def test_a_bare_mention_takes_what_its_asker_wrote_before(here: World) -> None:
    here.chat.message("Unrelated.", person=BEN, addressed=False)
    here.chat.message(QUESTION, addressed=False)
    here.chat.message("Me too!", person=BEN, addressed=False)
    here.says("28 days [1].")
    post = await here.ask("")
    assert post.text == "28 days [1]."
    assert QUESTION in prompt(here)


async def test_a_bare_mention_with_nothing_before_it_gets_a_hint_how_to_ask(here: World) -> None:
    here.chat.message(QUESTION, addressed=False, at=1.0)
    post = await here.ask("")
    assert "Ask me a question" in post.text
    assert not here.model.prompts


async def test_a_bare_mention_does_not_ask_again_what_was_answered(here: World) -> None:
    here.says("28 days [1].")
    await here.ask(QUESTION)
    post = await here.ask("")
    assert "Ask me a question" in post.text


# --- one after the other


async def test_one_answer_at_a_time_in_a_conversation_and_the_queue_has_an_end(tmp_path: Path) -> None:
    async with world(tmp_path, settings=ChatSettings(waiting=1)) as here:
        await here.file("leave.md", LEAVE)
        gate = asyncio.Event()
        here.says("28 days [1].", gates=(gate,))
        asked = [here.chat.message(QUESTION, place=THREAD, in_thread=True) for _ in range(3)]
        first = asyncio.create_task(here.send(asked[0]))
        await asyncio.wait_for(here.model.opened.wait(), 5)
        second = asyncio.create_task(here.send(asked[1]))
        await here.chat.until(lambda: len(here.chat.posts) == 2 and bool(here.last.statuses[-1:]))
        await here.chat.until(lambda: here.last.statuses[-1] == "Waiting for the answer before this one…")
        await here.send(asked[2])
        assert here.last.text == "The queue here is full: 1 question is waiting. Ask again in a moment."
        assert len(here.model.prompts) == 1
        gate.set()
        await asyncio.gather(first, second)
        assert [post.text for post in here.chat.public][:2] == ["28 days [1].", "28 days [1]."]


async def test_different_threads_are_answered_side_by_side(here: World) -> None:
    gate = asyncio.Event()
    here.says("28 days [1].", gates=(gate,))
    waiting = asyncio.create_task(here.send(here.chat.message(QUESTION)))
    await asyncio.wait_for(here.model.opened.wait(), 5)
    here.says("Thirty [1].", pattern="Berlin")
    assert (await here.ask("How many days in Berlin?")).text == "Thirty [1]."
    gate.set()
    await waiting


async def test_where_there_are_no_threads_people_do_not_wait_for_each_other(here: World) -> None:
    gate = asyncio.Event()
    here.says("28 days [1].", gates=(gate,))
    first = asyncio.create_task(here.send(here.chat.message(QUESTION, place=CHANNEL)))
    await asyncio.wait_for(here.model.opened.wait(), 5)
    here.says("Thirty [1].", pattern="Berlin")
    berlin = await here.ask("How many days in Berlin?", place=CHANNEL, person=BEN)
    assert berlin.text == "Thirty [1]."
    second = asyncio.create_task(here.send(here.chat.message("And in Paris?", place=CHANNEL)))
    await here.chat.until(lambda: here.last.statuses[-1:] == ["Waiting for the answer before this one…"])
    gate.set()
    await asyncio.gather(first, second)
    turns = await here.history.read(place_conversation(CHANNEL), limit=10)
    assert {turn.text for turn in turns} >= {QUESTION, "How many days in Berlin?", "And in Paris?"}


# --- commands


async def test_ask_is_private_and_remembers_only_its_own(here: World) -> None:
    seen: list[Person | None] = []
    real = here.town.scope

    async def watched(
        place: object, directory: object, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope:
        seen.append(person)
        return await real(place, directory)

    here.town.scope = watched
    here.says("28 days [1].")
    await here.command("ask", QUESTION)
    assert here.last.private == ANN
    assert here.last.text == "28 days [1]."
    await here.command("ask", "And next year?", person=BEN)
    assert QUESTION not in prompt(here)
    await here.command("ask", "And next year?")
    assert QUESTION in prompt(here)
    assert seen == [ANN, BEN, ANN]


async def test_ask_in_the_channel_is_for_everybody(here: World) -> None:
    here.says("28 days [1].")
    await here.command("ask", f"channel: {QUESTION}")
    assert here.last.private is None
    assert here.last.text == "28 days [1]."


async def test_an_empty_ask_gets_a_hint_and_other_commands_run_privately(here: World) -> None:
    await here.command("ask", "")
    assert here.last.private == ANN
    assert "/ask" in here.last.text
    await here.command("kb", "list")
    assert here.last.private == ANN
    assert here.last.text == "done: kb list"
    await here.command("kb", "fail")
    assert WITH_ID.search(here.last.text)


async def test_a_command_that_is_delivered_twice_is_done_once(here: World) -> None:
    command = Command(id="c1", name="kb", line="list", place=CHANNEL, person=ANN)
    for _ in range(2):
        await here.service.on_command(command, Here(here.chat, CHANNEL))
    assert len(here.chat.posts) == 1
