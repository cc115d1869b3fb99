"""What the doubles of Slack and Discord share: a server on loopback, a log of calls, faults, rate windows, what people see, and waiting
without sleeping."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping

    Apply = Callable[[], Awaitable[web.StreamResponse]]

TIMEOUT = 10.0
ERROR: web.ResponseKey[str] = web.ResponseKey("error", str)
"""Where a platform notes its error code."""
Seen = TypeVar("Seen")


# --- what was called ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Call:
    """One call. `status` is 0 while it runs and if its response was lost; `error` is the platform's code."""

    method: str
    arguments: Mapping[str, object]
    at: float
    status: int = 0
    error: str = ""
    answered: float = 0.0


@dataclass(slots=True, kw_only=True)
class Fault:
    """What happens to a call instead of, or in addition to, doing it."""

    status: int = 0
    """The status to answer; 0: do the call and answer normally, after `hold`."""
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    applied: bool = False
    """The call takes effect although a fault is answered."""
    lost: bool = False
    """Cut the connection instead of answering."""
    delay: float = 0.0
    hold: asyncio.Event | None = None
    """Answer nothing until this is set."""
    withheld: asyncio.Event | None = None
    """Do the call, but answer only after this is set."""
    when: Callable[[Mapping[str, object]], bool] | None = None
    times: int = 1


# --- what people see ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What a message showed from `at` on (seconds of `ChatServer.now`)."""

    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownButton:
    """`action` is the platform's id; `style` its name for it."""

    label: str
    action: str
    style: str = ""
    value: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    name: str
    media_type: str
    size: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as a person sees it; `text` is all of its words, in the platform's Markdown."""

    id: str
    channel: str
    author: str
    """The id of the author."""
    name: str
    """The author's shown name."""
    text: str
    buttons: tuple[ShownButton, ...] = ()
    files: tuple[ShownFile, ...] = ()
    thread: str = ""
    """The thread that it is in."""
    replies: int = 0
    """The number of replies in its thread."""
    replies_in: str = ""
    """The id of its thread, if it has one."""
    only_for: str = ""
    """The only person who sees it."""
    ours: bool = False
    """The bot under test wrote it."""
    edited: bool = False
    streaming: bool = False
    texts: tuple[Text, ...] = ()
    """All versions, oldest first, with the current one."""
    tasks: tuple[str, ...] = ()
    """Steps beside the text, if the platform has such."""
    statuses: tuple[Text, ...] = ()
    """All versions of the steps."""

    def button(self, label: str) -> ShownButton:
        """The button with that label, start of a label, or action."""
        for button in self.buttons:
            if label in (button.label, button.action) or button.label.startswith(label):
                return button
        raise LookupError(f"{label!r} is not among {[button.label for button in self.buttons]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """A mention that notifies somebody; `target` is as in the text."""

    target: str
    text: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A clickable text; the label is empty for a bare address."""

    url: str
    label: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that a person drops."""

    name: str
    content: bytes
    media_type: str = ""
    """Guessed from the name if empty."""
    voice: bool = False
    """Recorded in the client, as a clip."""


# --- how often -----------------------------------------------------------------------------------------------------------


class Windows:
    """Sliding windows per key; refused calls do not count."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.violations: list[tuple[str, ...]] = []
        self._now = now
        self._calls: dict[tuple[str, ...], deque[float]] = defaultdict(deque)

    def take(self, key: tuple[str, ...], calls: int, seconds: float) -> float:
        """Count a call; 0 if it is allowed, else the seconds to wait."""
        now = self._now()
        taken = self._calls[key]
        while taken and taken[0] <= now - seconds:
            taken.popleft()
        if len(taken) >= calls:
            self.violations.append(key)
            return max(taken[0] + seconds - now, 0.001)
        taken.append(now)
        return 0.0

    def used(self, key: tuple[str, ...]) -> int:
        return len(self._calls[key])


# --- the server ----------------------------------------------------------------------------------------------------------


class ChatServer:
    """A server on 127.0.0.1. Platforms define `routes` and pass each call through `answer`."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.pings: list[Ping] = []
        self.links: list[Link] = []
        self.base_url = ""
        self.version = 0
        """Grows with every event."""
        self.windows = Windows(self.now)
        self._ahead = 0.0
        self._faults: dict[str, list[Fault]] = defaultdict(list)
        self._waiting: list[tuple[Callable[[], object], asyncio.Future[None]]] = []
        self._closing = asyncio.Event()

    def routes(self) -> Iterable[web.RouteDef]:
        return ()

    def refusal(self, fault: Fault) -> web.Response:
        """The platform's response to a failing call."""
        headers = dict(fault.headers)
        if fault.retry_after is not None:
            headers.setdefault("Retry-After", f"{fault.retry_after:g}")
        return web.Response(status=fault.status, headers=headers, body=fault.body or b"")

    async def close(self) -> None:
        """Close the platform's connections."""

    def now(self) -> float:
        """The platform's clock, in monotonic seconds."""
        return time.monotonic() + self._ahead

    def advance(self, seconds: float) -> None:
        """Move the platform's clock: windows empty, tokens and streams expire."""
        self._ahead += seconds
        self.changed()

    def changed(self) -> None:
        """Wake everybody who waits."""
        self.version += 1
        for predicate, future in list(self._waiting):
            if not future.done() and predicate():
                future.set_result(None)

    async def wait_for(self, predicate: Callable[[], Seen], seconds: float = TIMEOUT) -> Seen:
        """The first true result of the predicate. Raises `TimeoutError`."""
        if not predicate():
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            entry = (predicate, future)
            self._waiting.append(entry)
            try:
                async with asyncio.timeout(seconds):
                    await future
            finally:
                self._waiting.remove(entry)
        return predicate()

    def calls_of(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def fail(self, method: str, **fault: Any) -> Fault:
        """The next `times` calls of the method (-1: all) meet this fault."""
        made = Fault(**fault)
        self._faults[method].append(made)
        return made

    def silence(self, method: str, *, times: int = 1) -> asyncio.Event:
        """The next calls of the method wait for the returned event."""
        hold = asyncio.Event()
        self.fail(method, hold=hold, times=times)
        return hold

    def repair(self, method: str = "") -> None:
        """Remove the faults of one method or of all."""
        for name in [method] if method else list(self._faults):
            self._faults[name].clear()

    def unspent(self) -> list[str]:
        """Methods with faults that no call has met yet."""
        return [name for name, faults in self._faults.items() if any(fault.times > 0 for fault in faults)]

    def _fault(self, method: str, arguments: Mapping[str, object]) -> Fault | None:
        for fault in self._faults[method]:
            if fault.times and (fault.when is None or fault.when(arguments)):
                fault.times -= 1
                return fault
        return None

    async def answer(
        self, request: web.Request, method: str, arguments: Mapping[str, object], apply: Apply
    ) -> web.StreamResponse:
        """Log the call and do it, or apply a fault."""
        call = Call(method=method, arguments=arguments, at=self.now())
        self.calls.append(call)
        self.changed()
        fault = self._fault(method, arguments)
        if fault is None:
            response = await apply()
        else:
            response = await self._faulty(request, fault, apply)
        if not (fault and fault.lost):
            call.status = response.status
            call.error = response.get(ERROR, "")
        call.answered = self.now()
        self.changed()
        return response

    async def _faulty(self, request: web.Request, fault: Fault, apply: Apply) -> web.StreamResponse:
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.hold is not None:
            await self._held(fault.hold)
        done = await apply() if fault.applied or not (fault.status or fault.lost) else None
        if fault.withheld is not None:
            await self._held(fault.withheld)
        if fault.lost:
            if request.transport is not None:
                request.transport.abort()
            return done or web.Response(status=500)
        return self.refusal(fault) if fault.status else done or web.Response(status=500)

    async def _held(self, hold: asyncio.Event) -> None:
        """Wait for release or for the server's end."""
        waits = [asyncio.ensure_future(event.wait()) for event in (hold, self._closing)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    @classmethod
    @asynccontextmanager
    async def serving(cls, port: int = 0, **options: Any) -> AsyncGenerator[Self]:
        server = cls(**options)
        app = web.Application(client_max_size=64 << 20)
        app.add_routes(server.routes())
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            server.base_url = "http://{}:{}".format(*runner.addresses[0][:2])
            yield server
        finally:
            server._closing.set()
            await server.close()
            await runner.cleanup()
