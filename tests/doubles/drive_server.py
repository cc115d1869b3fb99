"""Google Drive as its JSON, on a real socket: folders, tokens, limits and faults."""

from __future__ import annotations

import hashlib
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

REFRESH = "drive-refresh-secret"
_PAGE_SIZE = 3
_GOOGLE = "application/vnd.google-apps."


@dataclass(slots=True, kw_only=True)
class DriveFile:
    name: str
    text: str = ""
    parent: str = "root"
    kind: str = "text/plain"
    modified: int = 1


@dataclass(slots=True, kw_only=True)
class DriveServer:
    url: str = ""
    files: dict[str, DriveFile] = field(default_factory=dict[str, DriveFile])
    refresh_token: str = REFRESH
    access_token: str = "drive-access"
    limited: int = 0
    fails_after: int | None = None
    hidden: set[str] = field(default_factory=set[str])
    """Files that are listed and may not be read."""
    bodies: list[str] = field(default_factory=list[str])
    exports: dict[str, str] = field(default_factory=dict[str, str])
    """The types that documents of Google were asked for in; their text is sent in its place."""

    def refusal(self, request: web.Request) -> web.Response | None:
        if self.limited:
            self.limited -= 1
            return web.json_response({}, status=429, headers={"Retry-After": "0"})
        sent = request.headers.get("Authorization", "")
        return None if sent == f"Bearer {self.access_token}" else web.json_response({}, status=401)

    async def token(self, request: web.Request) -> web.Response:
        form = await request.post()
        if form["refresh_token"] != self.refresh_token or form["grant_type"] != "refresh_token":
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"access_token": self.access_token, "expires_in": 3599})

    async def listing(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        asked = re.fullmatch(r"'([\w-]+)' in parents and trashed = false", request.query["q"])
        assert asked is not None
        start = int(request.query.get("pageToken", "0"))
        if self.fails_after is not None and start // _PAGE_SIZE >= self.fails_after:
            return web.json_response({}, status=503)
        found = [(key, each) for key, each in self.files.items() if each.parent == asked[1]]
        body: dict[str, Any] = {"files": [_json(*each) for each in found[start : start + _PAGE_SIZE]]}
        if start + _PAGE_SIZE < len(found):
            body["nextPageToken"] = str(start + _PAGE_SIZE)
        return web.json_response(body)

    async def file(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        key = request.match_info["file"]
        if key not in self.files:
            return web.json_response({}, status=404)
        if key in self.hidden:
            return web.json_response({}, status=403)
        if request.query.get("alt") != "media":
            return web.json_response(_json(key, self.files[key]))
        self.bodies.append(key)
        return web.Response(body=self.files[key].text.encode())

    async def export(self, request: web.Request) -> web.Response:
        if refused := self.refusal(request):
            return refused
        key = request.match_info["file"]
        self.bodies.append(key)
        self.exports[key] = request.query["mimeType"]
        return web.Response(body=self.files[key].text.encode())


def _json(key: str, file: DriveFile) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": key,
        "name": file.name,
        "mimeType": file.kind,
        "modifiedTime": f"2026-11-{file.modified:02d}T10:00:00.000Z",
        "webViewLink": f"https://drive.google.com/file/d/{key}/view",
    }
    if not file.kind.startswith(_GOOGLE):
        found["md5Checksum"] = hashlib.md5(file.text.encode(), usedforsecurity=False).hexdigest()
    return found


@asynccontextmanager
async def drive_server() -> AsyncGenerator[DriveServer]:
    server = DriveServer()
    app = web.Application()
    app.router.add_post("/token", server.token)
    app.router.add_get("/drive/v3/files", server.listing)
    app.router.add_get("/drive/v3/files/{file}", server.file)
    app.router.add_get("/drive/v3/files/{file}/export", server.export)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()
