from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

import uvicorn

from bot.observability import log
from bot.resilience.connections import configuration
from bot.store.turn_figures import TurnFigures
from bot.web.application import PageApplication
from bot.web.background import Background
from bot.web.guard import hosts
from rag_engine.errors import BadSettings, RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from bot.composition.chat.page_parts import PageParts
    from bot.observability.health import Health
    from bot.observability.turn_measurements import TurnMeasurements
    from bot.settings.web import WebSettings

_RECORD_SECONDS: Final = 2.0
_GRACE_SECONDS: Final = 3
_MOST_CONNECTIONS: Final = 100


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """The program's own are not taken over."""
        yield


@asynccontextmanager
async def served(parts: PageParts, *, health: Health, measurements: TurnMeasurements) -> AsyncGenerator[int]:
    """Yields its port. Raises `BadSettings`."""
    settings = parts.application.settings.web
    background = Background()
    with _listening(settings) as listening:
        port = listening.getsockname()[1]
        address = settings.address(port)
        page = PageApplication(parts=parts, health=health, background=background, address=address)
        web = page.build(hosts(address, settings.host, port))
        server = _Server(
            configuration(
                web,
                most_connections=_MOST_CONNECTIONS,
                lifespan="off",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        tasks = [
            asyncio.create_task(server.serve(sockets=[listening]), name="page"),
            asyncio.create_task(_recorded(parts, measurements), name="figures of turns"),
        ]
        parts.links.address = address
        log.event("page", url=address)
        try:
            yield port
        finally:
            parts.links.address = ""
            server.should_exit = True
            await asyncio.wait(tasks[:1], timeout=_GRACE_SECONDS + 1)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await background.close()
            await _record(parts, measurements)


@contextmanager
def _listening(settings: WebSettings) -> Generator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        found = socket.create_server((settings.host, settings.port or 0), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSettings(
            f"FOOTNOTE_WEB__PORT: {settings.port} on {settings.host} cannot be used ({reason}); choose another port, or "
            "another FOOTNOTE_WEB__HOST."
        ) from error
    # asyncio sets it only on sockets whose protocol is named; without it small responses wait 40 ms.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with found:
        yield found


async def _recorded(parts: PageParts, measurements: TurnMeasurements) -> None:
    while True:
        await asyncio.sleep(_RECORD_SECONDS)
        await _record(parts, measurements)


async def _record(parts: PageParts, measurements: TurnMeasurements) -> None:
    taken = measurements.take()
    if not taken:
        return
    try:
        await TurnFigures(parts.chat).record(taken)
    except RagError as error:
        log.record(error)
