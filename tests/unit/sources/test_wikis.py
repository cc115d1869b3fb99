"""Confluence and Notion as sources, against a server that speaks their JSON."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import BadSettings
from rag_engine.parsers._properties import web
from rag_engine.sync.types import SyncCounts
from tests.doubles.wiki_server import TOKEN, WikiPage, WikiServer, wiki_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.sync.types import SyncedSource
    from tests.unit.sources.synced import Synced

pytestmark = pytest.mark.asyncio

VARIABLES = {"confluence": "CONFLUENCE_TOKEN", "notion": "NOTION_TOKEN"}


@dataclass(frozen=True, kw_only=True)
class Wiki:
    kind: str
    server: WikiServer
    synced: Synced

    async def source(self) -> SyncedSource:
        if self.kind == "notion":
            return await self.synced.add("notion", "notion:", {"api": f"{self.server.url}/"})
        return await self.synced.add("confluence", f"confluence+{self.server.url}/wiki/spaces/ENG")

    async def titles(self) -> list[str]:
        return await self.synced.titles()


@pytest.fixture(params=["confluence", "notion"])
async def wiki(
    request: pytest.FixtureRequest, synced: Synced, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Wiki]:
    monkeypatch.setenv(VARIABLES[request.param], TOKEN)
    async with wiki_server() as server:
        for number in range(10):
            server.pages[page_id(number)] = WikiPage(title=f"Page {number}", text=f"Rule {number} is here.")
        yield Wiki(kind=request.param, server=server, synced=synced)


def page_id(number: int) -> str:
    return f"{number + 1:032x}"


async def test_pages_become_documents_with_title_author_date_and_link(wiki: Wiki) -> None:
    source = await wiki.source()
    outcome = await wiki.synced.run(source)
    assert (outcome.error, outcome.entries, outcome.counts) == ("", 10, SyncCounts(new=10))
    assert await wiki.titles() == [f"Page {number}" for number in range(10)]
    catalog = wiki.synced.world.catalog
    record = next(each for each in await catalog.records(source.knowledge_base))
    row = (await wiki.synced.store.manifest(source.id))[page_id(0)]
    assert (row.title, row.version) == ("Page 0", "2026-11-01")
    where = row.link or row.uri
    assert where.startswith(
        "https://www.notion.so/" if wiki.kind == "notion" else f"{wiki.server.url}/wiki/pages/viewpage.action"
    )
    text = " ".join(each.text for each in await catalog.sections(record.document.id))
    assert "Rule" in text
    if wiki.kind == "notion":
        assert "The last block." in text
        assert "Nested: the end." in text
        assert "Stage: Draft" in text


async def test_author_and_dates_are_properties_of_the_page(wiki: Wiki, tmp_path: Path) -> None:
    async with wiki.synced.opened(await wiki.source()) as opened:
        ((entry, *_), *_) = [batch async for batch in opened.entries()]
        await opened.read(entry, tmp_path / "page.html", since="")
    found = web.page(tmp_path / "page.html")
    assert found["title"] == ["Page 0"]
    assert found["author"] == ["Ada Lovelace"]
    assert found["created"][0].startswith("2025-01-02")
    assert found["modified"][0].startswith("2026-11-01")


async def test_only_what_changed_is_read_and_what_is_gone_goes(wiki: Wiki) -> None:
    source = await wiki.source()
    await wiki.synced.run(source)
    wiki.server.bodies.clear()
    assert (await wiki.synced.run(source)).counts == SyncCounts()
    assert wiki.server.bodies == []
    wiki.server.pages[page_id(3)] = WikiPage(title="Page 3", text="Rule 3 was changed.", version=2)
    wiki.server.pages[page_id(4)].trashed = True
    del wiki.server.pages[page_id(5)]
    assert (await wiki.synced.run(source)).counts == SyncCounts(changed=1, gone=2)
    assert wiki.server.bodies == [page_id(3)]
    assert "Page 4" not in await wiki.titles()


async def test_a_page_that_is_renamed_or_moved_stays_one_document(wiki: Wiki) -> None:
    source = await wiki.source()
    await wiki.synced.run(source)
    wiki.server.pages[page_id(3)] = WikiPage(
        title="Renamed", text="Rule 3 is here.", version=2, parent=page_id(1)
    )
    await wiki.synced.run(source)
    assert sorted(await wiki.titles()) == sorted(
        ["Renamed", *(f"Page {number}" for number in range(10) if number != 3)]
    )


async def test_a_page_that_goes_between_listing_and_reading_is_gone(wiki: Wiki) -> None:
    source = await wiki.source()
    await wiki.synced.run(source)
    wiki.server.pages[page_id(2)].version = 2
    wiki.server.vanishing.add(page_id(2))
    assert (await wiki.synced.run(source)).counts == SyncCounts(gone=1)
    assert "Page 2" not in await wiki.titles()


async def test_a_listing_that_fails_half_way_removes_nothing(wiki: Wiki) -> None:
    source = await wiki.source()
    await wiki.synced.run(source)
    wiki.server.fails_after = 2
    outcome = await wiki.synced.run(source)
    assert "fails (HTTP 502)" in outcome.error
    assert len(await wiki.titles()) == 10


@pytest.mark.parametrize(
    ("fault", "sentence"), [("repeats", "sends a list without end"), ("redirects", "sends us elsewhere")]
)
async def test_a_broken_server_ends_the_run_and_removes_nothing(
    wiki: Wiki, fault: str, sentence: str
) -> None:
    source = await wiki.source()
    await wiki.synced.run(source)
    setattr(wiki.server, fault, True)
    outcome = await wiki.synced.run(source)
    assert sentence in outcome.error
    assert len(await wiki.titles()) == 10


@pytest.mark.parametrize("seconds", ["nan", "inf", "soon"])
async def test_a_pause_that_is_no_number_is_a_second(wiki: Wiki, seconds: str) -> None:
    source = await wiki.source()
    wiki.server.limited, wiki.server.retry_after = 1, seconds
    began = time.monotonic()
    async with asyncio.timeout(30):
        assert (await wiki.synced.run(source)).counts == SyncCounts(new=10)
    assert time.monotonic() - began >= 1.0


async def test_a_token_that_expired_is_named_and_removes_nothing(wiki: Wiki) -> None:
    source = await wiki.source()
    await wiki.synced.run(source)
    wiki.server.token = "another"
    outcome = await wiki.synced.run(source)
    assert outcome.error.endswith(f"rejects the token: renew {VARIABLES[wiki.kind]}.")
    assert TOKEN not in outcome.error
    assert len(await wiki.titles()) == 10


async def test_a_rate_limit_is_waited_for(wiki: Wiki) -> None:
    source = await wiki.source()
    wiki.server.limited = 3
    assert (await wiki.synced.run(source)).counts == SyncCounts(new=10)
    wiki.server.limited = 1_000
    outcome = await wiki.synced.run(source)
    assert "asks us to slow down" in outcome.error
    assert len(await wiki.titles()) == 10


async def test_without_a_token_the_variable_is_named(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLES[wiki.kind])
    source = await wiki.source()
    with pytest.raises(BadSettings, match=VARIABLES[wiki.kind]):
        await wiki.synced.run(source)


async def test_below_one_page_of_notion(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    async with wiki_server() as server:
        server.hides_people = True
        for number, parent in ((0, ""), (1, page_id(0)), (2, page_id(1)), (3, "")):
            server.pages[page_id(number)] = WikiPage(
                title=f"Page {number}", text=f"Rule {number}.", parent=parent
            )
        source = await synced.add("notion", f"notion:{page_id(0)}", {"api": f"{server.url}/"})
        assert (await synced.run(source)).counts == SyncCounts(new=3)
        assert await synced.titles() == ["Page 0", "Page 1", "Page 2"]
