"""A platform in memory that checks what a real one would: budgets as sliding windows, and the rules of each route."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.port import Budget, Page, PlatformLimits, Route, Throttled, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from bot.port import Reply, Write
    from rag_engine.types import AnswerEvent


def budget(name: str, calls: int, seconds: float) -> Budget:
    return Budget(name=(name,), calls=calls, seconds=seconds)


EDITS = budget("edits", 5, 5)
PLAIN = Route(name="plain", create=budget("creates", 5, 5), edit=EDITS, finish=EDITS)
"""As on Discord, in one channel."""

UPDATES = budget("chat.update", 50, 60)
SLACK = (
    Route(
        name="stream",
        create=budget("chat.startStream", 20, 60),
        edit=budget("chat.appendStream", 100, 60),
        finish=budget("chat.stopStream", 20, 60),
        lifetime=240,
        characters=11_000,
        grows=True,
    ),
    Route(name="update", create=budget("chat.postMessage", 60, 60), edit=UPDATES, finish=UPDATES),
)


@dataclass(slots=True)
class Platform:
    """Counts each call when it arrives, which is somewhere between sending and answer."""

    latency: Callable[[], float] = lambda: 0.0
    taken: dict[tuple[str, ...], deque[float]] = field(default_factory=lambda: defaultdict(deque))
    too_many: list[tuple[float, Budget]] = field(default_factory=list)

    async def call(self, *budgets: Budget) -> None:
        await asyncio.sleep(self.latency())
        now = asyncio.get_running_loop().time()
        for one in budgets:
            taken = self.taken[one.name]
            while taken and taken[0] <= now - one.seconds:
                taken.popleft()
            if len(taken) >= one.calls:
                self.too_many.append((now, one))
                raise Throttled(seconds=taken[0] + one.seconds - now)
            taken.append(now)
        await asyncio.sleep(self.latency())


@dataclass(slots=True)
class Message:
    """One of our messages: what it shows, and all it ever showed with the time."""

    id: str
    page: Page
    shown: list[tuple[float, Page]]
    final: bool = False


@dataclass(slots=True)
class CheckedOutlet:
    """An outlet that checks that it is used as `bot.port` says. `faults` are raised by the next calls, one each."""

    platform: Platform = field(default_factory=Platform)
    limits: PlatformLimits = field(default_factory=lambda: PlatformLimits(characters=2000, edit_seconds=1.0))
    routes: tuple[Route, ...] = (PLAIN,)
    faults: deque[Exception | None] = field(default_factory=deque)
    messages: list[Message] = field(default_factory=list)
    deleted: list[Message] = field(default_factory=list)
    writes: list[tuple[float, Write]] = field(default_factory=list)
    open_route: Route | None = None
    began: float = -math.inf
    busy: bool = False
    most_text: int = 0
    """Characters of the longest page that was ever written."""
    hold: asyncio.Event | None = None
    """Calls arrive only once it is set."""
    arriving: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, write: Write) -> str:
        assert not self.busy, "one call at a time"
        self.busy = True
        try:
            self.writes.append((now(), write))
            self.arriving.set()
            if self.hold is not None:
                await self.hold.wait()
            return await self._write(write)
        finally:
            self.busy = False

    async def _write(self, write: Write) -> str:
        (route,) = (route for route in self.routes if route.name == write.route)
        await self.platform.call(*self._costs(write, route))
        fault = self.faults.popleft() if self.faults else None
        if fault is not None:
            raise fault
        if write.page is None:
            assert write.part == len(self.messages) - 1, "the last one goes first"
            self.deleted.append(self.messages.pop())
            return self.deleted[-1].id
        if write.part == 0:
            self._check_route(write.page, route, final=write.final)
        else:
            assert route == self.routes[-1], "other messages take the last route"
        return self._show(write, write.page)

    def _costs(self, write: Write, route: Route) -> list[Budget]:
        if write.part >= len(self.messages):
            assert write.part == len(self.messages), "parts are created in order"
            return [route.create]
        cost = [route.finish if write.final and write.page is not None else route.edit]
        left = self.open_route
        if write.part == 0 and left is not None and left != route and now() - self.began < 300:
            cost.append(left.finish)  # closed first
        return cost

    def _check_route(self, page: Page, route: Route, *, final: bool) -> None:
        if not self.messages:
            self.began = now()
            self.open_route = None if final or route == self.routes[-1] else route
            return
        if route == self.routes[-1]:
            self.open_route = None
            return
        assert self.open_route == route, "a route that is closed cannot be written by"
        if now() - self.began > route.lifetime + 5:
            raise WriteRefused("message_not_in_streaming_state")
        assert len(page.text) + len(page.footer) <= route.characters
        if route.grows:
            shown = self.messages[0].page.text
            assert page.text.startswith(shown), "text can only be added to"
        if final:
            self.open_route = None

    def _show(self, write: Write, page: Page) -> str:
        self.most_text = max(self.most_text, len(page.text) + len(page.footer) + len(page.status))
        if write.part == len(self.messages):
            name = f"m{len(self.messages) + len(self.deleted)}"
            self.messages.append(Message(id=name, page=page, shown=[]))
        message = self.messages[write.part]
        message.page = page
        message.final = write.final
        message.shown.append((now(), page))
        return message.id

    @property
    def text(self) -> str:
        """All that is shown, in order."""
        return "".join(message.page.text for message in self.messages)

    def first_text_at(self) -> float:
        return min(at for message in self.messages for at, page in message.shown if page.text)


SLACK_LIMITS = PlatformLimits(characters=12_000, edit_seconds=1.0)


def slack(platform: Platform | None = None, **more: object) -> CheckedOutlet:
    """An outlet with the routes of Slack."""
    outlet = CheckedOutlet(platform=platform or Platform(), limits=SLACK_LIMITS, routes=SLACK)
    for name, value in more.items():
        setattr(outlet, name, value)
    return outlet


def routes_of(outlet: CheckedOutlet) -> list[str]:
    """The routes that the first message went by, each once in order."""
    return list(dict.fromkeys(write.route for _, write in outlet.writes if write.part == 0))


def pages(reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]:
    """The plainest rendering there is: text cut at the limit, notices under it."""
    room = limits.characters
    parts = [reply.text[start : start + room] for start in range(0, len(reply.text), room)] or [""]
    footer = "\n".join(reply.notices)
    if len(parts[-1]) + len(footer) > room:
        parts.append("")
    shown = [Page(text=part, reply=reply) for part in parts]
    status = "" if reply.text else reply.status
    files = reply.files if final else ()
    shown[-1] = replace(shown[-1], footer=footer, status=status, buttons=reply.buttons, files=files)
    return shown


def now() -> float:
    return asyncio.get_running_loop().time()


async def told(events: Sequence[AnswerEvent | float]) -> AsyncIterator[AnswerEvent]:
    """The events; a number is a pause in seconds."""
    for event in events:
        if isinstance(event, float):
            await asyncio.sleep(event)
        else:
            yield event


def texts(outlet: CheckedOutlet, part: int = 0) -> list[str]:
    return [page.text for _, page in outlet.messages[part].shown if page.text]
