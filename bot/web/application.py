from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.access.visitor_access import VisitorAccess
from bot.messages.errors import sentence_of
from bot.observability import log
from bot.port import Person, Place
from bot.web import guard, sheets
from bot.web.registry import views
from bot.web.visit import Moved, NothingHere, NotYours, Visit
from rag_engine.errors import RagError, Unavailable, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from bot.composition.chat.page_parts import PageParts
    from bot.observability.health import Health
    from bot.port import Directory
    from bot.store.web_sessions import Visitor
    from bot.web.background import Background
    from bot.web.registry import LoadedView
    from bot.web.visit import Reply

_TRIES: Final = 10
_OLD: Final = "This form is out of date: open the page again and repeat it."
_USED: Final = "This link was used, or it is older than ten minutes: ask for a new one."
_ENDED: Final = "You no longer administer this workspace, so you were signed out."
_BUSY: Final = "Too many tries: wait a minute."


@dataclass(frozen=True, slots=True, kw_only=True)
class PageApplication:
    parts: PageParts
    health: Health
    background: Background
    address: str
    _tries: guard.TryLimit = field(default_factory=lambda: guard.TryLimit(_TRIES), init=False)

    def build(self, hosts: frozenset[str]) -> Starlette:
        routes = [
            Route("/static/{name}", _static, methods=["GET"]),
            Route("/sign-in/{token}", self.sign_in, methods=["GET", "POST"]),
            Route("/sign-out", self.sign_out, methods=["POST"]),
            Route("/{rest:path}", self.visit, methods=["GET", "POST"]),
        ]
        middleware = [Middleware(guard.Guard, hosts=hosts, secure=self._is_secure)]
        return Starlette(routes=routes, middleware=middleware)

    @property
    def _is_secure(self) -> bool:
        return self.address.startswith("https://")

    @property
    def _cookie(self) -> str:
        return "__Host-footnote" if self._is_secure else "footnote"

    async def sign_in(self, request: Request) -> Response:
        token = request.path_params["token"]
        if request.method != "POST":  # which a preview of the link may send, too
            return await self._message("sign_in.html", HTTPStatus.OK, token=token)
        sessions = self.parts.links.sessions
        if not guard.is_same_origin(request, self.address) or not await sessions.is_marked(token):
            return await self._message("message.html", HTTPStatus.FORBIDDEN, sentence=_USED)
        if not self._tries.allows(token):
            return await self._message("message.html", HTTPStatus.TOO_MANY_REQUESTS, sentence=_BUSY)
        session = await sessions.begin(token)
        if session is None:
            self._tries.failed(token)
            return await self._message("message.html", HTTPStatus.FORBIDDEN, sentence=_USED)
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        response.set_cookie(
            self._cookie, session, path="/", httponly=True, samesite="strict", secure=self._is_secure
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        session = request.cookies.get(self._cookie, "")
        if await self._is_ours(request, session, await _form(request)):
            await self.parts.links.sessions.end(session)
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)

    async def visit(self, request: Request) -> Response:
        try:
            return await self._visit(request)
        except RagError as error:
            status = _status(error)
            return await self._message("message.html", status, sentence=sentence_of(error, "en"))
        except Exception as error:
            log.record(log.unwrapped(error))
            sentence = sentence_of(error, "en")
            return await self._message("message.html", HTTPStatus.INTERNAL_SERVER_ERROR, sentence=sentence)

    async def _visit(self, request: Request) -> Response:
        session = request.cookies.get(self._cookie, "")
        visitor = await self.parts.links.sessions.visitor(session) if session else None
        if visitor is None:
            return await self._message("signed_out.html", HTTPStatus.UNAUTHORIZED)
        form: Mapping[str, str] = await guard.form_of(request) if request.method == "POST" else {}
        if request.method == "POST" and not await self._is_ours(request, session, form):
            return await self._message("message.html", HTTPStatus.FORBIDDEN, sentence=_OLD)
        reader, checked = await self._reader(visitor)
        if checked is False:
            await self.parts.links.sessions.end(session)
            return await self._message("message.html", HTTPStatus.FORBIDDEN, sentence=_ENDED)
        path, *rest = request.path_params["rest"].split("/")
        view = views().get(path)
        if view is None or (view.operator_only and not reader.is_operator):
            raise NothingHere
        visit = Visit(
            parts=self.parts,
            reader=reader,
            visitor=visitor,
            health=self.health,
            background=self.background,
            checked=checked is True,
            rest=tuple(rest),
            query=dict(request.query_params),
            form=form,
        )
        if request.method == "POST":
            return await self._acted(view, visit, session)
        return await self._shown(view, visit, await view.show(visit), session)

    async def _acted(self, view: LoadedView, visit: Visit, session: str) -> Response:
        if view.act is None:
            raise NothingHere
        if not visit.checked:
            raise NotYours(
                "It could not be checked whether you still administer this workspace, so nothing was changed. Try again in a moment."
            )
        return await self._shown(view, visit, await view.act(visit), session)

    async def _is_ours(self, request: Request, session: str, form: Mapping[str, str]) -> bool:
        is_ours = guard.is_same_origin(request, self.address)
        return bool(session) and is_ours and guard.is_form_token(session, form.get("token", ""))

    async def _reader(self, visitor: Visitor) -> tuple[VisitorAccess, bool | None]:
        """And whether the visitor still administers; None: unknown, and nothing is read."""
        found: dict[tuple[str, str], Directory | None] = {}

        async def find(platform: str, workspace: str) -> Directory | None:
            if (platform, workspace) not in found:
                found[platform, workspace] = await self.parts.directory(platform, workspace)
            return found[platform, workspace]

        access = self.parts.access
        hub = Place(platform=visitor.platform, workspace=visitor.workspace, channel="")
        person = None if visitor.is_operator else Person(id=visitor.person, name=visitor.name)
        reader = VisitorAccess(person=person, workspace=hub, access=access, find=find)
        if person is None:
            return reader, True
        directory = await find(hub.platform, hub.workspace)
        checked = None if directory is None else await access.still_administers(person, directory)
        if checked is None:
            found[hub.platform, hub.workspace] = None
        return reader, checked if access.serves(hub) else False

    async def _shown(self, view: LoadedView, visit: Visit, reply: Reply, session: str) -> Response:
        if isinstance(reply, Moved):
            query = urlencode({**reply.query, **({"said": reply.said} if reply.said else {})})
            return RedirectResponse(f"/{reply.path}{'?' if query else ''}{query}", HTTPStatus.SEE_OTHER)
        shown = [each for each in views().values() if visit.reader.is_operator or not each.operator_only]
        values = {
            **reply.values,
            "title": reply.title or view.title,
            "view": view,
            "views": shown,
            "visitor": visit.visitor,
            "checked": visit.checked,
            "token": guard.form_token(session),
            "said": view.said.get(visit.query.get("said", ""), ""),
        }
        return HTMLResponse(await sheets.rendered(reply.template, values))

    async def _message(self, template: str, status: HTTPStatus, **values: object) -> Response:
        return HTMLResponse(await sheets.rendered(template, values), status)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in sheets.STATIC:
        return Response("There is nothing here.", HTTPStatus.NOT_FOUND, media_type="text/plain")
    headers = {"cache-control": "public, max-age=86400"}
    return Response(sheets.static(name), media_type=sheets.STATIC[name], headers=headers)


async def _form(request: Request) -> Mapping[str, str]:
    try:
        return await guard.form_of(request)
    except UserError:
        return {}


def _status(error: RagError) -> HTTPStatus:
    match error:
        case NothingHere():
            return HTTPStatus.NOT_FOUND
        case NotYours():
            return HTTPStatus.FORBIDDEN
        case UserError():
            return HTTPStatus.BAD_REQUEST
        case Unavailable():
            return HTTPStatus.SERVICE_UNAVAILABLE
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR
