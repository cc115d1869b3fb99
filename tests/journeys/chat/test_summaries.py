from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import file, paced, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {"FOOTNOTE_MODEL__CONTEXT_TOKENS": "4096"}

HANDBOOK = """# Handbook

## Logs

Logs are kept for two weeks.

## Backups

Backups are kept for one year.

## Canteen

The canteen opens at noon.
"""
_FILLING = "The committee looks at the figures of every department and writes down what was decided. "


def minutes(mark: str, sections: int) -> str:
    return "# Minutes\n\n" + "\n\n".join(
        f"## {mark} {number}\n\nItem {mark}{number:02} was decided. {_FILLING * 8}"
        for number in range(1, sections + 1)
    )


def told(town: Scenario, room: str, opening: str) -> list[str]:
    """All versions of our messages in a thread."""
    return [text for each in town.ours("ben", room, opening) for text in town.story(each)]


async def test_a_dropped_file_is_summarised_with_citations_of_its_sections(town: Scenario) -> None:
    room = town.room()
    summary = streamed("Logs stay two weeks [1], backups a year [2]. The canteen opens at noon [3].")
    town.model.on(summary, task="answer", matching="the file that I just uploaded", times=1)
    opening = await town.says("ben", room, "Here is something to read.")
    await town.says(
        "ben",
        room,
        "@footnote Summarise the file that I just uploaded.",
        thread=opening,
        files=(file("rules.md", HANDBOOK),),
    )
    await town.written("ben", room, opening, "Logs stay two weeks [1]")
    whole = words((await town.until(lambda: town.answer("ben", room, opening)))[-1])
    for section in ("Logs", "Backups", "Canteen"):
        assert f"§ {section}" in whole
    assert "rules.md: 4 passages, searchable" in whole or "searchable" in whole
    request = next(each for each in town.model.requests if "the file that I just uploaded" in each.text)
    for said in ("two weeks", "one year", "at noon"):
        assert said in request.text


async def test_a_long_file_is_read_part_by_part_and_that_is_seen(town: Scenario) -> None:
    room = town.room()
    seen = asyncio.Event()
    town.model.on(paced(seen, "- Decided [1].\n"), task="summary", matching="Item long")
    town.model.on(streamed("All was decided [1]."), task="answer", matching="Summarise long.md", times=1)
    opening = await town.says("ben", room, "Minutes of the year.")
    await town.says("ben", room, "@footnote", thread=opening, files=(file("long.md", minutes("long", 40)),))
    await town.written("ben", room, opening, "searchable")
    await town.says("ben", room, "@footnote Summarise long.md", thread=opening)
    await town.until(lambda: any("Reading part 1 of" in text for text in told(town, room, opening)))
    seen.set()
    await town.written("ben", room, opening, "All was decided [1]")
    asked = "\n".join(each.text for each in town.model.requests if each.task == "summary")
    assert all(f"Item long{number:02}" in asked for number in range(1, 41))


async def test_shorter_and_in_another_language_reads_nothing_again(town: Scenario) -> None:
    room = town.room()
    town.model.on(streamed("- Decided [1].\n"), task="summary", matching="Item kurz")
    town.model.on(
        streamed("It was decided at length [1]."), task="answer", matching="summarise this file", times=1
    )
    opening = await town.says("ben", room, "More minutes.")
    await town.says(
        "ben",
        room,
        "@footnote please summarise this file",
        thread=opening,
        files=(file("kurz.md", minutes("kurz", 30)),),
    )
    await town.written("ben", room, opening, "decided at length [1]")
    read = len([each for each in town.model.requests if each.task == "summary"])
    town.model.on(streamed("Beschlossen [1]."), task="answer", matching="shorter, in German", times=1)
    await town.says("ben", room, "@footnote shorter, in German", thread=opening)
    await town.written("ben", room, opening, "Beschlossen [1]")
    assert len([each for each in town.model.requests if each.task == "summary"]) == read
    last = next(each for each in reversed(town.model.requests) if each.task == "answer")
    assert "Write in German." in last.text
    assert "Length: short" in last.text


async def test_in_the_thread_that_the_answer_opened_it_is_the_file_of_the_question(town: Scenario) -> None:
    room = town.room()
    question = await town.says("ada", room, "@footnote", files=(file("rules.md", HANDBOOK),))
    await town.until(lambda: any("searchable" in words(each) for each in town.ours("ada", room, question)))
    town.model.on(streamed("Rules, in short [2]."), task="answer", matching="tl;dr of the opened", times=1)
    await town.says("ada", room, "@footnote tl;dr", thread=question)
    await town.until(
        lambda: [each for each in town.model.requests if each.task == "answer" and "tl;dr" in each.text]
    )
    asked = [each for each in town.model.requests if each.task == "answer" and each.text.endswith("tl;dr")]
    assert "The canteen opens at noon" in asked[-1].text


async def test_files_of_a_thread_are_not_summarised_outside(town: Scenario) -> None:
    room, other = town.room(), town.room()
    await town.knows(other, "# Notes\n\nNothing to see.\n", name="notes.md")
    opening = await town.says("ben", room, "Here is something secret.")
    await town.says("ben", room, "@footnote", thread=opening, files=(file("secret.md", HANDBOOK),))
    await town.written("ben", room, opening, "searchable")
    question = await town.says("ben", other, "@footnote summarise secret.md")
    answer = await town.written("ben", other, question, "I see no file called secret.md here.")
    await town.until(lambda: not answer.streaming)
    assert "/kb show" not in words(answer)
