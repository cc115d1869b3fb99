from __future__ import annotations

import socket
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Mount

from bot.resilience.connections import configuration
from bot.server import tools
from bot.server.answer_slots import AnswerSlots
from bot.server.key_guard import KeyGuard
from bot.server.routes import Completions, reader_of
from rag_engine.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping

    from bot.composition.components import Application
    from bot.server.readers import Reader
    from bot.store.api_keys import ApiKeys

_GRACE_SECONDS: Final = 10
_MOST_CONNECTIONS: Final = 200


def web_application(application: Application, keys: ApiKeys, *, at_once: int) -> Starlette:
    """`/v1` for clients of OpenAI's protocol, `/mcp` for those of MCP."""

    async def find(headers: Mapping[str, str] | None) -> Reader | None:
        return await reader_of((headers or {}).get("authorization", ""), keys, application)

    # A page in a browser has no key.
    anywhere = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    slots = AnswerSlots(at_once)
    protocol = tools.server(find, slots)
    inner = protocol.streamable_http_app(stateless_http=True, transport_security=anywhere)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with protocol.session_manager.run():
            yield

    routes = [
        *Completions(application=application, keys=keys, slots=slots).routes(),
        Mount("/", app=KeyGuard(inner, find)),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


@contextmanager
def listening(host: str, port: int) -> Generator[socket.socket]:
    """Raises `BadSettings`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        found = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSettings(
            f"--port {port} on {host} cannot be used ({reason}); choose another port, or another --host."
        ) from error
    # Without it small responses wait 40 ms.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with found:
        yield found


def server(web: Starlette) -> uvicorn.Server:
    return uvicorn.Server(
        configuration(web, most_connections=_MOST_CONNECTIONS, timeout_graceful_shutdown=_GRACE_SECONDS)
    )
