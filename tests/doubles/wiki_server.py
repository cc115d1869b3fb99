"""Confluence and Notion as their JSON, on a real socket: pages, tokens, limits and faults."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

TOKEN = "wiki-secret"
_PAGE_SIZE = 3


@dataclass(slots=True, kw_only=True)
class WikiPage:
    title: str
    text: str
    version: int = 1
    parent: str = ""
    trashed: bool = False

    @property
    def when(self) -> str:
        return f"2026-11-{self.version:02d}T10:00:00.000Z"


@dataclass(slots=True, kw_only=True)
class WikiServer:
    url: str = ""
    pages: dict[str, WikiPage] = field(default_factory=dict[str, WikiPage])
    token: str = TOKEN
    limited: int = 0
    """How many of the next calls are answered with 429."""
    retry_after: str = "0"
    fails_after: int | None = None
    """Pages of a listing until it fails."""
    bodies: list[str] = field(default_factory=list[str])
    """The pages whose text was sent."""
    vanishing: set[str] = field(default_factory=set[str])
    """Pages that are listed and cannot be read."""
    repeats: bool = False
    """Each page of a listing names the second one as the next."""
    redirects: bool = False
    calls: int = 0
    hides_people: bool = False

    def refusal(self, request: web.Request) -> web.Response | None:
        self.calls += 1
        if self.limited:
            self.limited -= 1
            return web.json_response({}, status=429, headers={"Retry-After": self.retry_after})
        if self.redirects:
            return web.json_response({}, status=302, headers={"Location": "/elsewhere"})
        sent = request.headers.get("Authorization", "")
        return None if sent == f"Bearer {self.token}" else web.json_response({}, status=401)

    def listed(self, start: int) -> tuple[list[tuple[str, WikiPage]], int | None]:
        everything = [(key, each) for key, each in self.pages.items() if not each.trashed]
        end = start + _PAGE_SIZE
        if self.repeats:
            return everything[start:end], _PAGE_SIZE
        return everything[start:end], end if end < len(everything) else None

    def is_broken(self, start: int) -> bool:
        return self.fails_after is not None and start // _PAGE_SIZE >= self.fails_after

    async def confluence(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        cql = request.query["cql"]
        if cql.startswith("id = "):
            key = cql.removeprefix("id = ")
            found = self.pages.get(key)
            if found is None or found.trashed or key in self.vanishing:
                return web.json_response({"results": [], "_links": {}})
            self.bodies.append(key)
            return web.json_response({"results": [_content(key, found, body=True)], "_links": {}})
        assert cql == 'space = "ENG" and type = page'
        start = int(request.query.get("start", "0"))
        if self.is_broken(start):
            return web.json_response({}, status=502)
        found_pages, following = self.listed(start)
        links: dict[str, str] = {"base": self.url}
        if following is not None:
            query = request.url.update_query(start=following).raw_query_string
            links["next"] = f"/rest/api/content/search?{query}"
        return web.json_response({"results": [_content(*each) for each in found_pages], "_links": links})

    async def notion_search(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        assert request.headers["Notion-Version"]
        asked = await request.json()
        assert asked["filter"] == {"property": "object", "value": "page"}
        start = int(asked.get("start_cursor", "0"))
        if self.is_broken(start):
            return web.json_response({}, status=502)
        found, following = self.listed(start)
        return web.json_response(
            {
                "object": "list",
                "results": [_page(*each) for each in found],
                "has_more": following is not None,
                "next_cursor": None if following is None else str(following),
            }
        )

    async def notion_page(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        key = request.match_info["page"]
        if key not in self.pages or key in self.vanishing:
            return web.json_response({"code": "object_not_found"}, status=404)
        return web.json_response(_page(key, self.pages[key]))

    async def notion_blocks(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        key = request.match_info["page"]
        if key.startswith("block-"):
            return _blocks([_paragraph("Nested: the end.")])
        if request.query.get("start_cursor"):
            return _blocks([_paragraph("The last block.", children=True)])
        self.bodies.append(key)
        return _blocks([_paragraph(self.pages[key].text)], following="2")

    async def notion_person(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        return web.json_response({"name": "Ada Lovelace"}, status=403 if self.hides_people else 200)


def _content(key: str, found: WikiPage, *, body: bool = False) -> dict[str, Any]:
    content: dict[str, Any] = {
        "id": key,
        "type": "page",
        "title": found.title,
        "version": {"number": found.version, "when": found.when, "by": {"displayName": "Ada Lovelace"}},
    }
    if body:
        content["body"] = {"view": {"value": f"<p>{found.text}</p>"}}
        content["history"] = {"createdDate": "2025-01-02T10:00:00.000Z"}
    return content


def _page(key: str, found: WikiPage) -> dict[str, Any]:
    parent = {"type": "page_id", "page_id": found.parent} if found.parent else {"type": "workspace"}
    return {
        "object": "page",
        "id": key,
        "created_time": "2025-01-02T10:00:00.000Z",
        "last_edited_time": found.when,
        "last_edited_by": {"object": "user", "id": "person"},
        "archived": found.trashed,
        "url": f"https://www.notion.so/{found.title.replace(' ', '-')}-{key}",
        "parent": parent,
        "properties": {
            "Name": {"type": "title", "title": [{"plain_text": found.title}]},
            "Stage": {"type": "select", "select": {"name": "Draft"}},
        },
    }


def _paragraph(text: str, *, children: bool = False) -> dict[str, Any]:
    return {
        "id": f"block-{abs(hash(text))}",
        "type": "paragraph",
        "has_children": children,
        "paragraph": {"rich_text": [{"plain_text": text}]},
    }


def _blocks(blocks: list[dict[str, Any]], *, following: str = "") -> web.Response:
    return web.json_response(
        {"results": blocks, "has_more": bool(following), "next_cursor": following or None}
    )


@asynccontextmanager
async def wiki_server() -> AsyncGenerator[WikiServer]:
    server = WikiServer()
    app = web.Application()
    app.router.add_get("/wiki/rest/api/content/search", server.confluence)
    app.router.add_post("/v1/search", server.notion_search)
    app.router.add_get("/v1/pages/{page}", server.notion_page)
    app.router.add_get("/v1/blocks/{page}/children", server.notion_blocks)
    app.router.add_get("/v1/users/{person}", server.notion_person)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()
