"""Files in threads, slash commands, and buttons with private answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.chat_server import Upload
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import file, words

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = "# Logs\n\nLogs are kept for two weeks. Backups are kept for one year.\n"
CANTEEN = "# Canteen\n\nThe canteen opens at noon and closes at two.\n"


async def private(town: Scenario, person: str, room: str, expected: str) -> Shown:
    """Wait for what only this person sees."""
    who = town.chat.people[person]
    found = await town.until(
        lambda: [each for each in town.ours(person, room) if each.only_for == who and expected in words(each)]
    )
    return found[-1]


async def test_a_file_in_a_thread_is_read_and_asked_about_a_moment_later(town: Scenario) -> None:
    room = town.room()
    town.model.on(streamed("At noon [1]."), task="answer", matching="canteen open", times=1)
    opening = await town.says("ben", room, "Here is the new plan.")
    await town.says(
        "ben",
        room,
        "@footnote When does the canteen open?",
        thread=opening,
        files=(file("canteen.md", CANTEEN), Upload(name="empty.txt", content=b"")),
    )
    answer = await town.written("ben", room, opening, "At noon [1].")
    whole = await town.until(lambda: town.answer("ben", room, opening))
    assert "canteen.md: 1 passage, searchable" in words(whole[-1])
    assert "empty.txt: the file is empty." in words(whole[-1])
    shown = [text.replace("`", "") for text in town.story(answer)]
    assert any("canteen.md: received" in text or "canteen.md: reading" in text for text in shown), shown


async def test_files_of_a_thread_are_not_visible_outside(town: Scenario) -> None:
    room = town.room()
    opening = await town.says("ben", room, "Here is the plan.")
    await town.says("ben", room, "@footnote", thread=opening, files=(file("canteen.md", CANTEEN),))
    await town.written("ben", room, opening, "searchable")
    outside = await town.says("ben", room, "@footnote When does the canteen open outside?")
    await town.written("ben", room, outside, "There are no files here that everyone")


async def test_a_file_is_promoted_from_its_thread_to_the_channel(town: Scenario) -> None:
    room = town.room()
    town.model.on(streamed("At two [1]."), task="answer", matching="promoted canteen", times=1)
    opening = await town.says("ada", room, "Here is the plan.")
    await town.says("ada", room, "@footnote", thread=opening, files=(file("canteen.md", CANTEEN),))
    shown = await town.written("ada", room, opening, "searchable")
    await town.until(lambda: town.answer("ada", room, opening) or town.chat.shown(shown.id).buttons)
    await town.clicks("ada", town.chat.shown(shown.id), "Promote")
    await town.until(
        lambda: [each for each in town.ours("ada", room, opening) if "of this channel now" in each.text]
    )
    question = await town.says("ben", room, "@footnote When does the promoted canteen close?")
    answer = await town.answered("ben", room, question)
    assert words(answer[-1]).startswith("At two [1].")


async def test_sources_are_shown_only_to_the_person_who_asks(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="sourced logs", times=1)
    question = await town.says("ben", room, "@footnote How long are sourced logs kept?")
    (answer,) = await town.answered("ben", room, question)
    await town.clicks("cleo", answer, "Sources")
    who = town.chat.people["cleo"]
    shown = await town.until(
        lambda: [each for each in town.ours("cleo", room, question) if each.only_for == who]
    )
    await town.until(lambda: "two weeks" in words(town.chat.shown(shown[-1].id)))
    assert "handbook.md" in words(town.chat.shown(shown[-1].id))
    assert not [each for each in town.ours("ben", room, question) if each.only_for]


async def test_why_is_explained_only_to_the_person_who_asks(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="explained logs", times=1)
    question = await town.says("ben", room, "@footnote How long are explained logs kept?")
    (answer,) = await town.answered("ben", room, question)
    await town.clicks("cleo", answer, "Why this?")
    who = town.chat.people["cleo"]
    shown = await town.until(
        lambda: [each for each in town.ours("cleo", room, question) if each.only_for == who]
    )
    await town.until(lambda: "explained logs" in words(town.chat.shown(shown[-1].id)))
    text = words(town.chat.shown(shown[-1].id))
    assert "handbook.md" in text
    assert "Written by: scripted" in text
    assert not [each for each in town.ours("ben", room, question) if each.only_for]


async def test_the_command_why_explains_the_last_answer(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="commanded logs", times=1)
    question = await town.says("ben", room, "@footnote How long are commanded logs kept?")
    await town.answered("ben", room, question)
    await town.commands("ben", room, "/why")
    shown = await town.written("ben", room, "", "Question: How long are commanded logs kept?")
    assert shown.only_for == town.chat.people["ben"]


async def test_a_rating_is_thanked_for_privately(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="rated logs", times=1)
    question = await town.says("ben", room, "@footnote How long are rated logs kept?")
    (answer,) = await town.answered("ben", room, question)
    await town.clicks("cleo", answer, "Helpful")
    who = town.chat.people["cleo"]
    await town.until(
        lambda: [
            each
            for each in town.ours("cleo", room, question)
            if each.only_for == who and "Thank you" in each.text
        ]
    )


async def test_commands_are_answered_privately(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    await town.commands("ben", room, "/kb show")
    shown = await private(town, "ben", room, "handbook.md")
    assert shown.only_for == town.chat.people["ben"]
    assert not [each for each in town.ours("cleo", room) if each.id == shown.id]
    await town.commands("ben", room, "/help")
    await private(town, "ben", room, "/ask")


async def test_anyone_but_an_administrator_is_refused_privately(town: Scenario) -> None:
    room = town.room()
    await town.commands("ben", room, "/kb create Secrets")
    shown = await private(town, "ben", room, "admin")
    assert "Only" in words(shown)


async def test_an_administrator_makes_a_knowledge_base_and_binds_it(town: Scenario) -> None:
    room, other = town.room(), town.room()
    await town.commands("ada", room, f"/kb create Policies{room[-4:]}")
    await private(town, "ada", room, f"Policies{room[-4:]}")
    await town.commands("ada", other, f"/kb bind Policies{room[-4:]}")
    await private(town, "ada", other, f"Policies{room[-4:]}")


async def test_ask_answers_privately(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("One year [1]."), task="answer", matching="quietly kept", times=1)
    await town.commands("ben", room, "/ask How long are backups quietly kept?")
    shown = await private(town, "ben", room, "One year [1].")
    assert "handbook.md" in words(shown)
    assert not [each for each in town.ours("cleo", room) if "One year" in each.text]


async def test_new_starts_over_in_private_questions(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)

    async def asked(what: str) -> str:
        """What the model read for a question."""
        town.model.on(
            streamed(f"As for {what}, one year [1]."), task="answer", matching=f"are {what} kept", times=1
        )
        await town.commands("ben", room, f"/ask How long are {what} kept?")
        await private(town, "ben", room, f"As for {what}, one year [1].")
        return next(each.text for each in reversed(town.model.requests) if each.task == "answer")

    await asked("paper logs")
    assert "paper logs" in await asked("tape backups")
    await town.commands("ben", room, "/new")
    await private(town, "ben", room, "A new topic: I no longer refer to what was said before.")
    assert "paper logs" not in await asked("disk backups")
