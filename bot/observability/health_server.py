"""`/healthz`, `/readyz` and `/metrics`, from a thread that answers even while the event loop is blocked. Imported only
if needed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import socketserver
import sys
import threading
import time
from collections import deque
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import MetricsHandler

from bot.observability import log
from rag_engine.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from prometheus_client import CollectorRegistry

    from bot.observability.health import Health
    from bot.settings import MetricsSettings

_REQUEST_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.1
_MOST_CONNECTIONS: Final = 32

_log = logging.getLogger(__name__)


@asynccontextmanager
async def served(
    settings: MetricsSettings, *, registry: CollectorRegistry, health: Health
) -> AsyncGenerator[str]:
    """Yields the address. Raises `BadSettings`."""
    handler = type(
        "_Handler",
        (_Asked,),
        {"registry": registry, "health": health, "stuck_seconds": settings.stuck_seconds},
    )
    try:
        server = await asyncio.to_thread(_Server, (settings.host, settings.port or 0), handler)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSettings(
            f"FOOTNOTE_METRICS__PORT: {settings.port} on {settings.host} cannot be used ({reason});"
            " choose another port, or another FOOTNOTE_METRICS__HOST."
        ) from error
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), name="health", daemon=True)
    thread.start()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        address = f"http://{host}:{server.server_port}"
        log.event("metrics", url=f"{address}/metrics")
        yield address
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # With the base class's five, the kernel drops simultaneous connections, and clients retry after seconds.
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self._open: deque[socket.socket] = deque()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Ends the oldest of too many: slow clients keep nobody out."""
        self._open.append(request)
        while len(self._open) > _MOST_CONNECTIONS:
            with suppress(OSError, IndexError):
                self._open.popleft().shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with suppress(ValueError):
            self._open.remove(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The base class would print a traceback."""
        _log.info("a request for health or metrics failed: %s", type(sys.exception()).__name__)

    def server_bind(self) -> None:
        """The base class asks a name server for our name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


class _Asked(MetricsHandler):
    timeout = _REQUEST_SECONDS
    health: Health
    stuck_seconds: float

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        match self.path.partition("?")[0]:
            case "/healthz":
                silent = self.health.silent_seconds
                alive = silent <= self.stuck_seconds
                self._respond({"alive": alive, "event_loop_silent_seconds": round(silent, 1)}, ready=alive)
            case "/readyz":
                checks = {
                    name: {"ready": check.ready, "since": _moment(check.since), "detail": check.detail}
                    for name, check in self.health.checks.items()
                }
                self._respond({"ready": self.health.ready, "checks": checks}, ready=self.health.ready)
            case "/" | "/metrics":
                super().do_GET()
            case _:
                self.send_error(HTTPStatus.NOT_FOUND)

    def _respond(self, content: object, *, ready: bool) -> None:
        body = json.dumps(content, ensure_ascii=False, indent=1).encode()
        self.send_response(HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
