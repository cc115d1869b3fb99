from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.applications import Starlette

HEAD_SECONDS = 10.0
READ_SECONDS = 30.0
_LARGEST_HEADERS: Final = 16_384


class BoundedConnection(H11Protocol):
    """Of a client that sends or reads slowly: uvicorn's own has no limit but for idle ones."""

    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._read()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self.loop.call_later(READ_SECONDS, self._abort_unread)

    def _await_head(self) -> None:
        """One deadline for all of a request's head."""
        cycle = self.cycle
        if cycle and not cycle.response_complete:
            self._stop()
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _abort_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()


def configuration(web: Starlette, *, most_connections: int, **more: Any) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_is_no_interruption)
    return uvicorn.Config(
        web,
        http=BoundedConnection,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        proxy_headers=False,
        h11_max_incomplete_event_size=_LARGEST_HEADERS,
        limit_concurrency=most_connections,
        **more,
    )


def _is_no_interruption(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
