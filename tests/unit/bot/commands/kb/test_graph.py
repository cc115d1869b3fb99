from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.ingestion.graph.builder import GraphCost
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.graph.types import GraphSource


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        made = Counter(chat=chat, room=TownRoom(directory=chat.town))
        await made.say(ANN, "create handbook workspace")
        yield made


async def source(counter: Counter) -> GraphSource | None:
    known = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    return await counter.chat.catalog.graph.source(known.knowledge_base.id)


async def test_it_is_shown_and_switched(counter: Counter) -> None:
    assert "`handbook`: off. Passages read: 0" in await counter.say(ANN, "graph name:handbook")
    assert "in the background" in await counter.say(ANN, "graph on name:handbook")
    assert await source(counter) == "rules"
    assert "`handbook`: on." in await counter.say(BEN, "graph status name:handbook")
    assert "`handbook`: off." in await counter.say(ANN, "graph off name:handbook")
    assert await source(counter) is None


async def test_the_cost_of_a_model_is_said_before(counter: Counter) -> None:
    counter.graph_cost = GraphCost(calls=7, prompt_tokens=600, reply_tokens=400)
    asked = await counter.reply(ANN, "graph on name:handbook")
    assert "about 7 calls of the language model with 1000 tokens" in asked.text
    assert await source(counter) is None
    assert "`handbook`: on." in await counter.confirm(ANN, asked)
    assert await source(counter) == "model"


async def test_only_administrators_switch_it(counter: Counter) -> None:
    assert "can do that here" in await counter.say(BEN, "graph on name:handbook")
    assert await source(counter) is None
