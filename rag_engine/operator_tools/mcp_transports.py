"""Those of the SDK read without limit, and log each line that is no message."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, cast

import anyio
import httpx2
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from rag_engine.operator_tools.traffic_limit import MOST, TooMuchSent, Traffic
from rag_engine.storage.concurrency import process_groups

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Received = MemoryObjectReceiveStream[SessionMessage | Exception]
    Sent = MemoryObjectSendStream[SessionMessage]

_END_SECONDS, _KILLED_SECONDS = 1.0, 5.0


@asynccontextmanager
async def program(
    command: Sequence[str], environment: Mapping[str, str], *, exceeded: Callable[[], None]
) -> AsyncGenerator[tuple[Received, Sent]]:
    """Raises `OSError` and `ValueError`."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=dict(environment),
        limit=MOST,
        start_new_session=True,
    )
    from_program, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, to_program = anyio.create_memory_object_stream[SessionMessage](0)
    traffic = Traffic()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, from_program, traffic, exceeded)
            tasks.start_soon(_write, process, to_program, traffic)
            yield received, sent
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
        for stream in (from_program, received, sent, to_program):
            stream.close()


async def _read(
    process: asyncio.subprocess.Process,
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    traffic: Traffic,
    exceeded: Callable[[], None],
) -> None:
    output = cast("asyncio.StreamReader", process.stdout)
    with messages, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        try:
            while line := await output.readline():
                traffic.take(line)
                with suppress(ValidationError):
                    await messages.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))
        except (TooMuchSent, ValueError):  # of a line without end
            exceeded()


async def _write(
    process: asyncio.subprocess.Process, messages: MemoryObjectReceiveStream[SessionMessage], traffic: Traffic
) -> None:
    standard_input = cast("asyncio.StreamWriter", process.stdin)
    with messages, suppress(OSError):
        async for each in messages:
            if isinstance(each.message, JSONRPCRequest):
                traffic.renew()
            standard_input.write(
                each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )
            await standard_input.drain()


async def _end(process: asyncio.subprocess.Process) -> None:
    cast("asyncio.StreamWriter", process.stdin).close()
    for sign in (None, signal.SIGTERM, signal.SIGKILL):
        if sign is not None:
            process_groups.send(process, sign)
        with suppress(TimeoutError):
            async with asyncio.timeout(_KILLED_SECONDS if sign == signal.SIGKILL else _END_SECONDS):
                await process_groups.ended(process)
                break
    process_groups.kill(process)


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Of each response."""

    def __init__(self, *, exceeded: Callable[[], None]) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._exceeded = exceeded

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").casefold() != "identity":
            await response.aclose()
            raise httpx2.ReadError("The response is compressed, which was not asked for.")
        stream = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = _CountedStream(stream, self._exceeded)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _CountedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, exceeded: Callable[[], None]) -> None:
        self._inner = inner
        self._exceeded = exceeded

    async def __aiter__(self) -> AsyncIterator[bytes]:
        traffic = Traffic()
        async for block in self._inner:
            try:
                traffic.take(block)
            except TooMuchSent as error:
                self._exceeded()
                raise httpx2.ReadError("The response is too large.") from error
            yield block

    async def aclose(self) -> None:
        await self._inner.aclose()
