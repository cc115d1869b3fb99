"""What is forgotten while a document of a channel is being written is not in it afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.conversation.channels.talk_writer import TalkWriter
from bot.maintenance.erasure import rules
from bot.maintenance.erasure.marks import ErasedPerson, ErasureMarks
from bot.store.channel_sources import ChannelSources
from bot.store.channel_talk import ChannelTalk
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.unit.bot.store.test_channel_talk import PLACE, said
from tests.unit.ingestion.conftest import world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from bot.store.channel_sources import ChannelSource
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Document, Ingested, Section
    from tests.unit.ingestion.world import World

__all__ = ["world"]

ANN, BEN = "The gate is green.", "The mast bears the mark zirconjasper."


@dataclass
class Channel:
    world: World
    database: Database
    sources: ChannelSources
    talk: ChannelTalk
    source: ChannelSource
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """Happens once, when a document was put together and is not yet written."""

    @property
    def writer(self) -> TalkWriter:
        return TalkWriter(
            sources=self.sources,
            write=self._write,
            find=self.world.catalog.find,
            link=self.world.catalog.metadata.link,
            forget_source=self.world.ingestion.forget_source,
        )

    async def _write(self, document: Document, sections: Sequence[Section]) -> Ingested:
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            await happens()
        return await self.world.ingestion.write(document, sections)

    async def written(self) -> str:
        records = await self.world.catalog.records(self.world.base)
        found = [await self.world.catalog.sections(record.document.id) for record in records]
        return str(found) + str(list(self.world.index.documents.values()))

    async def erase(self) -> None:
        marks = ErasureMarks(subject="ben", people=(ErasedPerson(platform="slack", id="UBEN"),))
        for rule in rules.of(marks):
            if rule.store == "chat.sqlite":
                await rule.apply(self.database)

    async def opt_out(self) -> None:
        await self.sources.opt_out("slack", "UBEN")

    async def forget_document(self) -> None:
        await self.database_run("UPDATE channel_documents SET forgotten = 1")

    async def leave(self) -> None:
        await self.sources.withdraw(self.source)
        await self.sources.remove(self.source)

    async def database_run(self, sql: str) -> None:
        async with self.database.transaction() as transaction:
            await transaction.execute(sql, ())


@pytest.fixture
async def channel(world: World, tmp_path: Path) -> AsyncIterator[Channel]:
    opening = connect(new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql")
    async with opening as database:
        sources = ChannelSources(database)
        source = await sources.add(world.base, PLACE, name="#general", asked="")
        assert source is not None
        talk = ChannelTalk(database)
        await talk.put(source, said(1, ANN, person="UANN"), edited=False)
        yield Channel(world=world, database=database, sources=sources, talk=talk, source=source)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("way", ["erase", "opt_out"])
async def test_a_person(channel: Channel, way: str, *, again: bool) -> None:
    """`again`: it was written before."""
    if again:
        await channel.writer.write_live()
    await channel.talk.put(channel.source, said(2, BEN), edited=False)
    channel.meanwhile = getattr(channel, way)
    await channel.writer.write_live()
    assert channel.meanwhile is None
    text = await channel.written()
    assert ANN in text
    assert "zirconjasper" not in text
    assert not await channel.sources.has_live()


@pytest.mark.parametrize("way", ["forget_document", "leave"])
async def test_all(channel: Channel, way: str) -> None:
    await channel.talk.put(channel.source, said(2, BEN), edited=False)
    channel.meanwhile = getattr(channel, way)
    await channel.writer.write_live()
    assert channel.meanwhile is None
    assert "zirconjasper" not in await channel.written()
