"""Other ways to ask, when to be silent, and what an answer must never do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import OPENING, file, paced, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = f"# Logs\n\n{OPENING}Logs are kept for two weeks. Backups are kept for one year. See https://ours.example/logs for more.\n"
SHORTCUTS = {"slack": "ask_about_this", "discord": "Ask about this"}
HOSTILE = (
    "Kept for two weeks [1]. <!channel> <!here> @everyone @here {ben} "
    "[Click here](https://evil.example/a) https://evil.example/b www.evil.example <https://evil.example/c|more> "
    "![p](https://evil.example/d.png) [x]: https://evil.example/e and https://ours.example/logs"
)


async def mode(town: Scenario, room: str, chosen: str) -> None:
    """Set the channel's mode."""
    line = f"/kb settings mode {chosen}" if town.chat.platform == "slack" else f"/kb settings mode:{chosen}"
    await town.commands("ada", room, line)
    await town.until(
        lambda: [each for each in town.ours("ada", room) if each.only_for and chosen in words(each)]
    )


async def test_a_thread_with_one_person_continues_without_mentions(town: Scenario) -> None:
    room = town.room()
    await mode(town, room, "thread")
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="threaded logs", times=1)
    town.model.on(
        streamed('{"question": "How long are threaded backups kept?"}'),
        task="understand",
        matching="threaded backups",
    )
    town.model.on(streamed("One year [1]."), task="answer", matching="threaded backups", times=1)
    question = await town.says("ben", room, "@footnote How long are threaded logs kept?")
    await town.answered("ben", room, question)
    await town.says("ben", room, "And the threaded backups?", thread=question)
    await town.written("ben", room, question, "One year [1].")


async def test_among_several_people_only_what_is_addressed_is_answered(town: Scenario) -> None:
    room = town.room()
    await mode(town, room, "thread")
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="shared logs", times=1)
    question = await town.says("ben", room, "@footnote How long are shared logs kept?")
    await town.answered("ben", room, question)
    await town.says("cleo", room, "Is that enough, do you think?", thread=question)
    await town.says("ben", room, "What does ada say about it?", thread=question)
    town.chat.server.advance(1)
    town.model.on(streamed("One year [1]."), task="answer", matching="addressed backups", times=1)
    town.model.on(
        streamed('{"question": "How long are addressed backups kept?"}'),
        task="understand",
        matching="addressed backups",
    )
    await town.says("cleo", room, "@footnote How long are addressed backups kept?", thread=question)
    await town.written("cleo", room, question, "One year [1].")
    assert len([each for each in town.ours("ben", room, question) if not each.only_for]) == 2
    heard = [each.text for each in town.model.requests if "addressed backups" in each.text]
    assert any("Is that enough" in text for text in heard)


async def test_a_channel_where_every_question_is_answered(town: Scenario) -> None:
    room = town.room()
    await mode(town, room, "auto")
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="free logs", times=1)
    await town.says("ben", room, "I am back from lunch.")
    question = await town.says("ben", room, "How long are free logs kept?")
    await town.answered("ben", room, question)
    assert not any("lunch" in each.text.rpartition("free logs")[2] for each in town.model.requests)


async def test_a_message_is_asked_about_from_its_menu(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="chosen logs", times=1)
    message = await town.says("ben", room, "How long are chosen logs kept?")
    who = town.chat.people["cleo"]
    await town.chat.shortcut(who, message, SHORTCUTS[town.chat.platform])
    found = await town.until(
        lambda: [
            each for each in town.ours("cleo", room) if "Two weeks" in words(each) and each.only_for == who
        ]
    )
    assert found[0].only_for == who
    assert not [each for each in town.ours("ben", room) if "Two weeks" in words(each)]


async def test_an_answer_pings_nobody_and_leads_nowhere_but_to_its_sources(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    seen = len(town.chat.server.links)
    text = HOSTILE.format(ben=f"<@{town.chat.people['ben']}>")
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    town.model.on(streamed(*pieces), task="answer", matching="hostile logs", times=1)
    question = await town.says("ben", room, "@footnote How long are hostile logs kept?")
    (answer,) = await town.answered("ben", room, question)
    assert words(answer).startswith("Kept for two weeks [1].")
    assert town.chat.server.pings == []
    shown = {each.url for each in town.chat.server.links[seen:]}
    assert not [url for url in shown if "evil" in url]
    assert any("slack.com" in url or "discord.com" in url for url in shown)


async def test_a_file_is_asked_about_while_others_are_answered(town: Scenario) -> None:
    one, other = town.room(), town.room()
    never = asyncio.Event()
    await asyncio.gather(*(town.knows(room, HANDBOOK) for room in (one, other)))
    town.model.on(paced(OPENING, never, "Two weeks [1]."), task="answer", matching="waiting logs", times=1)
    town.model.on(streamed("At noon [1]."), task="answer", matching="open canteen", times=1)
    slow = await town.says("ben", one, "@footnote How long are waiting logs kept?")
    await town.written("ben", one, slow, "The handbook names")
    quick = await town.says(
        "ada",
        other,
        "@footnote When does the open canteen open?",
        files=(file("canteen.md", "# Canteen\n\nThe canteen opens at noon.\n"),),
    )
    await town.written("ada", other, quick, "At noon [1].")
    never.set()
    await town.answered("ben", one, slow)
