"""The newest text wins, and the final one always arrives."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot import rendering
from bot.port import Reply
from bot.streaming.message_stream import MessageStream, WriteDeadlines
from bot.streaming.rate_limiter import RateLimiter
from rag_engine.research.findings import PlanStep
from rag_engine.types import Answer, Delta, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from bot.port import Outlet, Write
    from bot.streaming.message_stream import Render
    from rag_engine.types import AnswerEvent

__all__ = ["MessageStream", "Scheduler", "relay"]

_DEADLINES: Final = WriteDeadlines()


class Scheduler:
    """One per process, with shared rate limits."""

    def __init__(self, *, render: Render = rendering.pages, deadlines: WriteDeadlines = _DEADLINES) -> None:
        self._render = render
        self._deadlines = deadlines
        self._limiter = RateLimiter()
        self._rendering = asyncio.Lock()

    def open(
        self,
        outlet: Outlet,
        *,
        posted: Sequence[str] = (),
        links: frozenset[str] | None = frozenset(),
        on_posted: Callable[[tuple[str, ...]], Awaitable[None]] | None = None,
        on_stopped: Callable[[], object] | None = None,
        on_write: Callable[[Write], object] | None = None,
    ) -> MessageStream:
        """`posted`: the outlet's existing messages; `links`: permitted in replies that name none. `on_posted` is
        awaited with all ids after each new part, before the next write; `on_stopped` is called by the platform's stop
        button, `on_write` after each write.
        """
        return MessageStream(
            self._limiter,
            outlet,
            render=self._render,
            deadlines=self._deadlines,
            rendering=self._rendering,
            posted=posted,
            links=links,
            on_posted=on_posted,
            on_stopped=on_stopped,
            on_write=on_write,
        )

    async def withdraw(self, outlet: Outlet, messages: Sequence[str]) -> None:
        async with self.open(outlet, posted=messages) as stream:
            await stream.withdraw()


def _plain(text: str) -> Reply:
    return Reply(text=text)


async def relay(
    events: AsyncIterator[AnswerEvent],
    stream: MessageStream,
    *,
    final: Callable[[Answer], Reply] = rendering.final,
    growing: Callable[[str], Reply] = _plain,
) -> Answer | None:
    """None if the events ended without an answer. Raises what they and `MessageStream.finish` raise."""
    text: list[str] = []
    status, steps = "", tuple[PlanStep, ...]()
    answer: Answer | None = None

    def grown() -> Reply:
        text[:] = ["".join(text)]
        return replace(growing(text[0]), status=status, steps=steps)

    async for event in events:
        if isinstance(event, Stage) and not text:
            status, steps = event.detail, event.steps or steps
            stream.show(replace(growing(""), status=status, steps=steps))
        elif isinstance(event, Delta) and event.text:
            text.append(event.text)
            stream.show(grown)
        elif isinstance(event, Answer):
            answer = event
    if answer is not None:
        await stream.finish(final(answer))
    return answer
