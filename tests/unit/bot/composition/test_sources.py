"""Sources in a whole library: on schedule, in chat and for the operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.composition import application
from bot.composition.sources import Sources, is_under, kind_of
from rag_engine.citations.versions import with_versions
from rag_engine.sync.types import SourceRefused, SyncCounts
from rag_engine.types import ChunkId, Citation
from rag_engine.web.addresses import PrivateAddress
from tests.doubles.web_server import web_server

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


async def test_a_library_follows_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with web_server() as server, asyncio.timeout(60):
        monkeypatch.setenv("FOOTNOTE_SOURCES__ALLOWED", f"{server.url}/docs")
        server.pages["/docs/rules"] = "<html><title>Rules</title><body><p>Travel is paid.</p></body></html>"
        async with application.library(settings.read()) as library:
            base = await library.catalog.open("kb", model=library.embedder.model)
            sources = Sources(settings=settings.read(), library=library)
            folder = tmp_path / "files"
            folder.mkdir()
            (folder / "a.md").write_text("# Leave\n\nThirty days.\n")
            with pytest.raises(SourceRefused, match="Only web pages can be added in chat"):
                await sources.add(base.id, str(folder), from_chat=True)
            with pytest.raises(SourceRefused, match="Only web pages can be added in chat"):
                await sources.add(base.id, folder.as_uri(), from_chat=True)
            with pytest.raises(PrivateAddress):
                await sources.add(base.id, f"{server.url}/elsewhere", from_chat=True)
            with pytest.raises(SourceRefused, match="without a password"):
                await sources.add(base.id, "https://ada:secret@example.org/x.git")
            async with sources.on_schedule():
                page = await sources.add(base.id, f"{server.url}/docs/rules", from_chat=True)
                own = await sources.add(base.id, str(folder))
                assert (await sources.first_run(page)).counts == SyncCounts(new=1)
                assert (await sources.first_run(own)).counts == SyncCounts(new=1)
            titles = {record.document.title: record for record in await library.catalog.records(base.id)}
            assert set(titles) == {"Rules", "a.md"}
            metadata = library.catalog.metadata
            cited = await metadata.versions([record.document.id for record in titles.values()])
            ((link, day),) = cited.values()
            assert link == f"{server.url}/docs/rules"
            citation = Citation(
                number=1,
                title="Rules",
                anchor="",
                uri="",
                quote="",
                document=titles["Rules"].document.id,
                chunk=ChunkId("1"),
            )
            (shown,) = await with_versions((citation,), metadata)
            assert (shown.title, shown.uri) == (f"Rules ({day})", link)
            with pytest.raises(SourceRefused, match="is a source of this knowledge base already"):
                await sources.add(base.id, str(folder))
            await sources.remove(page)
            assert [record.document.title for record in await library.catalog.records(base.id)] == ["a.md"]


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/srv/handbook", "folder"),
        ("https://github.com/acme/guides.git", "git"),
        ("git@github.com:acme/guides.git", "git"),
        ("s3://acme/handbook", "fsspec"),
        ("https://example.org/sitemap.xml", "site"),
        ("https://example.org/blog/feed/", "feed"),
        ("https://example.org/rules", "page"),
    ],
)
def test_the_kind_is_that_of_the_address(address: str, kind: str) -> None:
    assert kind_of(address).name == kind


def test_an_unknown_kind_is_one_sentence() -> None:
    with pytest.raises(SourceRefused, match="There is no kind of source 'wiki'"):
        kind_of("https://example.org", "wiki")
    with pytest.raises(SourceRefused, match="Choose a kind"):
        kind_of("handbook")


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("/srv/docs", True),
        ("/srv/docs/a", True),
        ("/srv/docs-private", False),
        ("/srv/docs/../secret", False),
        ("/srv/docs/%2e%2e/secret", False),
        ("/srv", False),
    ],
)
def test_a_list_of_folders_ends_at_their_names(address: str, allowed: bool) -> None:
    assert is_under(address, "/srv/docs") is allowed
