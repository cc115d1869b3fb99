"""Newcomers: small talk, files without words, a message when we join, and the overview."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import Arrival, MessageDeleted, Person
from bot.store.places import PlaceSettings
from tests.unit.bot.chatting import ADMIN, ANN, BEN, CHANNEL, DIRECT, THREAD, Here, attachment
from tests.unit.bot.conversation.leave import LEAVE

if TYPE_CHECKING:
    from tests.unit.bot.chatting import World


@pytest.mark.parametrize(
    ("text", "language", "beginning"),
    [
        ("hi", "", "Hello! Ask me"),
        ("hi", "de", "Hallo! Stell mir"),
        ("muchas gracias", "", "De nada."),
        ("thanks!", "", "You are welcome."),
        ("?", "", "I answer from the files"),
        ("help", "", "I answer from the files"),
        ("使い方は？", "", ""),
    ],
)
async def test_small_talk_is_answered_and_never_searched(
    here: World, text: str, language: str, beginning: str
) -> None:
    await here.file("leave.md", LEAVE)
    post = await here.ask(text, person=Person(id="U9", language=language))
    assert post.text.startswith(beginning)
    assert post.buttons == []
    assert post.statuses == []
    assert here.model.prompts == []
    turn = await here.turns.of_message(post.place, here.chat.said[0].id)
    assert turn is not None
    assert (turn.state, turn.citations) == ("final", ())


async def test_small_talk_that_nobody_sent_to_us_is_left_alone(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    for text in ("hi", "thanks", "?", "help?"):
        await here.send(here.chat.message(text, addressed=False))
    assert here.chat.posts == {}


async def test_words_that_present_a_file_are_not_searched(here: World) -> None:
    post = await here.ask("and these?", attachment("leave.md", LEAVE), place=THREAD, in_thread=True)
    assert post.text == "- leave.md: 1 passage, searchable"
    assert here.model.prompts == []
    assert here.chat.reactions == [here.chat.said[0].id]


async def dropped(here: World, *names: str) -> None:
    """A file in the middle of other people's conversation."""
    files = [attachment(name, LEAVE) for name in names]
    message = here.chat.message("fyi", *files, person=BEN, addressed=False, place=THREAD, in_thread=True)
    await here.send(message)


async def test_a_file_without_words_is_marked_where_we_take_part(here: World) -> None:
    await dropped(here, "before.md")
    assert (here.chat.reactions, here.chat.posts) == ([], {}), "we had no part in it"
    await here.ask("hi", place=THREAD, in_thread=True)
    await dropped(here, "leave.md")
    assert len(here.chat.posts) == 1
    assert here.chat.reactions == [here.chat.said[-1].id]
    await dropped(here, "leave.unknown", "pay.md")
    assert here.last.text.startswith("- leave.unknown: ")
    assert "pay.md" not in here.last.text
    assert here.chat.reactions is not None
    assert len(here.chat.reactions) == 2


async def test_a_file_that_failed_gets_one_line_and_no_mark(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    bad = attachment("leave.unknown", LEAVE)
    await here.send(here.chat.message("", bad, person=ADMIN, addressed=False))
    assert here.last.text.startswith("- leave.unknown: ")
    assert here.last.statuses == []
    assert here.chat.reactions == []


async def test_without_the_permission_to_react_the_line_is_written(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    here.chat.reactions = None
    file = attachment("leave.md", LEAVE)
    await here.send(here.chat.message("", file, person=ADMIN, addressed=False))
    assert here.last.text == "- leave.md: 1 passage, searchable"


async def test_deleting_a_marked_file_removes_it(here: World) -> None:
    here.town.settings_of["general"] = PlaceSettings(mode="auto")
    message = here.chat.message("", attachment("leave.md", LEAVE), person=ADMIN, addressed=False)
    await here.send(message)
    assert here.chat.posts == {}
    gone = MessageDeleted(id=message.id, place=message.place)
    await here.service.on_message(gone, Here(here.chat, message.place))
    (base,) = await here.catalog.knowledge_bases()
    assert await here.catalog.records(base.id) == []


# --- arrivals


def joined(identity: str = "C1:1", person: Person = ANN) -> Arrival:
    return Arrival(kind="joined", id=identity, place=CHANNEL, person=person)


async def test_we_say_once_what_we_can_do_when_we_join(here: World) -> None:
    arrival = joined(person=replace(ANN, language="de"))
    room = Here(here.chat, CHANNEL)
    await asyncio.gather(*(here.service.on_arrival(arrival, room) for _ in range(3)))
    here.service = here.assemble()  # a restart
    await here.service.on_arrival(arrival, room)
    (post,) = here.chat.public
    assert post.text.startswith("Hallo! Ich beantworte")
    assert all(step in post.text for step in ("1.", "/ask", "/kb help"))
    await here.service.on_arrival(joined("C1:2"), room)
    assert len(here.chat.public) == 2


async def test_an_arrival_that_could_not_be_answered_is_answered_after_a_restart(here: World) -> None:
    here.chat.fault = RuntimeError("killed")
    await here.service.on_arrival(joined(), Here(here.chat, CHANNEL))
    here.chat.fault = None
    here.service = here.assemble()
    await here.service.on_arrival(joined(), Here(here.chat, CHANNEL))
    assert len(here.chat.public) == 1


async def test_the_overview_names_what_the_person_can_search(here: World) -> None:
    room = Here(here.chat, DIRECT)
    empty = await here.service.overview(ANN, DIRECT, room)
    assert empty.knowledge_bases == ("There are no files for you yet.",)
    assert empty.prompts == ("What can you do?",)
    await here.file("leave.md", LEAVE, place=DIRECT)
    shown = await here.service.overview(ANN, DIRECT, room)
    assert [each.partition(": ")[2] for each in shown.knowledge_bases] == ["1 document"]
    assert shown.prompts == ("Summarize leave.md", "What can you do?")
