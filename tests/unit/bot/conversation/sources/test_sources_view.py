"""The Sources view: what a person may read now of what an answer cites, in its context, with pictures of pages."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import docx
import pymupdf
import pytest

from bot.conversation.sources.sources_view import AT_ONCE, turns_page
from bot.port import Citation
from rag_engine.errors import CorruptFile, Unavailable
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import (
    ChunkId,
    DocumentId,
    DocumentRecord,
    Section,
)
from tests.page_marks import PNG, area, marked_area, pdf, places, plain_picture, share_marked
from tests.unit.bot.conversation.sources.shown_sources import (
    ANN,
    BEN,
    ELSEWHERE,
    HERE,
    LINK,
    PAGES,
    ROOM,
    Library,
    Pen,
    citation,
    press,
    turn,
)

if TYPE_CHECKING:
    from bot.port import Reply
    from bot.store.turns import ChatTurn


LOGS = "Logs are kept for two weeks."


async def test_the_passage_is_shown_in_context_with_its_file_place_and_link(library: Library) -> None:
    document = await library.add_pdf()
    reply = await press(library.checking(), turn(citation(document, LOGS)))
    assert reply.text == (
        f"**[1]** handbook.pdf, p. 1 · [Open](<{LINK}#handbook.pdf>)\n\n"
        "> Ours is a small harbour.\n"
        "> **Logs are kept for two weeks.**\n"
        "> Nobody reads them."
    )
    assert reply.links == {f"{LINK}#handbook.pdf"}
    assert reply.buttons == ()
    assert reply.files == ()


@pytest.mark.process
async def test_the_page_is_pictured_with_the_words_marked(library: Library) -> None:
    document = await library.add_pdf()
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        reply = await press(
            library.checking(pool.picture),
            turn(citation(document, LOGS), citation(document, PAGES[1][0], "p. 2")),
        )
    first, second = reply.files
    assert (first.name, first.media_type) == ("page-1.png", "image/png")
    assert first.description == "Page 1 of handbook.pdf, the quoted passage marked"
    for file, page, words in ((first, 1, LOGS), (second, 2, PAGES[1][0])):
        (rectangle,) = places(pdf(*PAGES), page, words)
        assert share_marked(file.content, rectangle) > 0.5
        assert marked_area(file.content) < 1.5 * area(rectangle)


async def test_pictures_of_an_answer_are_those_that_all_its_readers_may_see(library: Library) -> None:
    document = await library.add_pdf()
    pen = Pen()
    checking = library.checking(pen)
    shared, private = turn(citation(document, LOGS)), turn(citation(document, LOGS), private=True)
    assert [file.name for file in await checking.pictures(shared, ROOM, "en")] == ["page-1.png"]
    assert [file.name for file in await checking.pictures(private, ROOM, "en")] == ["page-1.png"]
    assert library.readers.asked == [(HERE, None), (HERE, ANN)]
    library.readers.seen.clear()
    assert await checking.pictures(shared, ROOM, "en") == ()
    assert pen.figures == [True, True]


@pytest.mark.process
async def test_the_figure_of_a_word_file_is_shown_to_those_who_may_read_it(library: Library) -> None:
    written = docx.Document()
    written.add_paragraph(LOGS)
    written.add_picture(io.BytesIO(plain_picture((200, 220, 255))))
    file = io.BytesIO()
    written.save(file)
    sections = [Section(text=LOGS, anchor="§ Logs")]
    document = await library.add("logs.docx", file.getvalue(), sections)
    cited = citation(document, LOGS, "§ Logs")
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        checking = library.checking(pool.picture, pool.figure)
        (shown,) = await checking.pictures(turn(cited), ROOM, "en")
        assert pymupdf.Pixmap(shown.content).pixel(20, 20) == (200, 220, 255)
        assert shown.description == "Picture from logs.docx, § Logs"
        assert await checking.pictures(turn(cited, question="How long are logs kept?"), ROOM, "en") == ()
        library.readers.seen.clear()
        assert await checking.pictures(turn(cited), ROOM, "en") == ()


async def test_a_quoted_caption_brings_its_picture_unasked(library: Library) -> None:
    sections = [Section(text="Figure 2: The crane", anchor="p. 1"), Section(text=LOGS, anchor="p. 2")]
    document = await library.add("two.pdf", pdf(*("Words." for _ in sections)), sections)
    cited = [citation(document, one.text, one.anchor) for one in sections]
    shown = await library.checking(Pen()).pictures(turn(*cited, question="How high is it?"), ROOM, "en")
    assert [file.name for file in shown] == ["page-1.png"]


async def test_one_picture_shows_all_that_is_quoted_of_a_page(library: Library) -> None:
    document, pen = await library.add_pdf(), Pen()
    of = turn(citation(document, LOGS), citation(document, "Nobody reads them."), citation(document, LOGS))
    reply = await press(library.checking(pen), of)
    assert pen.drawn == [("handbook.pdf", 1, (LOGS, "Nobody reads them."))]
    assert len(reply.files) == 1
    assert reply.text.count(f"**{LOGS}**") == 1  # said twice, shown once


async def test_where_the_words_are_not_found_on_the_page_nothing_is_said_of_a_mark(library: Library) -> None:
    document = await library.add_pdf()
    (file,) = (await press(library.checking(Pen(marked=0)), turn(citation(document, LOGS)))).files
    assert file.description == "Page 1 of handbook.pdf"


async def test_there_are_a_few_pictures_at_most_and_never_more_than_a_message_takes(library: Library) -> None:
    sections = [Section(text=f"Words of page {page}.", anchor=f"p. {page}") for page in range(1, 7)]
    document = await library.add("six.pdf", pdf(*("Words." for _ in sections)), sections)
    of = turn(*(citation(document, one.text, one.anchor) for one in sections))
    assert len((await press(library.checking(Pen()), of)).files) == 3
    large = Pen(content=PNG + bytes(5 << 20))
    assert len((await press(library.checking(large), of)).files) == 1


@pytest.mark.parametrize("fault", [CorruptFile("It is damaged."), Unavailable("It does not start.")])
async def test_a_picture_that_cannot_be_drawn_costs_only_the_picture(
    library: Library, fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    document = await library.add_pdf()
    reply = await press(library.checking(Pen(fault=fault)), turn(citation(document, LOGS)))
    assert f"**{LOGS}**" in reply.text
    assert reply.files == ()
    assert "could not be drawn" in caplog.text
    assert LOGS not in caplog.text


@pytest.mark.parametrize("anchor", ["p. 9", "p. 0", "p. 999999"])
@pytest.mark.process
async def test_a_page_that_is_not_there_costs_only_the_picture(library: Library, anchor: str) -> None:
    document = await library.add_pdf()
    async with parser_pool(workers=1, seconds=20, memory_bytes=1 << 30) as pool:
        reply = await press(library.checking(pool.picture), turn(citation(document, LOGS, anchor)))
    assert f"**{LOGS}**" in reply.text
    assert reply.files == ()


@pytest.mark.parametrize("anchor", ["", "§ Leave", "slide 2", "p. 99999999999", "p. 1-2", "Budget!A2"])
async def test_other_places_have_no_picture(library: Library, anchor: str) -> None:
    document, pen = await library.add_pdf(), Pen()
    await press(library.checking(pen), turn(citation(document, LOGS, anchor)))
    assert pen.drawn == []


async def test_a_pdf_that_is_not_kept_has_no_picture(library: Library) -> None:
    document, pen = await library.add_pdf(), Pen()
    (library.folder / "originals" / f"{document.digest}.pdf").unlink()
    reply = await press(library.checking(pen), turn(citation(document, LOGS)))
    assert f"**{LOGS}**" in reply.text
    assert (pen.drawn, reply.files) == ([], ())


GONE = "**[1]** This file is no longer here, or may no longer be read here."


async def test_of_a_document_that_was_removed_nothing_is_shown(library: Library) -> None:
    document, pen = await library.add_pdf(), Pen()
    await library.catalog.remove(document.id)
    reply = await press(library.checking(pen), turn(citation(document, LOGS)))
    assert reply.text == GONE
    assert (pen.drawn, reply.links) == ([], frozenset())


async def test_of_a_document_that_is_being_removed_nothing_is_shown(library: Library) -> None:
    document = await library.add_pdf()
    withdrawn = DocumentRecord(document=replace(document, digest=""), state="queued", chunks=0)
    await library.catalog.save(withdrawn)
    assert (await press(library.checking(Pen()), turn(citation(document, LOGS)))).text == GONE


async def test_of_what_is_no_longer_bound_here_nothing_is_shown(library: Library) -> None:
    document = await library.add_pdf()
    of = turn(citation(document, LOGS))
    assert LOGS in (await press(library.checking(), of)).text
    library.readers.seen["general"].clear()
    reply = await press(library.checking(Pen()), of)
    assert (reply.text, reply.files) == (GONE, ())


async def test_a_document_of_another_place_is_not_shown_whatever_the_turn_says(library: Library) -> None:
    await library.base("general")
    document = await library.add_pdf(channel="board")
    reply = await press(library.checking(Pen()), turn(citation(document, LOGS)))
    assert (reply.text, reply.files) == (GONE, ())
    there = turn(citation(document, LOGS), place=ELSEWHERE)
    assert LOGS in (await press(library.checking(), there)).text


async def test_reading_rights_are_checked_for_the_place_and_the_person_who_presses(library: Library) -> None:
    document = await library.add_pdf()
    for private, person in ((False, BEN), (True, ANN)):
        await press(library.checking(), turn(citation(document, LOGS), private=private), person=person)
        assert library.readers.asked[-1] == (HERE, person)


async def test_of_a_file_that_changed_the_old_words_are_not_shown(library: Library) -> None:
    document, pen = await library.add_pdf(), Pen()
    of = turn(citation(document, LOGS))
    record = DocumentRecord(document=document, state="ready", chunks=1)
    await library.catalog.save(record, sections=[Section(text="Logs are not kept.", anchor="p. 1")])
    reply = await press(library.checking(pen), of)
    assert reply.text.endswith("The file has changed since: the quoted words are no longer in it.")
    assert "two weeks" not in reply.text
    assert (pen.drawn, reply.files) == ([], ())


async def many(library: Library, count: int) -> ChatTurn:
    sections = [Section(text=f"Sentence number {number}.", anchor=f"§ {number}") for number in range(count)]
    document = await library.add("many.md", b"many", sections)
    return turn(*(citation(document, one.text, one.anchor, number=1 + at) for at, one in enumerate(sections)))


def numbers(reply: Reply) -> list[int]:
    return [int(number) for number in re.findall(r"^\*\*\[(\d+)\]", reply.text, re.MULTILINE)]


async def test_a_long_list_has_pages(library: Library) -> None:
    of = await many(library, 2 * AT_ONCE + 1)
    first = await press(library.checking(), of)
    assert numbers(first) == list(range(1, AT_ONCE + 1))
    assert [(button.label, button.value) for button in first.buttons] == [("More", f"{of.id}:2")]
    second = await press(library.checking(), of, first.buttons[0].value)
    assert [button.value for button in second.buttons] == [f"{of.id}:1", f"{of.id}:3"]
    last = await press(library.checking(), of, second.buttons[1].value)
    assert numbers(last) == [2 * AT_ONCE + 1]
    assert [button.label for button in last.buttons] == ["Back"]


@pytest.mark.parametrize(
    ("wrong", "first"),
    [
        ("0", 1),
        ("9999", AT_ONCE + 1),
        ("-1", 1),
        ("99999", 1),
        ("2:3", 1),
        ("٢", 1),
        ("x", 1),
        ("", 1),
        ("²", 1),
    ],
)
async def test_what_the_button_says_cannot_lead_beyond_the_list(
    library: Library, wrong: str, first: int
) -> None:
    of = await many(library, AT_ONCE + 1)
    assert numbers(await press(library.checking(), of, f"{of.id}:{wrong}"))[0] == first


def test_only_a_number_turns_a_page() -> None:
    assert turns_page("abc:2")
    assert not any(turns_page(value) for value in ("abc", "abc:", "abc:x", "abc:2:3", ":", "abc:up"))


@pytest.mark.parametrize(
    "uri", ["javascript:alert(1)", "file:///etc/passwd", "chat:F1", "https://x.test/a> [b](c"]
)
async def test_what_no_browser_opens_is_no_link(library: Library, uri: str) -> None:
    document = await library.add_pdf()
    record = DocumentRecord(document=replace(document, uri=uri), state="ready", chunks=1)
    await library.catalog.save(record)
    reply = await press(library.checking(), turn(citation(document, LOGS)))
    assert "[Open]" not in reply.text
    assert LOGS in reply.text
    assert reply.links == frozenset()


async def test_hostile_names_are_read_as_they_are(library: Library) -> None:
    text = "Calm **words** here."
    document = await library.add("x.md", b"x", [Section(text=text, anchor="§ [a](b)")])
    evil = replace(document, title="[click](http://evil.example) **b**\n# h @everyone")
    await library.catalog.save(DocumentRecord(document=evil, state="ready", chunks=1))
    reply = await press(library.checking(), turn(citation(document, text, "§ [a](b)")))
    heading = reply.text.split("\n")[0]
    assert "\\[click\\](http://evil.example)" in heading
    assert "\\*\\*b\\*\\*" in heading
    assert "§ \\[a\\](b)" in heading
    assert "**Calm \\*\\*words\\*\\* here.**" in reply.text


async def test_results_of_tools_are_quoted_alone_and_a_computed_one_only_to_who_may_read_its_file(
    library: Library,
) -> None:
    await library.base("general")
    budget = await library.add("budget.csv", b"x", [Section(text="Team | Amount")], channel="board")
    computed = replace(
        citation(budget, "Total | 200", "rows 2–3, 2 rows", number=2), chunk=ChunkId("tool:compute:1")
    )
    weather = Citation(
        number=1,
        title="weather",
        anchor="city: Rome",
        uri="",
        quote='"temperature": 21',
        document=DocumentId("tool:weather"),
        chunk=ChunkId("tool:weather:1"),
    )
    hidden = await press(library.checking(), turn(weather, computed))
    assert '**[1]** weather, city: Rome\n\n> **"temperature": 21**' in hidden.text
    assert "200" not in hidden.text
    assert "budget" not in hidden.text
    library.readers.seen["general"] |= library.readers.seen["board"]
    shown = await press(library.checking(), turn(weather, computed))
    assert "budget.csv, rows 2–3, 2 rows" in shown.text
    assert "> **Total \\| 200**" in shown.text
