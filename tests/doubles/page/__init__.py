"""A web page for chatting with the bot through the doubles, live by server-sent events."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.doubles.chat_server import Upload
from tests.doubles.page.marks import html

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from tests.doubles.chat_server import Shown
    from tests.doubles.chats import Chat

HERE = Path(__file__).parent
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
POLICY = "default-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'"
REDRAW_SECONDS = 0.05


class Page:
    """Shows what one person sees, and does what that person does."""

    def __init__(self, chats: Mapping[str, Chat]) -> None:
        self._chats = chats

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self._file),
            web.get("/{name:page.(?:css|js)}", self._file),
            web.get("/favicon.ico", self._nothing),
            web.get("/platforms", self._platforms),
            web.get("/screen", self._screen),
            web.get("/changes", self._changes),
            web.get("/content", self._content),
            web.post("/do/{verb}", self._do),
        ]

    async def _file(self, request: web.Request) -> web.Response:
        path = HERE / request.match_info.get("name", "page.html")
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
        kind = TYPES[path.suffix]
        return web.Response(text=path.read_text("utf-8"), content_type=kind, headers=headers)

    async def _nothing(self, request: web.Request) -> web.Response:
        return web.Response(status=204)

    async def _platforms(self, request: web.Request) -> web.Response:
        listed = [{"name": name, "people": dict(chat.people)} for name, chat in self._chats.items()]
        return web.json_response(listed)

    async def _screen(self, request: web.Request) -> web.Response:
        chat, query = self._chat(request), request.query
        person, channel, thread = query["person"], query.get("channel", ""), query.get("thread", "")
        rooms = chat.rooms_of(person)
        channel = channel if channel in [room.id for room in rooms] else rooms[0].id
        screen = {
            "rooms": [{"id": room.id, "name": room.name, "kind": room.kind} for room in rooms],
            "channel": channel,
            "messages": [self._message(chat, each) for each in chat.visible(person, channel)],
            "thread": [self._message(chat, each) for each in chat.visible(person, channel, thread)]
            if thread
            else [],
            "status": chat.status(channel, ""),
            "status_of_thread": chat.status(channel, thread) if thread else "",
        }
        return web.json_response(screen)

    def _message(self, chat: Chat, shown: Shown) -> dict[str, Any]:
        return {
            "id": shown.id,
            "name": shown.name,
            "author": shown.author,
            "ours": shown.ours,
            "html": "".join(html(kind, text, chat.name_of) for kind, text in chat.parts(shown.id)),
            "source": shown.text,
            "tasks": shown.tasks if shown.streaming else (),
            "buttons": [
                {"label": each.label, "action": each.action, "style": each.style, "url": each.url}
                for each in shown.buttons
            ],
            "files": [
                {"name": each.name, "type": each.media_type, "size": each.size, "number": number}
                for number, each in enumerate(shown.files)
            ],
            "thread": shown.replies_in or shown.id,
            "replies": shown.replies,
            "private": bool(shown.only_for),
            "edited": shown.edited,
            "streaming": shown.streaming,
            "versions": len(shown.texts),
        }

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        """One line per change, a few times a second at most."""
        server = self._chat(request).server
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        seen = -1
        while True:
            try:
                await server.wait_for(lambda seen=seen: server.version > seen, seconds=15)
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            seen = server.version
            await response.write(b"data: %d\n\n" % seen)
            await asyncio.sleep(REDRAW_SECONDS)

    async def _content(self, request: web.Request) -> web.Response:
        """Pictures are shown, other files saved."""
        chat = self._chat(request)
        shown = chat.shown(request.query["message"])
        content, kind = chat.content(shown.files[int(request.query["number"])])
        safe = kind in ("image/png", "image/jpeg", "image/gif", "image/webp")
        headers = {
            "Content-Disposition": "inline" if safe else "attachment",
            "X-Content-Type-Options": "nosniff",
        }
        kind = kind if safe else "application/octet-stream"
        return web.Response(body=content, content_type=kind, headers=headers)

    async def _do(self, request: web.Request) -> web.Response:
        """Impossible actions are answered with a sentence."""
        chat, form = self._chat(request), await request.post()
        said = {key: value for key, value in form.items() if isinstance(value, str)}
        files = [
            Upload(name=each.filename, content=each.file.read(), media_type=each.content_type)
            for each in form.getall("files", ())
            if isinstance(each, web.FileField)
        ]
        try:
            await _act(chat, request.match_info["verb"], said, files)
        except (LookupError, PermissionError) as error:
            return web.json_response({"error": str(error) or "That is not there."}, status=409)
        return web.json_response({})

    def _chat(self, request: web.Request) -> Chat:
        return self._chats[request.query.get("platform") or next(iter(self._chats))]


async def _act(chat: Chat, verb: str, said: Mapping[str, str], files: list[Upload]) -> None:
    person, message, text = said.get("person", ""), said.get("message", ""), said.get("text", "")
    channel, thread = said.get("channel", ""), said.get("thread", "")
    if verb == "say" and text.startswith("/"):
        await chat.commands(person, channel, text, thread=thread)
    elif verb == "say":
        await chat.says(person, channel, text, thread=thread, files=files)
    elif verb == "click":
        await chat.clicks(person, message, said["button"])
    elif verb == "edit":
        await chat.edits(message, text)
    elif verb == "delete":
        await chat.deletes(message)
    else:
        raise LookupError(f"nobody can {verb}")


@asynccontextmanager
async def serve(chats: Mapping[str, Chat], port: int = 0) -> AsyncGenerator[str]:
    app = web.Application(client_max_size=64 << 20)
    app.add_routes(Page(chats).routes())
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield "http://{}:{}/".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()
