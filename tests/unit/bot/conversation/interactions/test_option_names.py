"""Names that are offered while a command is written."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.conversation.interactions.option_names import MOST, OptionNames
from bot.port import Command
from tests.unit.bot.chatting import ANN, CHANNEL, Here

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.conversation.dependencies import NameKind
    from rag_engine.types import KnowledgeBaseId
    from tests.unit.bot.chatting import World


async def suggested(here: World, option: str, text: str = "", *, name: str = "ask") -> list[str]:
    command = Command(id="c1", name=name, place=CHANNEL, person=ANN, values={option: text})
    return await here.service.suggestions(command, option, Here(here.chat, CHANNEL))


async def test_files_and_tags_that_the_person_may_read(here: World) -> None:
    await here.file("budget.md", "The budget is 12.")
    await here.file("leave.md", "Everybody has 28 days.")
    base = await here.town.own(CHANNEL)
    for record in await here.catalog.records(base.id):
        await here.catalog.metadata.tag(record.document.id, add=["draft", record.document.title])
    assert await suggested(here, "file") == ["budget.md", "leave.md"]
    assert await suggested(here, "file", " BUD") == ["budget.md"]
    assert await suggested(here, "tag", "dra") == ["draft"]
    here.town.empty = True
    assert await suggested(here, "file") == []
    assert await suggested(here, "tag") == []


async def test_other_options_and_commands_have_none(here: World) -> None:
    await here.file("budget.md", "The budget is 12.")
    assert await suggested(here, "type", "b") == []
    assert await suggested(here, "file", "b", name="kb add") == []


async def test_at_most_as_many_as_discord_takes(here: World) -> None:
    base = await here.town.own(CHANNEL)
    await here.file("budget.md", "The budget is 12.")
    (record,) = await here.catalog.records(base.id)
    await here.catalog.metadata.tag(record.document.id, add=[f"tag {number}" for number in range(40)])
    assert len(await suggested(here, "tag")) == MOST == 25


async def test_a_slow_look_up_shows_nothing_in_time(here: World) -> None:
    async def find(
        knowledge_bases: Collection[KnowledgeBaseId], *, kind: NameKind, text: str, limit: int
    ) -> list[str]:
        await asyncio.Event().wait()
        raise AssertionError

    names = OptionNames(permissions=here.town, audiences=here.town, find=find, seconds=0.05)
    command = Command(id="c1", name="ask", place=CHANNEL, person=ANN, values={"file": ""})
    assert await names.suggest(command, "file", Here(here.chat, CHANNEL)) == []
