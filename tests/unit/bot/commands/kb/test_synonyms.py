from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        made = Counter(chat=chat, room=TownRoom(directory=chat.town))
        await made.say(ANN, "create handbook workspace")
        yield made


async def test_synonyms_are_added_listed_and_removed(counter: Counter) -> None:
    assert "no synonyms in `handbook` yet" in await counter.say(BEN, "synonyms name:handbook")
    added = await counter.say(ANN, "synonyms add name:handbook PTO = paid leave, vacation")
    assert added == (
        "From now on these words find each other in `handbook`: `PTO`, `paid leave` and `vacation`."
    )
    listed = await counter.say(BEN, "synonyms name:handbook")
    assert listed == "Synonyms in `handbook`:\n\n- `PTO` = `paid leave`, `vacation`"
    removed = await counter.say(ANN, "synonyms remove name:handbook pto")
    assert removed == "`pto` is no longer a synonym in `handbook`."
    assert "is not a synonym" in await counter.say(ANN, "synonyms remove name:handbook pto")


async def test_only_administrators_change_them(counter: Counter) -> None:
    refused = await counter.say(BEN, "synonyms add name:handbook PTO = vacation")
    assert "can do that here" in refused
    known = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    assert await counter.chat.catalog.synonyms.read({known.knowledge_base.id}) == {}


@pytest.mark.parametrize("terms", ["", "PTO", "PTO = ", "x = " + "y" * 3_000])
async def test_a_bad_entry_is_refused_in_a_sentence(counter: Counter, terms: str) -> None:
    said = await counter.say(ANN, f"synonyms add name:handbook {terms}")
    assert "synonym" in said.lower()
    assert len(said) < 200


async def test_very_many_come_in_pages(counter: Counter) -> None:
    known = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    entries = [(f"word{number}", f"term{number}") for number in range(20)]
    await counter.chat.catalog.synonyms.add(known.knowledge_base.id, entries)
    first = await counter.reply(BEN, "synonyms name:handbook")
    second = await counter.push(BEN, first.buttons[0].value)
    assert second is not None
    assert ("word0`" in first.text, "word19`" in first.text) == (True, False)
    assert "`word19` = `term19`" in second.text


async def test_without_files_there_is_nothing_to_add_to(counter: Counter) -> None:
    assert "no knowledge base of its own" in await counter.say(ANN, "synonyms")
