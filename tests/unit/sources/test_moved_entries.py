"""Entries that keep their key and get another URI, as the pages of a wiki do whose site was renamed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import Unavailable
from rag_engine.sync.types import SourceContent, SourceEntry, SyncCounts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.ingestion.source_sync import SyncOutcome
    from rag_engine.sync.types import StoredEntry, SyncedSource
    from tests.unit.sources.synced import Synced

pytestmark = pytest.mark.asyncio


@dataclass
class Wiki:
    """`uris` by key; `broken` keys cannot be read now."""

    uris: dict[str, str]
    broken: set[str] = field(default_factory=set[str])
    versions: dict[str, str] = field(default_factory=dict[str, str])

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        yield [
            SourceEntry(key=key, uri=uri, fingerprint=self.versions.get(key, "1"))
            for key, uri in self.uris.items()
        ]

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        if entry.key in self.broken:
            raise Unavailable("It does not answer.", backend="source", reason="failed")
        if since:
            return None
        text = f"Rule {entry.key}, version {entry.fingerprint}."
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        return SourceContent(
            name=f"{entry.key}.txt", fingerprint=entry.fingerprint, validator="seen", title=entry.key
        )


@dataclass
class Moving:
    synced: Synced
    source: SyncedSource
    wiki: Wiki

    async def run(self) -> SyncOutcome:
        return await self.synced.sync.run(self.source, self.wiki)

    async def documents(self) -> dict[str, str]:
        records = await self.synced.world.catalog.records(self.synced.world.base)
        return {record.document.uri: record.document.title for record in records}

    async def rows(self) -> dict[str, StoredEntry]:
        return await self.synced.store.manifest(self.source.id)


@pytest.fixture
async def moving(synced: Synced) -> Moving:
    source = await synced.add("fsspec", "memory://wiki")
    moving = Moving(synced, source, Wiki({"a": "https://old/a", "b": "https://old/b"}))
    assert (await moving.run()).counts == SyncCounts(new=2)
    return moving


async def test_the_document_moves_with_its_entry_and_goes_with_it(moving: Moving) -> None:
    embedded = len(moving.synced.world.embedder.texts)
    moving.wiki.uris["a"] = "https://new/a"
    assert (await moving.run()).error == ""
    assert await moving.documents() == {"https://new/a": "a", "https://old/b": "b"}
    assert {row.uri for row in (await moving.rows()).values()} == {"https://new/a", "https://old/b"}
    assert len(moving.synced.world.embedder.texts) == embedded
    assert (await moving.run()).counts == SyncCounts()
    del moving.wiki.uris["a"]
    assert (await moving.run()).counts == SyncCounts(gone=1)
    assert await moving.documents() == {"https://old/b": "b"}


async def test_an_entry_that_also_changed_leaves_nothing_behind(moving: Moving) -> None:
    moving.wiki.uris["a"], moving.wiki.versions["a"] = "https://new/a", "2"
    await moving.run()
    assert await moving.documents() == {"https://new/a": "a", "https://old/b": "b"}
    await moving.synced.sync.remove(moving.source)
    assert await moving.documents() == {}


async def test_entries_may_exchange_their_uris(moving: Moving) -> None:
    moving.wiki.uris = {"a": "https://old/b", "b": "https://old/a"}
    await moving.run()
    assert await moving.documents() == {"https://old/b": "a", "https://old/a": "b"}
    await moving.run()
    assert await moving.documents() == {"https://old/b": "a", "https://old/a": "b"}


async def test_what_cannot_be_read_at_its_new_uri_keeps_its_document(moving: Moving) -> None:
    moving.wiki.uris["a"] = "https://new/a"
    moving.wiki.broken = {"a"}
    for _ in range(2):
        assert (await moving.run()).counts == SyncCounts(failed=1)
        assert set(await moving.documents()) == {"https://old/a", "https://old/b"}
    moving.wiki.broken = set()
    await moving.run()
    assert set(await moving.documents()) == {"https://new/a", "https://old/b"}


async def test_a_removed_document_stays_removed(moving: Moving) -> None:
    world = moving.synced.world
    await world.ingestion.forget_source(world.base, "https://old/a")
    await moving.run()
    moving.wiki.uris["a"] = "https://new/a"
    for _ in range(2):
        await moving.run()
        assert set(await moving.documents()) == {"https://old/b"}
    row = (await moving.rows())["a"]
    assert (row.uri, row.state) == ("https://new/a", "forgotten")
