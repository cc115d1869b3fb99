from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.indexes import embedded
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.ports import IndexIdentity
from rag_engine.splitters import structure
from rag_engine.text import analyzer
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.chatting import parse
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ADD = "verified add name:handbook Who signs contracts? = The legal team."


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with AsyncExitStack() as stack:
        chat = await stack.enter_async_context(opened(tmp_path))
        embedder = await stack.enter_async_context(hashing.connect(hashing.Settings(), data_dir=tmp_path))
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        opening = embedded.connect(embedded.Settings(), data_dir=tmp_path, identity=identity)
        splitter = structure.build(
            structure.Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
        )
        ingestion = Ingestion(
            parse=parse,
            splitter=splitter,
            embedder=embedder,
            index=await stack.enter_async_context(opening),
            catalog=chat.catalog,
        )
        editor = VerifiedEditor(ingestion=ingestion, catalog=chat.catalog)
        made = Counter(chat=chat, room=TownRoom(directory=chat.town), verified=editor)
        await made.say(ANN, "create handbook workspace")
        yield made


async def listed(counter: Counter) -> str:
    return await counter.say(BEN, "verified name:handbook")


async def test_they_are_added_listed_edited_and_revoked(counter: Counter) -> None:
    assert "no verified answers in `handbook` yet" in await listed(counter)
    assert await counter.say(ANN, ADD) == "Saved as a verified answer in `handbook`."
    assert "1. `Who signs contracts?` — ✓ " in await listed(counter)
    await counter.say(ANN, "verified edit name:handbook 1 = Priya.")
    base = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    (answer,) = await counter.chat.catalog.verified.read({base.knowledge_base.id})
    assert (answer.question, answer.answer) == ("Who signs contracts?", "Priya.")
    assert len(await counter.chat.catalog.records(base.knowledge_base.id)) == 1
    said = await counter.say(ANN, "verified revoke name:handbook who signs contracts?")
    assert said == "This answer is no longer verified."
    assert await counter.chat.catalog.records(base.knowledge_base.id) == []


async def test_a_second_answer_to_the_same_question_replaces_the_first(counter: Counter) -> None:
    await counter.say(ANN, ADD)
    await counter.say(ANN, ADD.replace("The legal team.", "Priya."))
    assert "2." not in await listed(counter)


@pytest.mark.parametrize("line", ["verified add name:handbook Who?", "verified edit name:handbook = x"])
async def test_a_line_without_both_is_answered_with_the_form(counter: Counter, line: str) -> None:
    assert "QUESTION = ANSWER" in await counter.say(ANN, line)


async def test_too_long_an_answer_is_refused_in_a_sentence(counter: Counter) -> None:
    assert "8,000 characters" in await counter.say(ANN, ADD + "x" * 30_000)


async def test_only_administrators_change_them(counter: Counter) -> None:
    assert "can do that here" in await counter.say(BEN, ADD)
    assert "no verified answers" in await listed(counter)


async def test_the_author_confirms_or_revokes_by_a_button(counter: Counter) -> None:
    await counter.say(ANN, ADD)
    base = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    (answer,) = await counter.chat.catalog.verified.read({base.knowledge_base.id})
    refused = await counter.push(BEN, f"verified:revoke:{answer.id}")
    assert refused is not None
    assert "can do that here" in refused.text
    kept = await counter.push(ANN, f"verified:keep:{answer.id}")
    assert kept is not None
    assert kept.text == "Thank you: the answer counts as verified again."
    await counter.push(ANN, f"verified:revoke:{answer.id}")
    assert "no verified answers" in await listed(counter)
