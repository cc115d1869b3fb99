"""What the doubles of Slack and Discord have in common: a real server on loopback with a log of calls, faults on demand, windows of
calls that answer "too many", what people see, and a way of waiting for something to happen without sleeping."""

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
"""Where a platform notes its own word for what it refused."""
Seen = TypeVar("Seen")


# --- what was called ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Call:
    """One call as it arrived. `status` is 0 while it runs and when its answer was lost; `error` is the platform's own word."""

    method: str
    arguments: Mapping[str, object]
    at: float
    status: int = 0
    error: str = ""
    answered: float = 0.0


@dataclass(slots=True, kw_only=True)
class Fault:
    """What happens to a call instead of, or on top of, doing it."""

    status: int = 0
    """Answer this instead (429, 502, ...); 0: the call is done and answered as ever, once `hold` is over."""
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    applied: bool = False
    """The call is done although it is answered by a fault."""
    lost: bool = False
    """The connection is cut in place of an answer."""
    delay: float = 0.0
    hold: asyncio.Event | None = None
    """Nothing is answered before this is set: slow when somebody sets it, silent when nobody does."""
    withheld: asyncio.Event | None = None
    """The call is done, and its answer comes only once this is set."""
    when: Callable[[Mapping[str, object]], bool] | None = None
    times: int = 1


# --- what people see ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What a message showed from `at` (seconds of `ChatServer.now`) on."""

    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownButton:
    """`action` is the platform's own id of it; `style` as the platform names it."""

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
    """A message as a person sees it: `text` is all of its words in reading order, in the platform's Markdown."""

    id: str
    channel: str
    author: str
    """The id of whoever wrote it."""
    name: str
    """The name that is shown for them."""
    text: str
    buttons: tuple[ShownButton, ...] = ()
    files: tuple[ShownFile, ...] = ()
    thread: str = ""
    """The id of the thread that it stands in."""
    replies: int = 0
    """How many messages the thread under it has."""
    replies_in: str = ""
    """The id of the thread under it, when there is one."""
    only_for: str = ""
    """The only person who sees it."""
    ours: bool = False
    """It was written by the bot that is tested."""
    edited: bool = False
    streaming: bool = False
    texts: tuple[Text, ...] = ()
    """All that it ever showed, oldest first, `text` included."""
    tasks: tuple[str, ...] = ()
    """Steps that stand beside the text, where the platform has such."""
    statuses: tuple[Text, ...] = ()
    """All that these steps ever said."""

    def button(self, label: str) -> ShownButton:
        """The button with that label or action, or one whose label begins so."""
        for button in self.buttons:
            if label in (button.label, button.action) or button.label.startswith(label):
                return button
        raise LookupError(f"{label!r} is not among {[button.label for button in self.buttons]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Somebody, or everybody, was told about a message: `target` is the mention as it stood in the text."""

    target: str
    text: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A text that leads somewhere when it is clicked. The label is empty for an address that stands by itself."""

    url: str
    label: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that a person drops into a message."""

    name: str
    content: bytes
    media_type: str = ""
    """Guessed from the name when it is empty."""


# --- how often -----------------------------------------------------------------------------------------------------------


class Windows:
    """Sliding windows: at most so many calls in any so many seconds, by key. A call that is refused does not count."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.violations: list[tuple[str, ...]] = []
        self._now = now
        self._calls: dict[tuple[str, ...], deque[float]] = defaultdict(deque)

    def take(self, key: tuple[str, ...], calls: int, seconds: float) -> float:
        """Count a call; 0 when it may be done, else the seconds until it may."""
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
    """A server on 127.0.0.1. A platform adds its routes in `routes` and passes each call through `answer`."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.pings: list[Ping] = []
        self.links: list[Link] = []
        self.base_url = ""
        self.version = 0
        """Grows with everything that happens."""
        self.windows = Windows(self.now)
        self._ahead = 0.0
        self._faults: dict[str, list[Fault]] = defaultdict(list)
        self._waiting: list[tuple[Callable[[], object], asyncio.Future[None]]] = []
        self._closing = asyncio.Event()

    # what a platform adds

    def routes(self) -> Iterable[web.RouteDef]:
        """All routes."""
        return ()

    def refusal(self, fault: Fault) -> web.Response:
        """The answer to a call that is to fail, as the platform words it."""
        headers = dict(fault.headers)
        if fault.retry_after is not None:
            headers.setdefault("Retry-After", f"{fault.retry_after:g}")
        return web.Response(status=fault.status, headers=headers, body=fault.body or b"")

    async def close(self) -> None:
        """End what the platform holds open."""

    # time

    def now(self) -> float:
        """Monotonic seconds; the clock of everything that the platform itself counts or lets expire."""
        return time.monotonic() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let the platform's own clock jump: windows empty themselves, tokens and streams expire."""
        self._ahead += seconds
        self.changed()

    # waiting

    def changed(self) -> None:
        """Something happened: whoever waits for it goes on."""
        self.version += 1
        for predicate, future in list(self._waiting):
            if not future.done() and predicate():
                future.set_result(None)

    async def wait_for(self, predicate: Callable[[], Seen], seconds: float = TIMEOUT) -> Seen:
        """What the predicate gives, as soon as that is true; `TimeoutError` when it does not become so."""
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

    # faults

    def fail(self, method: str, **fault: Any) -> Fault:
        """The next call of the method (or `times` of them, -1 for all) meets this fault; see `Fault` for what there is."""
        made = Fault(**fault)
        self._faults[method].append(made)
        return made

    def silence(self, method: str, *, times: int = 1) -> asyncio.Event:
        """The next calls of the method are not answered before the event that is returned is set."""
        hold = asyncio.Event()
        self.fail(method, hold=hold, times=times)
        return hold

    def mend(self, method: str = "") -> None:
        """No more faults, of one method or of all."""
        for name in [method] if method else list(self._faults):
            self._faults[name].clear()

    def unspent(self) -> list[str]:
        """Methods with a fault that no call has met yet."""
        return [name for name, faults in self._faults.items() if any(fault.times > 0 for fault in faults)]

    def _fault(self, method: str, arguments: Mapping[str, object]) -> Fault | None:
        for fault in self._faults[method]:
            if fault.times and (fault.when is None or fault.when(arguments)):
                fault.times -= 1
                return fault
        return None

    # calls

    async def answer(
        self, request: web.Request, method: str, arguments: Mapping[str, object], apply: Apply
    ) -> web.StreamResponse:
        """Log the call and do it, or what a fault says instead."""
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
        """Wait until it is let go, or the server closes."""
        waits = [asyncio.ensure_future(event.wait()) for event in (hold, self._closing)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    # life

    @classmethod
    @asynccontextmanager
    async def serving(cls, port: int = 0, **options: Any) -> AsyncGenerator[Self]:
        """The server on loopback while the context is open."""
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
