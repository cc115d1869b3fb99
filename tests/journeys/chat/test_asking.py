"""Questions on both platforms."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import OPENING, file, has, later, paced, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = f"# Logs\n\n{OPENING}Logs are kept for two weeks. Backups are kept for one year.\n\n# Leave\n\nEverybody has thirty days of leave.\n"


async def test_a_mention_is_answered_in_its_thread_growing_word_by_word_with_its_source(
    town: Scenario,
) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    first, second = asyncio.Event(), asyncio.Event()
    reply = paced(first, OPENING, second, "Logs are kept for two weeks [1].")
    town.model.on(reply, task="answer", matching="growing logs", times=1)

    question = await town.says("ben", room, "@footnote How long are growing logs kept?")
    waiting = await town.until(
        lambda: [each for each in town.ours("ben", room, question) if "writing from" in str(town.story(each))]
    )
    # streams have no buttons of ours
    assert waiting[0].streaming or has(waiting[0], "Stop")
    first.set()
    await town.written("ben", room, question, "The handbook names")
    second.set()
    (answer,) = await town.answered("ben", room, question)

    assert words(answer).startswith(f"{OPENING}Logs are kept for two weeks [1].")
    footer = words(answer).partition("[1].")[2]
    assert "handbook.md" in footer
    assert "Logs" in footer
    story = town.story(answer)
    written = [text for text in story if text.startswith("The handbook")]
    assert story.index(written[0]) > max(
        number for number, text in enumerate(story) if "writing from" in text
    )
    assert all(words(answer).startswith(text.replace("\u200b", "").rstrip(" …▍\n")) for text in written)
    assert len(written) >= 2
    assert has(answer, "Sources")
    assert not has(answer, "Stop")
    assert town.chat.visible(town.chat.people["ben"], room, question)[-1].id == answer.id


async def test_a_follow_up_is_understood_from_the_thread(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(
        streamed('{"question": "How long are backups kept?"}'), task="understand", matching="And the backups"
    )
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="stored logs", times=1)
    town.model.on(streamed("One year [1]."), task="answer", matching="And the backups", times=1)
    question = await town.says("ben", room, "@footnote How long are stored logs kept?")
    await town.answered("ben", room, question)
    await town.says("ben", room, "@footnote And the backups?", thread=question)
    answer = await town.written("ben", room, question, "One year [1].")
    assert "Two weeks" not in words(answer)


async def test_what_the_files_do_not_hold_is_corrected_in_the_final_text(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    reply = streamed("Logs are kept for ", "three weeks [1]. Backups are kept for one year [1].")
    town.model.on(reply, task="answer", matching="misread logs", times=1)
    question = await town.says("ben", room, "@footnote How long are misread logs kept?")
    shown = await town.written("ben", room, question, "Logs are kept for three ⚠ weeks [1]. Backups are kept")
    assert "⚠ I could not find this in the files" in words(shown)
    town.model.on(
        streamed("Elephants eat ", "hay and apples [1]."), task="answer", matching="elephant", times=1
    )
    question = await town.says("ben", room, "@footnote What do the elephant logs eat?")
    shown = await town.written("ben", room, question, "I did not find this in")
    assert "hay" not in words(shown)
    assert "handbook.md" in words(shown)


async def test_direct_messages_need_no_mention(town: Scenario) -> None:
    room = town.direct("ben")
    message = await town.says("ben", room, "", files=(file("handbook.md", HANDBOOK),))
    await town.until(lambda: any("searchable" in each.text for each in town.ours("ben", room, message)))
    town.model.on(streamed("Thirty days [1]."), task="answer", matching="days of leave do I", times=1)
    question = await town.says("ben", room, "How many days of leave do I have?")
    answer = await town.answered("ben", room, question)
    assert words(answer[-1]).startswith("Thirty days [1].")
    assert "handbook.md" in words(answer[-1])


async def test_a_bare_mention_means_what_its_person_said_before(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("One year [1]."), task="answer", matching="old backups", times=1)
    await town.says("ben", room, "How long are old backups kept?")
    await town.says("cleo", room, "Good question.")
    mention = await town.says("ben", room, "@footnote")
    answer = await town.answered("ben", room, mention)
    assert words(answer[-1]).startswith("One year [1].")


async def test_a_bare_mention_without_a_question_gets_help(town: Scenario) -> None:
    room = town.room()
    mention = await town.says("cleo", room, "@footnote")
    shown = await town.written("cleo", room, mention, "Ask me a question")
    assert "/help" in words(shown)


async def test_a_channel_without_files_says_what_to_do(town: Scenario) -> None:
    room = town.room()
    question = await town.says("cleo", room, "@footnote What is known here?")
    await town.written("cleo", room, question, "There are no files here that everyone")


async def test_an_answer_of_thirty_thousand_characters_arrives_whole(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    lines = [f"Line {number:04d} of the long list: who wants to read it?" for number in range(640)]
    text = "\n\n".join(lines)
    pieces = [text[start : start + 400] for start in range(0, len(text), 400)]
    assert len(text) > 30_000
    town.model.on(streamed(*pieces), task="answer", matching="endless list", times=1)
    question = await town.says("ben", room, "@footnote Give me the endless list.")
    answer = await town.until(lambda: town.answer("ben", room, question), seconds=120)
    shown = "\n".join(each.text for each in answer)
    found = [line for line in shown.split("\n") if line.startswith("Line ")]
    assert [line[:9] for line in found] == [line[:9] for line in lines]
    assert all(line.startswith(whole[:-1]) for line, whole in zip(found, lines, strict=True))
    assert all(later(after.id, before.id) for before, after in itertools.pairwise(answer))


async def test_other_bots_are_not_answered(town: Scenario) -> None:
    room = town.room()
    await town.says("robot", room, "@footnote How long are robot logs kept?")
    question = await town.says("ben", room, "@footnote What is known here?")
    await town.written("ben", room, question, "There are no files here that everyone")
    assert len(town.ours("ben", room)) <= 1
    assert not any("robot logs" in request.text for request in town.model.requests)
