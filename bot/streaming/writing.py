"""Writing: one answer of ours on a platform, its messages kept as the newest reply wants them."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

from bot.port import Gone, Refused, Stopped, Throttled, Unreachable, Write
from bot.streaming.changes import Shown
from bot.streaming.pacing import Urgency

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from types import TracebackType

    from bot.port import ChatError, Limits, Outlet, Page, Reply
    from bot.streaming.changes import Change
    from bot.streaming.pacing import Ask, Needs, Pacer

_LOG = logging.getLogger(__name__)


class Render(Protocol):
    """`bot.rendering.pages`."""

    def __call__(self, reply: Reply, limits: Limits, *, final: bool) -> list[Page]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds: how long the last word is tried when it does not go through, and how long one call may take."""

    final: float = 300.0
    call: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 30.0


@dataclass(slots=True, kw_only=True)
class _Ending:
    """The last word on its way, or the end of the messages where there is no reply."""

    reply: Reply | None
    done: asyncio.Future[tuple[str, ...]]


class MessageStream:
    """One answer of ours: its messages on the platform, one call at a time. `async with` it; made by `Scheduler.open`."""

    def __init__(
        self,
        pacer: Pacer,
        outlet: Outlet,
        *,
        render: Render,
        patience: Patience,
        rendering: asyncio.Lock,
        posted: Sequence[str] = (),
        links: frozenset[str] | None = None,
        on_posted: Callable[[tuple[str, ...]], Awaitable[None]] | None = None,
        on_stopped: Callable[[], object] | None = None,
    ) -> None:
        self._pacer = pacer
        self._outlet = outlet
        self._render = render
        self._patience = patience
        self._rendering = rendering
        self._links = links
        self._on_posted = on_posted
        self._on_stopped = on_stopped
        self._shown = Shown(outlet, pacer, now=self._now, posted=posted)
        self._needs: Needs | None = None
        self._wanted: Callable[[], Reply] | None = None
        self._wants_text = False
        self._due: Change | None = None
        """What the last rendering has left to do."""
        self._ending: _Ending | None = None
        self._closed = False
        """The last word is written, or never will be."""
        self._silent = False
        """Nothing but the last word is written any more."""
        self._gone = False
        self._wrote_at = 0.0
        self._wait = patience.first_wait
        self._not_before = 0.0
        self._asked: Ask | None = None
        self._awake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._leaving = False

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._run(), name="message-writer")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the writing: what is in flight may arrive, what waits is dropped."""
        self._leaving = True
        if self._ending is not None:
            self._ending.done.cancel()
        self._interrupt()
        self._pacer.leave(self)
        if self._writer is None:
            return
        try:
            await asyncio.wait({self._writer}, timeout=self._patience.call)
        finally:
            self._writer.cancel()
        await asyncio.wait({self._writer})
        self._mourn()

    @property
    def messages(self) -> tuple[str, ...]:
        """The platform's ids of the messages that exist, in order."""
        return self._shown.messages

    def want(self, reply: Reply | Callable[[], Reply]) -> None:
        """Show this as soon as there is room for it, unless something newer comes first.

        One that is called makes its reply, which has text, when it is written. After the last word, nothing is shown.
        """
        text = callable(reply) or bool(reply.text)
        first = text and not self._wants_text
        self._wants_text = text
        self._wanted = reply if callable(reply) else lambda: reply
        if first and not self._shown.has_text:
            self._withdraw()  # it waited as a change of status would
        self._awake.set()

    async def finish(self, reply: Reply) -> tuple[str, ...]:
        """Write the last word, however often it takes; the ids of all messages.

        Raises `Refused` when the platform will not have it, and `Throttled` or `Unreachable` when it did not take it in all
        the time of `Patience`; then, and after being cancelled, it can be finished with another reply.
        """
        return await self._ended_by(reply)

    async def withdraw(self) -> None:
        """Take all messages away, the last one first. What the platform will not take away stays, and the log says so."""
        await self._ended_by(None)

    async def _ended_by(self, reply: Reply | None) -> tuple[str, ...]:
        ending = _Ending(reply=reply, done=asyncio.get_running_loop().create_future())
        self._ending = ending
        writer = self._revived()
        self._interrupt()
        try:
            await asyncio.wait({ending.done, writer}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done.done():
                self._writer = None
                writer.result()  # raises what it stumbled over
            return ending.done.result()
        finally:
            ending.done.cancel()
            if self._ending is ending:
                self._ending = None
                self._withdraw()

    # --- the writer

    def _revived(self) -> asyncio.Task[None]:
        """The writer; a new one where it stumbled."""
        if self._writer is None or self._writer.done():
            self._mourn()
            self._writer = asyncio.create_task(self._run(), name="message-writer")
        return self._writer

    def _mourn(self) -> None:
        """Log what the writer stumbled over while the text grew: the last word says nothing of it."""
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
            elif self._wanted is not None and not (self._silent or self._closed):
                await self._grow()

    def _interrupt(self) -> None:
        self._withdraw()
        self._awake.set()

    def _withdraw(self) -> None:
        if self._asked is not None and self._asked.waits:
            self._asked.withdraw()
            self._awake.set()

    async def _grow(self) -> None:
        """One write of what is wanted now, at most."""
        ask = self._ask(self._due or self._shown.expected(text=self._wants_text), not_before=self._not_before)
        self._due = None
        try:
            if not await ask.granted():
                return
            made, pages = await self._newest()
            if made is None:
                return
            changes = self._shown.growing(pages, text=self._wants_text)
            if changes and set(changes[0].budgets) != set(ask.budgets):
                self._due = changes[0]
                self._awake.set()
                return
            if changes and not await self._tried(changes[0], ask):
                return
            self._due = changes[1] if len(changes) > 1 else None
            if self._due is None and self._wanted is made:
                self._wanted = None
            self._awake.set()
        finally:
            ask.unused()

    async def _tried(self, change: Change, ask: Ask) -> bool:
        """Whether the write was done; what is to be done next, where it was not, is arranged."""
        self._awake.set()
        try:
            await self._write(change, ask)
        except Throttled:
            return False  # the budget is closed for as long as the platform said
        except Unreachable:
            self._not_before = self._now() + self._wait
            self._wait = min(self._wait * 2, self._patience.longest_wait)
            return False
        except Gone:
            self._silent = True  # the last word makes sure: it may have been only for a moment
            return False
        except Stopped:
            self._silent = True
            if self._on_stopped is not None:
                self._on_stopped()
            return False
        except Refused:
            self._silent = not self._shown.refused(change)
            return False
        self._wait = self._patience.first_wait
        return True

    async def _end(self, ending: _Ending) -> None:
        """The last word, or why there is none."""
        try:
            await self._write_all(ending)
        except Gone:
            self._gone = True
        except (Refused, Throttled, Unreachable) as error:
            if not ending.done.done():
                ending.done.set_exception(error)
            return
        if not ending.done.done():
            self._give_up()
            ending.done.set_result(self.messages)

    async def _write_all(self, ending: _Ending) -> None:
        async with self._rendering:
            pages = [] if ending.reply is None else self._pages(ending.reply, final=True)
            await asyncio.sleep(0)
        wait, not_before, until = self._patience.first_wait, 0.0, float("inf")
        since = self._now()  # who was turned away does not queue behind those who came later
        first_written = False
        while not ending.done.done() and (changes := self._last(pages, first_written=first_written)):
            change = changes[0]
            ask = self._ask(change, not_before=not_before, since=since)
            try:
                if not await ask.granted() or self._shown.otherwise(change):
                    continue
                await self._write(change, ask)
            except (Throttled, Unreachable) as error:
                until = min(until, self._now() + self._patience.final)
                if self._now() < until:
                    if isinstance(error, Unreachable):
                        not_before, wait = self._now() + wait, min(wait * 2, self._patience.longest_wait)
                    continue
                self._pass_over(change, error, ending)
            except Refused as error:
                if self._shown.refused(change):
                    continue
                self._pass_over(change, error, ending)
            except Gone as error:
                self._pass_over(change, error, ending)
            else:
                first_written = first_written or change.part == 0
            finally:
                ask.unused()
            wait, not_before, until = self._patience.first_wait, 0.0, float("inf")

    def _pass_over(self, change: Change, error: ChatError, ending: _Ending) -> None:
        """Raise the error; where all messages are to go, this one stays, and the others still go."""
        if ending.reply is not None:
            raise error
        if not isinstance(error, Gone):
            _LOG.warning("a message of ours could not be taken away: %s", error)
        self._shown.written(change, "", began=self._now())

    def _last(self, pages: Sequence[Page], *, first_written: bool) -> list[Change]:
        return [] if self._gone else self._shown.last(pages, first_written=first_written)

    async def _write(self, change: Change, ask: Ask) -> None:
        began = self._now()
        write = Write(part=change.part, page=change.page, route=change.route.name, final=change.final)
        try:
            async with asyncio.timeout(self._patience.call):
                message = await self._outlet.write(write)
        except Throttled as error:
            ask.throttled(error.seconds)
            raise
        except TimeoutError as error:
            raise Unreachable("A call to the platform took too long.") from error
        finally:
            ask.ended()
        self._wrote_at = began
        self._shown.written(change, message, began=began)
        self._join()
        if change.creates and self._on_posted is not None:
            await self._on_posted(self.messages)

    # --- inside

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _newest(self) -> tuple[Callable[[], Reply] | None, list[Page]]:
        """What is wanted now, and its pages. No two are made without the event loop having its turn between them."""
        async with self._rendering:
            made = self._wanted
            pages = [] if made is None else self._pages(made(), final=False)
            await asyncio.sleep(0)
        return made, pages

    def _pages(self, reply: Reply, *, final: bool) -> list[Page]:
        if reply.links is None and self._links is not None:
            reply = replace(reply, links=self._links)
        return self._render(reply, self._outlet.limits, final=final)

    def _ask(self, change: Change, *, not_before: float, since: float | None = None) -> Ask:
        self._join()
        self._asked = self._pacer.ask(
            change.budgets,
            urgency=change.urgency,
            since=self._wrote_at if change.urgency == Urgency.GROW else since,
            rest=self._outlet.limits.edit_seconds,
            not_before=not_before,
        )
        return self._asked

    def _join(self) -> None:
        """Tell the pacer what the answer will need: its final writes are held for it."""
        needs = self._shown.needs
        if needs is not None and needs != self._needs and not (self._closed or self._leaving):
            self._needs = needs
            self._pacer.join(self, needs)

    def _give_up(self) -> None:
        """Nothing more is written of its own accord, and nothing is held for it."""
        self._closed = True
        self._pacer.leave(self)
