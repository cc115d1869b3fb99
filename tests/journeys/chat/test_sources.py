"""A PDF in a thread, a question, and the Sources button with passage and page image."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import docx
import pymupdf
import pytest

from tests.doubles.chat_server import Upload
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import has, words
from tests.page_marks import PNG, area, marked_area, pdf, places, plain_picture, share_marked

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = (
    [
        "Ours is a small harbour with two quays.",
        "The mooring fee is nine euros a night.",
        "It is paid at noon.",
    ],
    ["The lamp on the pier is changed every nine months.", "Its battery is changed with it."],
)
FEE, LAMP = PAGES[0][1], PAGES[1][0]


async def sources(town: Scenario, person: str, room: str, question: str, answer: Shown, button: str) -> Shown:
    """Press the button and wait for what only this person sees."""
    who = town.chat.people[person]
    before = {each.id for each in town.ours(person, room, question)}
    await town.clicks(person, answer, button)

    def shown() -> list[Shown]:
        mine = [each for each in town.ours(person, room, question) if each.only_for == who]
        return [each for each in mine if each.id not in before and "[1]" in words(each)]

    return (await town.until(shown))[-1]


async def illustrated(town: Scenario, person: str, room: str, question: str) -> Shown:
    """Wait for the picture, which follows the passages: in their message, or in one of its own."""
    who = town.chat.people[person]
    mine = await town.until(
        lambda: [each for each in town.ours(person, room, question) if each.only_for == who and each.files]
    )
    return mine[-1]


async def asked_about(town: Scenario, name: str, *, replies: str, matching: str) -> tuple[str, str, Shown]:
    """Ben drops a PDF with a question; returns room, thread and answer."""
    room = town.room()
    town.model.on(streamed(replies), task="answer", matching=matching, times=1)
    opening = await town.says("ben", room, "Here is the plan of the harbour.")
    file = Upload(name=name, content=pdf(*PAGES))
    await town.says("ben", room, f"@footnote What about the {matching}?", thread=opening, files=(file,))
    await town.written("ben", room, opening, replies.partition(" [")[0])
    answer = await town.until(
        lambda: [each for each in town.ours("ben", room, opening) if has(each, "Sources")]
    )
    return room, opening, answer[-1]


def quotes(shown: Shown) -> list[str]:
    return [line for line in words(shown).split("\n") if line.startswith("> ")]


async def test_passage_and_marked_page_are_shown_to_the_asker_only(
    town: Scenario,
) -> None:
    room, opening, answer = await asked_about(
        town, "harbour.pdf", replies="Nine euros [1].", matching="mooring fee"
    )
    before = {name: town.ours(name, room, opening) for name in ("ada", "ben")}
    shown = await sources(town, "cleo", room, opening, answer, "Sources")
    assert "harbour.pdf, p. 1" in words(shown)
    assert [line for line in quotes(shown) if line.startswith("> **")] == [f"> **{FEE}**"]
    assert f"> {PAGES[0][0]}" in quotes(shown)
    (file,) = (await illustrated(town, "cleo", room, opening)).files
    content, media_type = town.chat.content(file)
    assert media_type == "image/png"
    assert content.startswith(PNG)
    (rectangle,) = places(pdf(*PAGES), 1, FEE)
    assert share_marked(content, rectangle) > 0.5
    assert marked_area(content) < 1.5 * area(rectangle)
    for name, seen in before.items():
        assert [each.id for each in town.ours(name, room, opening)] == [each.id for each in seen]
        assert not any(each.files for each in town.ours(name, room, opening))
        assert not any(each.files for each in town.ours(name, town.direct(name)))


async def test_nothing_of_a_removed_file_is_shown(town: Scenario) -> None:
    room = town.room()
    town.model.on(streamed("Every nine months [1]."), task="answer", matching="lamp burn", times=1)
    brought = await town.says("ada", room, "@footnote", files=(Upload(name="pier.pdf", content=pdf(*PAGES)),))
    await town.written("ada", room, brought, "searchable")
    question = await town.says("ben", room, "@footnote How long does the lamp burn?")
    (answer,) = await town.answered("ben", room, question)
    shown = await sources(town, "ben", room, question, answer, "Sources")
    assert f"> **{LAMP}**" in quotes(shown)
    assert len((await illustrated(town, "ben", room, question)).files) == 1
    kept = list((town.folder / "data" / "originals").glob("*.pdf"))
    await town.commands("ada", room, "/kb remove pier.pdf")
    who = town.chat.people["ada"]
    asking = await town.until(
        lambda: [each for each in town.ours("ada", room) if each.only_for == who and has(each, "Remove")]
    )
    await town.clicks("ada", asking[-1], "Remove")
    await town.until(lambda: any("Removed" in words(each) for each in town.ours("ada", room)))
    again = await sources(town, "ben", room, question, answer, "Sources")
    assert "no longer here" in words(again)
    assert (quotes(again), again.files) == ([], ())
    assert "pier" not in words(again)
    left = list((town.folder / "data" / "originals").glob("*.pdf"))
    assert len(left) == len(kept) - 1


async def test_a_long_list_is_paged_where_one_person_sees_it(town: Scenario) -> None:
    room = town.room()
    lines = [f"Quay number {number} has {number + 20} berths for boats." for number in range(1, 9)]
    files = tuple(
        Upload(name=f"quay{number}.md", content=f"# Quay {number}\n\n{line}\n".encode())
        for number, line in enumerate(lines, 1)
    )
    brought = await town.says("ada", room, "@footnote", files=files)
    await town.until(
        lambda: any(words(each).count("searchable") == len(files) for each in town.ours("ada", room, brought))
    )
    cited = " ".join(f"Quay [{number}]." for number in range(1, 9))
    town.model.on(streamed(cited), task="answer", matching="number of berths", times=1)
    question = await town.says("ben", room, "@footnote What is the number of berths for boats of each quay?")
    answer = (await town.answered("ben", room, question))[-1]
    first = await sources(town, "ben", room, question, answer, "Sources")
    assert has(first, "More")
    who = town.chat.people["ben"]
    await town.clicks("ben", first, "More")
    second = await town.until(
        lambda: [
            each for each in town.ours("ben", room, question) if each.only_for == who and has(each, "Back")
        ]
    )
    assert "[7]" in words(second[-1])
    assert not set(quotes(first)) & set(quotes(second[-1]))
    assert not [each for each in town.ours("cleo", room, question) if each.only_for]


async def test_a_question_for_a_picture_shows_the_cited_page_to_all(town: Scenario) -> None:
    room = town.room()
    town.model.on(streamed("Nine euros [1]."), task="answer", matching="picture", times=1)
    opening = await town.says("ben", room, "Here is the plan.")
    file = Upload(name="quay.pdf", content=pdf(*PAGES))
    await town.says(
        "ben", room, "@footnote Is there a picture of the mooring fee?", thread=opening, files=(file,)
    )

    def pictures() -> list[bytes]:
        shown = [each for each in town.ours("cleo", room, opening) if not each.only_for]
        return [town.chat.content(one)[0] for each in shown for one in each.files]

    [picture] = await town.until(pictures)
    [place] = places(pdf(*PAGES), 1, FEE)
    assert share_marked(picture, place) > 0.5


async def test_the_figure_of_a_word_file_follows_the_answer(town: Scenario) -> None:
    room = town.room()
    written, content = docx.Document(), io.BytesIO()
    written.add_paragraph("The crane of the north quay lifts forty tonnes.")
    written.add_picture(io.BytesIO(plain_picture((200, 220, 255))))
    written.save(content)
    town.model.on(streamed("Forty tonnes [1]."), task="answer", matching="diagram", times=1)
    opening = await town.says("ben", room, "Here is the crane.")
    file = Upload(name="crane.docx", content=content.getvalue())
    asked = "@footnote Is there a diagram of the crane of the north quay?"
    await town.says("ben", room, asked, thread=opening, files=(file,))

    def pictures() -> list[bytes]:
        shown = [each for each in town.ours("cleo", room, opening) if not each.only_for]
        return [town.chat.content(one)[0] for each in shown for one in each.files]

    [picture] = await town.until(pictures)
    assert pymupdf.Pixmap(picture).pixel(20, 20) == (200, 220, 255)
