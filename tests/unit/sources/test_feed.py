"""The pages that a feed names, also after it names them no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.sync.types import SyncCounts

if TYPE_CHECKING:
    from tests.unit.sources.synced import Synced, Web

RSS = (
    '<rss version="2.0"><channel><title>News</title><link>{url}/</link>'
    "<item><title>One</title><link>{url}/news/{number}</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>"
    "<item><title>No link</title></item></channel></rss>"
)
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title>'
    '<link rel="self" href="{url}/self"/><link href="/news/{number}"/><updated>2026-11-02T10:00:00Z</updated></entry></feed>'
)


@pytest.mark.parametrize("feed", [RSS, ATOM])
async def test_pages_of_a_feed_stay(synced: Synced, small_web: Web, feed: str) -> None:
    server = small_web.server
    for number in (1, 2):
        server.pages[f"/news/{number}"] = f"<title>News {number}</title><p>What number {number} says.</p>"
    server.pages["/feed.xml"] = feed.format(url=server.url, number=1)
    source = await synced.add("feed", f"{server.url}/feed.xml")
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts(new=1)
    server.pages["/feed.xml"] = feed.format(url=server.url, number=2)
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts(new=1)
    assert await synced.titles() == ["News 1", "News 2"]
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts()
    assert server.visits.count("/news/2") == 1


async def test_a_page_is_no_feed(synced: Synced, small_web: Web) -> None:
    small_web.server.pages["/feed.xml"] = "<html><body/></html>"
    source = await synced.add("feed", f"{small_web.server.url}/feed.xml")
    assert (await synced.run(source, client=small_web.client)).error.endswith("/feed.xml is no feed.")
