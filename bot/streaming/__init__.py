"""Streaming: the events of many answers become few writes of their messages. The newest text always wins, the last one always arrives.

The scheduler is the only one that writes: each message has one call in flight at most, and all messages share the budgets that
their outlets name (`bot.streaming.pacing`). Text is rendered when a write is granted, not when it comes.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot import rendering
from bot.port import Reply
from bot.streaming.pacing import Pacer
from bot.streaming.writing import MessageStream, Patience
from rag_engine.types import Answer, Delta, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from bot.port import Outlet
    from bot.streaming.writing import Render
    from rag_engine.types import AnswerEvent

__all__ = ["MessageStream", "Scheduler", "relay"]

_PATIENCE: Final = Patience()


class Scheduler:
    """One per process: it owns every budget. `render` makes the pages of a reply."""

    def __init__(self, *, render: Render = rendering.pages, patience: Patience = _PATIENCE) -> None:
        self._render = render
        self._patience = patience
        self._pacer = Pacer()
        self._rendering = asyncio.Lock()

    def open(
        self,
        outlet: Outlet,
        *,
        posted: Sequence[str] = (),
        links: frozenset[str] | None = None,
        on_posted: Callable[[tuple[str, ...]], Awaitable[None]] | None = None,
        on_stopped: Callable[[], object] | None = None,
    ) -> MessageStream:
        """One answer of ours: `async with scheduler.open(outlet) as stream`.

        `posted` are the messages that it has already, the same that the outlet was made with. `links` are the only addresses
        to show as links in replies that do not say so themselves. `on_posted` is awaited with the ids of all parts whenever
        there is a new one, before anything else is written. `on_stopped` is called when a person stops the message by a button
        of the platform's own.
        """
        return MessageStream(
            self._pacer,
            outlet,
            render=self._render,
            patience=self._patience,
            rendering=self._rendering,
            posted=posted,
            links=links,
            on_posted=on_posted,
            on_stopped=on_stopped,
        )

    async def withdraw(self, outlet: Outlet, messages: Sequence[str]) -> None:
        """Take messages of ours away; the outlet was made with them. What the platform will not take away stays."""
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
    """Show the events as one answer: a status until the first text, the text as it grows, then the final reply.

    `growing` makes the reply of the text so far; the status is put in it, for as long as no text can be shown. Returns the answer, or None when the
    events ended without one. Raises what the events raise, and what `MessageStream.finish` does; the stream can then still be
    finished with another reply.
    """
    text: list[str] = []
    status = ""
    answer: Answer | None = None

    def grown() -> Reply:
        text[:] = ["".join(text)]
        return replace(growing(text[0]), status=status)

    async for event in events:
        if isinstance(event, Stage) and not text:
            status = event.detail
            stream.want(replace(growing(""), status=status))
        elif isinstance(event, Delta) and event.text:
            text.append(event.text)
            stream.want(grown)
        elif isinstance(event, Answer):
            answer = event
    if answer is not None:
        await stream.finish(final(answer))
    return answer
