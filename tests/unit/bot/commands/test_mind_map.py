"""`/mindmap`: a picture and a list of what the person may read, and nothing of anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UserError
from rag_engine.mind_maps.answers import MappedAnswer
from rag_engine.types import ChunkId, Citation, DocumentId, Section
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.port import Reply


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    """A file in #general and one in #legal, which #general may not read."""
    async with opened(tmp_path) as chat:
        for channel, title, heading in (
            ("GENERAL", "rules.md", "Opening hours"),
            ("LEGAL", "deal.md", "Merger"),
        ):
            own = await chat.audiences.own(place(channel))
            record = await chat.put(own, title)
            sections = [
                Section(text="Text.", headings=("All", heading), anchor="p. 1"),
                Section(text="More.", headings=("All", "Other")),
            ]
            await chat.catalog.save(record, sections=sections)
        yield Counter(chat=chat, room=TownRoom(directory=chat.town))


async def drawn(counter: Counter, who: object, line: str, where: str = "GENERAL") -> Reply:
    return await counter.reply(who, line, where=place(where), name="mindmap")  # type: ignore[arg-type]


async def test_a_picture_and_a_list(counter: Counter) -> None:
    shown = await drawn(counter, BEN, "rules.md")
    assert shown.text == "**All (p. 1)**\n\n- Opening hours (p. 1)\n- Other"
    [file] = shown.files
    assert file.name == "rules.md-map.png"
    assert file.content.startswith(b"\x89PNG")
    assert file.description == "Mind map of rules.md, as in the list"


@pytest.mark.parametrize("line", ["deal.md", "deal.md #legal", "name:#legal deal.md", "deal"])
async def test_nobody_draws_what_they_may_not_read(counter: Counter, line: str) -> None:
    try:
        shown = (await drawn(counter, EVE, line)).text
    except UserError as error:
        shown = str(error)
    assert "Merger" not in shown
    assert "deal.md" not in shown.replace("`deal.md`", "")  # its own words may be repeated


async def test_a_reader_of_the_other_channel_draws_it_there(counter: Counter) -> None:
    assert "Merger" in (await drawn(counter, ANN, "deal.md", where="LEGAL")).text


async def test_an_unknown_file_is_said(counter: Counter) -> None:
    text = (await drawn(counter, BEN, "rulse.md")).text
    assert "`rules.md`" in text


async def test_answers_are_drawn_with_their_sources(counter: Counter) -> None:
    assert "no answer here yet" in (await drawn(counter, BEN, "")).text
    cited = Citation(
        number=1,
        title="rules.md",
        anchor="p. 1",
        uri="",
        quote="",
        document=DocumentId("d"),
        chunk=ChunkId("c"),
    )
    for question in ("When?", "Where?"):
        counter.answers.append(
            MappedAnswer(question=question, text="- At nine [1]\n- Daily", citations=(cited,))
        )
    one = await drawn(counter, BEN, "")
    assert one.text.startswith("**Where?**\n\n- At nine (")
    assert one.text.endswith("1\\] rules.md – p. 1")
    assert one.files[0].content.startswith(b"\x89PNG")
    assert "- When?\n  - At nine (" in (await drawn(counter, BEN, "of:thread")).text
