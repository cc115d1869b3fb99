from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.expansion.types import ExpansionKey, MadeExpansion
from rag_engine.types import Document, DocumentId, DocumentRecord
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.types import KnowledgeBaseId


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        made = Counter(chat=chat, room=TownRoom(directory=chat.town))
        await made.say(ANN, "create handbook workspace")
        yield made


async def base_of(counter: Counter) -> KnowledgeBaseId:
    known = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    return known.knowledge_base.id


async def record(counter: Counter) -> DocumentRecord:
    document = Document(
        id=DocumentId("d"),
        knowledge_base=await base_of(counter),
        title="plan.md",
        uri="file:///plan.md",
        media_type="text/markdown",
        digest="d",
    )
    stored = DocumentRecord(document=document, state="ready", chunks=4)
    await counter.chat.catalog.save(stored)
    return stored


async def test_the_cost_is_said_before_they_are_switched_on(counter: Counter) -> None:
    stored = await record(counter)
    store, base = counter.chat.catalog.expansions, stored.document.knowledge_base
    asked = await counter.reply(ANN, "expand name:handbook summaries:on questions:on")
    assert "about 2 calls of the language model with 600 tokens" in asked.text
    assert await store.enabled([base]) == {}
    done = await counter.push(ANN, asked.buttons[0].value)
    assert done is not None
    assert "summaries on, questions on" in done.text
    assert set(await store.enabled([base])) == {"summary", "question"}
    assert [job.record for job in await store.jobs()] == [stored]


async def test_they_are_switched_off_without_a_question(counter: Counter) -> None:
    store, base = counter.chat.catalog.expansions, await base_of(counter)
    await store.switch(base, ["summary", "question"])
    said = await counter.say(ANN, "expand name:handbook questions:off")
    assert "summaries on, questions off" in said
    assert set(await store.enabled([base])) == {"summary"}


async def test_failures_are_counted_and_named(counter: Counter) -> None:
    stored = await record(counter)
    made = [
        MadeExpansion(kind="summary", key=ExpansionKey(str(number)), passage=number, texts=("A summary.",))
        for number in range(4)
    ]
    failed = replace(made[2], texts=(), failure="The language model does not answer.")
    await counter.chat.catalog.expansions.keep(stored.document.id, [*made, failed])
    said = await counter.say(ANN, "expand name:handbook")
    assert "3 made, 1 failed" in said
    assert said.count("plan.md") == 1
    assert "`plan.md` (3): The language model does not answer." in said


async def test_only_administrators_switch_them(counter: Counter) -> None:
    assert "can do that here" in await counter.say(BEN, "expand name:handbook summaries:on")
    assert await counter.chat.catalog.expansions.enabled([await base_of(counter)]) == {}


async def test_without_a_language_model_nothing_is_switched_on(counter: Counter) -> None:
    stored = await record(counter)
    counter.models = ""
    said = await counter.say(ANN, "expand name:handbook summaries:on")
    assert said.startswith("Summaries and questions need a language model")
    assert await counter.chat.catalog.expansions.enabled([stored.document.knowledge_base]) == {}
