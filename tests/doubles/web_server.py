"""A small web: the search APIs of the providers, and pages that behave well and badly."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@dataclass(slots=True, kw_only=True)
class WebServer:
    url: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    """HTML, XML or text by path."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Of paths that answer with an error."""
    etags: dict[str, str] = field(default_factory=dict)
    """A request that names its page's etag gets no page."""
    sent: list[str] = field(default_factory=list)
    """The paths of pages that were sent in full."""
    found: list[dict[str, str]] = field(default_factory=list)
    """What a search finds: `title`, `path`, `text`."""
    status: int = 200
    body: object = None
    """Answers a search in place of what is found."""
    searches: list[web.Request] = field(default_factory=list)
    posted: list[dict[str, object]] = field(default_factory=list)
    visits: list[str] = field(default_factory=list)

    async def search(self, request: web.Request) -> web.Response:
        self.searches.append(request)
        if request.method == "POST":
            self.posted.append(await request.json())
        if self.status != 200:
            return web.Response(status=self.status, text="no")
        if self.body is not None:
            return web.Response(text=str(self.body), content_type="application/json")
        results = [
            {
                "title": one["title"],
                "url": self.url + one["path"],
                "content": one["text"],
                "description": one["text"],
            }
            for one in self.found
        ]
        if request.path == "/brave":
            return web.json_response({"web": {"results": results}} if results else {"type": "search"})
        if request.path == "/w/api.php":
            listed = [{"title": one["title"], "snippet": f"<b>{one['text']}</b>"} for one in self.found]
            return web.json_response({"query": {"search": listed}})
        return web.json_response({"results": results})

    async def page(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        self.visits.append(path)
        if path in self.statuses:
            return web.Response(status=self.statuses[path], text="no")
        if (text := self.pages.get(path)) is None:
            return web.Response(status=404, text="gone")
        etag = self.etags.get(path, "")
        headers = {"ETag": etag} if etag else {}
        if etag and request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        self.sent.append(path)
        suffix = path.rpartition(".")[2]
        kind = {"xml": "application/xml", "txt": "text/plain"}.get(suffix, "text/html")
        return web.Response(text=text, content_type=kind, headers=headers)


async def _redirect(request: web.Request) -> web.Response:
    return web.Response(status=302, headers={"Location": request.query["to"]})


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    while True:
        await response.write(b"<p>more</p>" * 10_000)


async def _slow(request: web.Request) -> web.Response:
    await asyncio.sleep(60)
    return web.Response(text="late")


async def _bomb(_: web.Request) -> web.Response:
    return web.Response(
        body=gzip.compress(b"<p>" + b"a" * 50_000_000),
        headers={"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )


async def _zipped(_: web.Request) -> web.Response:
    return web.Response(
        body=gzip.compress(b"<p>zipped words</p>"),
        headers={"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )


async def _latin(_: web.Request) -> web.Response:
    return web.Response(
        body="<p>Größe: groß</p>".encode("latin-1"), headers={"Content-Type": "text/html; charset=iso-8859-1"}
    )


async def _picture(_: web.Request) -> web.Response:
    return web.Response(body=b"\x89PNG", content_type="image/png")


@asynccontextmanager
async def web_server() -> AsyncGenerator[WebServer]:
    """On a free loopback port."""
    server = WebServer()
    application = web.Application()
    for path in ("/search", "/brave", "/w/api.php"):
        application.router.add_get(path, server.search)
    application.router.add_post("/tavily", server.search)
    odd = {
        "redirect": _redirect,
        "endless": _endless,
        "slow": _slow,
        "bomb": _bomb,
        "zipped": _zipped,
        "latin": _latin,
        "picture": _picture,
    }
    for name, answer in odd.items():
        application.router.add_get(f"/odd/{name}", answer)
    application.router.add_get("/{path:.*}", server.page)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()
