"""Sources that loop, never end or hold a million entries; and a kind of source that another distribution brings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bot.composition.sources import kind_of
from rag_engine.errors import UserError
from rag_engine.ingestion.source_sync import SyncLimits
from rag_engine.sync.types import SourceContent, SourceEntry, SyncCounts
from tests.unit.sources.test_web import page, sitemap

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tests.unit.sources.synced import Synced, Web

BATCH = 1_000
CONNECTOR = """
from contextlib import asynccontextmanager
from pydantic import BaseModel
from rag_engine.sync.types import SourceContent, SourceEntry

POSITION = 5
ADDRESSES = r"shelf://.*"
PUBLIC = True
KEEPS_UNLISTED = False


class Settings(BaseModel):
    shelf: str = "top"


class _Shelf:
    def __init__(self, address, settings):
        self.entry = SourceEntry(key=settings.shelf, uri=f"{address}/{settings.shelf}", fingerprint="1")

    async def entries(self):
        yield [self.entry]

    async def read(self, entry, path, *, since):
        path.write_text("The atlas stands on the top shelf.", encoding="utf-8")
        return SourceContent(name="atlas.txt", fingerprint="1", title="Atlas")


@asynccontextmanager
async def connect(address, settings, *, surroundings):
    yield _Shelf(address, settings)
"""


@dataclass
class Endless:
    """Lists forever: new entries, or itself again and again."""

    itself: bool
    listed: int = 0

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        while True:
            first = 0 if self.itself else self.listed
            self.listed += BATCH
            yield [
                SourceEntry(key=f"{number}.txt", uri=f"x:{number}") for number in range(first, first + BATCH)
            ]
            await asyncio.sleep(0)

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        raise UserError("Nothing is read before the listing is complete.")


@dataclass
class Shelf:
    keys: Sequence[str]

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        yield [SourceEntry(key=key, uri=f"x:{key}", fingerprint="1") for key in self.keys]

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        await asyncio.to_thread(path.write_text, f"The text of {entry.key} is short.", encoding="utf-8")
        return SourceContent(name=entry.key, fingerprint="1", title=entry.key)


@pytest.mark.parametrize("itself", [False, True])
async def test_a_listing_without_end_is_one_sentence_and_removes_nothing(
    synced: Synced, *, itself: bool
) -> None:
    source = await synced.add("folder", "/nowhere")
    await synced.sync.run(source, Shelf(["a.txt", "b.txt"]))
    synced.limits = SyncLimits(listing_seconds=1.0) if itself else SyncLimits()
    endless = Endless(itself)
    outcome = await synced.sync.run(source, endless)
    expected = "Listing the source took too long." if itself else "The source has more than 100,000 entries"
    assert outcome.error.startswith(expected)
    assert outcome.counts == SyncCounts()
    assert await synced.titles() == ["a.txt", "b.txt"]
    if not itself:
        assert endless.listed == 100_000 + BATCH, "a million are not listed to refuse them"


async def test_sitemaps_that_name_each_other_are_read_once(synced: Synced, small_web: Web) -> None:
    server, url = small_web.server, small_web.server.url
    names = ("a", "b", "c")
    for name, following in zip(names, ("b", "c", "a"), strict=True):
        listed = "".join(f"<sitemap><loc>{url}/{each}.xml</loc></sitemap>" for each in (following, name))
        server.pages[f"/{name}.xml"] = (
            f"<sitemapindex>{listed}<sitemap><loc>{url}/leaf.xml</loc></sitemap></sitemapindex>"
        )
    server.pages |= {"/leaf.xml": sitemap(f"{url}/leaf.xml", f"{url}/rules"), "/rules": page("travel")}
    source = await synced.add("site", f"{url}/a.xml")
    outcome = await synced.run(source, client=small_web.client)
    assert outcome.error == ""
    assert [server.visits.count(f"/{name}.xml") for name in names] == [1, 1, 1]
    assert "Rules & travel" in await synced.titles()


@pytest.fixture
def connector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shelf_source.py").write_text(CONNECTOR, encoding="utf-8")
    information = tmp_path / "shelf-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text(
        "[rag_engine.sources]\nshelf = shelf_source\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("connector")
async def test_another_distribution_brings_a_kind_of_source(synced: Synced) -> None:
    assert kind_of("shelf://library").name == "shelf"
    source = await synced.add("shelf", "shelf://library", {"shelf": "upper"})
    assert (await synced.run(source)).counts == SyncCounts(new=1)
    assert synced.read == ["upper"]
    assert await synced.titles() == ["Atlas"]
    assert (await synced.run(source)).counts == SyncCounts()
