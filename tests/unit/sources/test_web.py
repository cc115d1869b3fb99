"""Pages and sites: robots.txt is obeyed, unchanged pages are not sent again, pages that are gone go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.sync.types import SyncCounts
from rag_engine.web.addresses import PrivateAddress

if TYPE_CHECKING:
    from tests.unit.sources.synced import Synced, Web

PAGE = "<html><head><title>Rules &amp; {title}</title></head><body><p>The rule about {title} holds.</p></body></html>"


def page(title: str) -> str:
    return PAGE.format(title=title)


def sitemap(*urls: str, changed: str = "") -> str:
    lastmod = f"<lastmod>{changed}</lastmod>" if changed else ""
    listed = "".join(f"<url><loc>{url}</loc>{lastmod}</url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'


async def test_a_page_is_read_again_only_if_it_changed(synced: Synced, small_web: Web) -> None:
    server = small_web.server
    server.pages["/rules"], server.etags["/rules"] = page("travel"), '"1"'
    source = await synced.add("page", f"{server.url}/rules")
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts(new=1)
    assert await synced.titles() == ["Rules & travel"]
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts()
    assert server.sent == ["/rules"]
    server.pages["/rules"], server.etags["/rules"] = page("leave"), '"2"'
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts(changed=1)
    assert await synced.titles() == ["Rules & leave"]
    del server.pages["/rules"]
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts(gone=1)
    assert await synced.titles() == []


@pytest.mark.parametrize("status", [403, 429, 500])
async def test_a_page_that_does_not_answer_stays(synced: Synced, small_web: Web, status: int) -> None:
    server = small_web.server
    server.pages["/rules"] = page("travel")
    source = await synced.add("page", f"{server.url}/rules")
    await synced.run(source, client=small_web.client)
    server.statuses["/rules"] = status
    outcome = await synced.run(source, client=small_web.client)
    assert outcome.counts == SyncCounts(failed=1)
    assert await synced.titles() == ["Rules & travel"]


async def test_a_site_is_what_its_sitemaps_list(synced: Synced, small_web: Web) -> None:
    server, url = small_web.server, small_web.server.url
    for name in ("a", "b", "c"):
        server.pages[f"/docs/{name}"] = page(name)
    server.pages["/robots.txt"] = f"User-agent: *\nDisallow: /docs/c\nSitemap: {url}/maps.xml\n"
    itself = f"<sitemap><loc>{url}/maps.xml</loc></sitemap>"
    one = f"<sitemap><loc>{url}/one.xml</loc></sitemap>"
    server.pages["/maps.xml"] = f"<sitemapindex>{itself}{one}{one}</sitemapindex>"
    server.pages["/one.xml"] = sitemap(
        *(f"{url}/docs/{name}" for name in "abc"), f"{url}/elsewhere", "https://example.org/docs/a"
    )
    source = await synced.add("site", f"{url}/docs/")
    outcome = await synced.run(source, client=small_web.client)
    assert outcome.counts == SyncCounts(new=2, failed=1)
    assert "/docs/c" not in server.visits
    assert server.visits.count("/maps.xml") == 1
    (refused,) = await synced.store.unread(source.id, limit=9)
    assert refused.reason == "The robots.txt of this site does not allow this page to be read."
    server.pages["/one.xml"] = sitemap(f"{url}/docs/a")
    assert (await synced.run(source, client=small_web.client)).counts == SyncCounts(gone=1)
    assert await synced.titles() == ["Rules & a"]


async def test_a_date_in_the_sitemap_saves_the_request(synced: Synced, small_web: Web) -> None:
    server, url = small_web.server, small_web.server.url
    server.pages |= {"/a": page("a"), "/sitemap.xml": sitemap(f"{url}/a", changed="2026-11-01")}
    source = await synced.add("site", f"{url}/sitemap.xml")
    await synced.run(source, client=small_web.client)
    await synced.run(source, client=small_web.client)
    assert server.visits.count("/a") == 1
    server.pages["/sitemap.xml"] = sitemap(f"{url}/a", changed="2026-11-02")
    await synced.run(source, client=small_web.client)
    assert server.visits.count("/a") == 2


async def test_a_sitemap_that_is_away_or_broken_removes_nothing(synced: Synced, small_web: Web) -> None:
    server, url = small_web.server, small_web.server.url
    server.pages |= {"/a": page("a"), "/sitemap.xml": sitemap(f"{url}/a")}
    source = await synced.add("site", f"{url}/sitemap.xml")
    await synced.run(source, client=small_web.client)
    server.pages["/sitemap.xml"] = "<urlset><url>"
    assert "is no XML" in (await synced.run(source, client=small_web.client)).error
    server.statuses["/sitemap.xml"] = 404
    assert "There is no sitemap at" in (await synced.run(source, client=small_web.client)).error
    server.statuses["/robots.txt"] = 503
    assert "does not answer" in (await synced.run(source, client=small_web.client)).error
    assert await synced.titles() == ["Rules & a"]


async def test_an_entity_of_a_sitemap_names_no_file(synced: Synced, small_web: Web) -> None:
    server, url = small_web.server, small_web.server.url
    server.pages["/sitemap.xml"] = (
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
        f"<urlset><url><loc>{url}/&x;</loc></url></urlset>"
    )
    source = await synced.add("site", f"{url}/sitemap.xml")
    await synced.run(source, client=small_web.client)
    assert set(server.visits) <= {"/robots.txt", "/sitemap.xml", "/"}


@pytest.mark.parametrize("kind", ["page", "site"])
@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/x", "http://169.254.169.254/", "http://wiki.internal/"]
)
async def test_no_address_inside_the_network_is_a_source(synced: Synced, kind: str, address: str) -> None:
    source = await synced.add(kind, address)
    with pytest.raises(PrivateAddress):
        await synced.run(source)
