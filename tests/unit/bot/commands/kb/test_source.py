"""`/kb source` and `/kb add https://…`: administrators alone, and what they see of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.sync.types import SourceRefused, SyncCounts
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, EVE, opened
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.sync.store import SqliteSources
    from rag_engine.sync.types import SyncedSource
    from rag_engine.types import KnowledgeBaseId


@dataclass(kw_only=True)
class Desk:
    """Over the real store; reading a source only counts."""

    store: SqliteSources
    ran: list[str] = field(default_factory=list)

    async def add(
        self,
        knowledge_base: KnowledgeBaseId,
        address: str,
        *,
        kind: str = "",
        every_seconds: float | None = None,
        from_chat: bool = False,
    ) -> SyncedSource:
        assert from_chat
        if not address.startswith("https://"):
            raise SourceRefused("Only web pages can be added in chat.")
        return await self.store.add(
            knowledge_base,
            kind=kind or "page",
            address=address,
            options={},
            every_seconds=every_seconds or 86_400,
        )

    async def first_run(self, source: SyncedSource) -> SyncedSource:
        await self.store.end(source, error="", entries=1, counts=SyncCounts(new=1), next_at=9e9)
        return replace(source, state="ready", ran_at=1.0, entries=1, counts=SyncCounts(new=1))

    async def run_now(self, source: SyncedSource) -> SyncedSource:
        self.ran.append(source.address)
        return source

    async def remove(self, source: SyncedSource) -> None:
        await self.store.withdraw(source.id)
        await self.store.remove(source.id)


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        yield Counter(chat=chat, room=TownRoom(directory=chat.town), sources=Desk(store=chat.sources))


@pytest.mark.parametrize(
    "line", ["add <https://docs.example.org/rules|docs>", "source add <https://docs.example.org/rules>"]
)
async def test_a_page_is_added_by_its_link(counter: Counter, line: str) -> None:
    said = await counter.say(ANN, line)
    assert "I added `https://docs.example.org/rules` to" in said
    assert said.endswith("1 entry; last time 1 new, 0 changed, 0 gone, 0 failed; every 1d")
    assert "https://docs.example.org/rules" in await counter.say(ANN, "show")


@pytest.mark.parametrize("line", ["add https://docs.example.org", "source add https://docs.example.org"])
async def test_others_than_administrators_add_none(counter: Counter, line: str) -> None:
    said = await counter.say(EVE, line)
    assert "admin" in said
    assert await counter.chat.sources.all() == []


async def test_a_folder_of_the_server_is_refused(counter: Counter) -> None:
    assert "Only web pages" in await counter.say(ANN, "source add /etc")
    assert await counter.chat.sources.all() == []


async def test_a_link_into_the_chat_is_no_page(counter: Counter) -> None:
    assert "you cannot" in await counter.say(ANN, "add https://acme.slack.com/archives/C1/p1")
    assert await counter.chat.sources.all() == []


async def test_a_source_is_listed_read_and_removed(counter: Counter) -> None:
    await counter.say(ANN, "source add https://a.example.org every:6h")
    assert "every 6h" in await counter.say(EVE, "source list")
    assert "I read `https://a.example.org` now." in await counter.say(ANN, "source run 1")
    assert isinstance(counter.sources, Desk)
    assert counter.sources.ran == ["https://a.example.org"]
    assert "Say which source" in await counter.say(ANN, "source remove 7")
    assert "is no interval" in await counter.say(ANN, "source add https://b.example.org every:often")
    asked = await counter.reply(ANN, "source remove https://a.example.org")
    assert "with the documents that came from it?" in asked.text
    assert "I removed" in await counter.confirm(ANN, asked)
    assert "has no sources" in await counter.say(ANN, "source")
    assert await counter.chat.sources.all() == []
