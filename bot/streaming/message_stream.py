from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

from bot.port import Gone, Stopped, Throttled, Unreachable, Write, WriteRefused
from bot.streaming.page_changes import ShownPages
from bot.streaming.rate_limiter import Urgency

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from types import TracebackType

    from bot.port import ChatError, Outlet, Page, PlatformLimits, Reply
    from bot.streaming.page_changes import Change
    from bot.streaming.rate_limiter import Needs, RateLimiter, WriteRequest

_LOG = logging.getLogger(__name__)


class Render(Protocol):
    def __call__(self, reply: Reply, limits: PlatformLimits, *, final: bool) -> list[Page]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDeadlines:
    """Seconds: the final write, one call, waits between retries."""

    final: float = 300.0
    call: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 30.0


@dataclass(slots=True, kw_only=True)
class _Ending:
    reply: Reply | None
    done: asyncio.Future[tuple[str, ...]]


class MessageStream:
    """One call at a time. A context manager from `Scheduler.open`."""

    def __init__(
        self,
        limiter: RateLimiter,
        outlet: Outlet,
        *,
        render: Render,
        deadlines: WriteDeadlines,
        rendering: asyncio.Lock,
        posted: Sequence[str] = (),
        links: frozenset[str] | None = None,
        on_posted: Callable[[tuple[str, ...]], Awaitable[None]] | None = None,
        on_stopped: Callable[[], object] | None = None,
        on_write: Callable[[Write], object] | None = None,
    ) -> None:
        self._limiter = limiter
        self._outlet = outlet
        self._render = render
        self._deadlines = deadlines
        self._rendering = rendering
        self._links = links
        self._on_posted = on_posted
        self._on_stopped = on_stopped
        self._on_write = on_write
        self._shown = ShownPages(outlet, limiter, now=self._now, posted=posted)
        self._needs: Needs | None = None
        self._latest: Callable[[], Reply] | None = None
        self._wants_text = False
        self._next_change: Change | None = None
        self._ending: _Ending | None = None
        self._closed = False
        self._only_final = False
        self._gone = False
        self._wait, self._not_before, self._wrote_at = deadlines.first_wait, 0.0, 0.0
        self._request: WriteRequest | None = None
        self._awake, self._leaving = asyncio.Event(), False
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._run(), name="message-writer")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A running call may finish."""
        self._leaving = True
        if self._ending is not None:
            self._ending.done.cancel()
        self._interrupt()
        self._limiter.leave(self)
        if self._writer is None:
            return
        try:
            await asyncio.wait({self._writer}, timeout=self._deadlines.call)
        finally:
            self._writer.cancel()
        await asyncio.wait({self._writer})
        self._log_writer_error()

    @property
    def messages(self) -> tuple[str, ...]:
        return self._shown.messages

    def show(self, reply: Reply | Callable[[], Reply]) -> None:
        """Gives way to a newer reply. A function is called at the write. No effect after the final reply."""
        text = callable(reply) or bool(reply.text)
        first = text and not self._wants_text
        self._wants_text = text
        self._latest = reply if callable(reply) else lambda: reply
        if first and not self._shown.has_text:
            self._cancel_request()
        self._awake.set()

    async def finish(self, reply: Reply) -> tuple[str, ...]:
        """Retries; returns all message ids.

        Raises `WriteRefused`, or `Throttled` or `Unreachable` after `WriteDeadlines.final`. Then another reply may be
        finished.
        """
        return await self._end_with(reply)

    async def withdraw(self) -> None:
        """The last message first. Failures are logged."""
        await self._end_with(None)

    async def _end_with(self, reply: Reply | None) -> tuple[str, ...]:
        ending = _Ending(reply=reply, done=asyncio.get_running_loop().create_future())
        self._ending = ending
        writer = self._running_writer()
        self._interrupt()
        try:
            await asyncio.wait({ending.done, writer}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done.done():
                self._writer = None
                writer.result()
            return ending.done.result()
        finally:
            ending.done.cancel()
            if self._ending is ending:
                self._ending = None
                self._cancel_request()

    def _running_writer(self) -> asyncio.Task[None]:
        if self._writer is None or self._writer.done():
            self._log_writer_error()
            self._writer = asyncio.create_task(self._run(), name="message-writer")
        return self._writer

    def _log_writer_error(self) -> None:
        if self._writer is not None and self._writer.done() and not self._writer.cancelled():
            error = self._writer.exception()
            if error is not None:
                _LOG.error("a message could not be written", exc_info=error)

    async def _run(self) -> None:
        while not self._leaving:
            await self._awake.wait()
            self._awake.clear()
            if self._ending is not None:
                await self._end(self._ending)
            elif self._latest is not None and not (self._only_final or self._closed):
                await self._grow()

    def _interrupt(self) -> None:
        self._cancel_request()
        self._awake.set()

    def _cancel_request(self) -> None:
        if self._request is not None and self._request.waits:
            self._request.withdraw()
            self._awake.set()

    async def _grow(self) -> None:
        request = self._request_write(
            self._next_change or self._shown.expected(text=self._wants_text), not_before=self._not_before
        )
        self._next_change = None
        try:
            if not await request.granted():
                return
            latest, pages = await self._render_latest()
            if latest is None:
                return
            changes = self._shown.growing_changes(pages, text=self._wants_text)
            if changes and set(changes[0].budgets) != set(request.budgets):
                self._next_change = changes[0]
                self._awake.set()
                return
            if changes and not await self._try_to_write(changes[0], request):
                return
            self._next_change = changes[1] if len(changes) > 1 else None
            if self._next_change is None and self._latest is latest:
                self._latest = None
            self._awake.set()
        finally:
            request.unused()

    async def _try_to_write(self, change: Change, request: WriteRequest) -> bool:
        self._awake.set()
        try:
            await self._write(change, request)
        except Throttled:
            return False
        except Unreachable:
            self._not_before = self._now() + self._wait
            self._wait = min(self._wait * 2, self._deadlines.longest_wait)
            return False
        except Gone:
            self._only_final = True
            return False
        except Stopped:
            self._only_final = True
            if self._on_stopped is not None:
                self._on_stopped()
            return False
        except WriteRefused:
            self._only_final = not self._shown.refused(change)
            return False
        self._wait = self._deadlines.first_wait
        return True

    async def _end(self, ending: _Ending) -> None:
        try:
            await self._write_all(ending)
        except Gone:
            self._gone = True
        except (WriteRefused, Throttled, Unreachable) as error:
            if not ending.done.done():
                ending.done.set_exception(error)
            return
        if not ending.done.done():
            self._close()
            ending.done.set_result(self.messages)

    async def _write_all(self, ending: _Ending) -> None:
        async with self._rendering:
            pages = [] if ending.reply is None else self._pages(ending.reply, final=True)
            await asyncio.sleep(0)
        wait, not_before, until = self._deadlines.first_wait, 0.0, float("inf")
        since = self._now()
        first_written = False
        while not ending.done.done() and (changes := self._final_changes(pages, first_written=first_written)):
            change = changes[0]
            request = self._request_write(change, not_before=not_before, since=since)
            try:
                if not await request.granted() or self._shown.is_outdated(change):
                    continue
                await self._write(change, request)
            except (Throttled, Unreachable) as error:
                if until == float("inf"):
                    _LOG.warning("a message is written again: %s", error)
                until = min(until, self._now() + self._deadlines.final)
                if self._now() < until:
                    if isinstance(error, Unreachable):
                        not_before, wait = self._now() + wait, min(wait * 2, self._deadlines.longest_wait)
                    continue
                self._skip_or_raise(change, error, ending)
            except WriteRefused as error:
                if self._shown.refused(change):
                    continue
                self._skip_or_raise(change, error, ending)
            except Gone as error:
                self._skip_or_raise(change, error, ending)
            else:
                first_written = first_written or change.part == 0
            finally:
                request.unused()
            wait, not_before, until = self._deadlines.first_wait, 0.0, float("inf")

    def _skip_or_raise(self, change: Change, error: ChatError, ending: _Ending) -> None:
        if ending.reply is not None:
            raise error
        if not isinstance(error, Gone):
            _LOG.warning("a message could not be deleted: %s", error)
        self._shown.written(change, "", began=self._now())

    def _final_changes(self, pages: Sequence[Page], *, first_written: bool) -> list[Change]:
        return [] if self._gone else self._shown.final_changes(pages, first_written=first_written)

    async def _write(self, change: Change, request: WriteRequest) -> None:
        began = self._now()
        write = Write(part=change.part, page=change.page, route=change.route.name, final=change.final)
        try:
            async with asyncio.timeout(self._deadlines.call):
                message = await self._outlet.write(write)
        except Throttled as error:
            request.throttled(error.seconds)
            raise
        except TimeoutError as error:
            raise Unreachable("A call to the platform took too long.") from error
        finally:
            request.ended()
        if self._on_write is not None:
            self._on_write(write)
        self._wrote_at = began
        self._shown.written(change, message, began=began)
        self._reserve()
        if change.creates and self._on_posted is not None:
            await self._on_posted(self.messages)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _render_latest(self) -> tuple[Callable[[], Reply] | None, list[Page]]:
        async with self._rendering:
            latest = self._latest
            pages = [] if latest is None else self._pages(latest(), final=False)
            await asyncio.sleep(0)
        return latest, pages

    def _pages(self, reply: Reply, *, final: bool) -> list[Page]:
        if reply.links is None and self._links is not None:
            reply = replace(reply, links=self._links)
        return self._render(reply, self._outlet.limits, final=final)

    def _request_write(
        self, change: Change, *, not_before: float, since: float | None = None
    ) -> WriteRequest:
        self._reserve()
        self._request = self._limiter.request(
            change.budgets,
            urgency=change.urgency,
            since=self._wrote_at if change.urgency == Urgency.GROW else since,
            rest=self._outlet.limits.edit_seconds,
            not_before=not_before,
        )
        return self._request

    def _reserve(self) -> None:
        needs = self._shown.needs
        if needs is not None and needs != self._needs and not (self._closed or self._leaving):
            self._needs = needs
            self._limiter.join(self, needs)

    def _close(self) -> None:
        self._closed = True
        self._limiter.leave(self)
