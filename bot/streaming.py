"""Relay: many answer events become few edits of one message, and the newest text always wins."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from bot import rendering
from bot.port import MessageStream, Reply
from rag_engine.types import Answer, AnswerEvent, Delta, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


async def relay(
    events: AsyncIterator[AnswerEvent],
    stream: MessageStream,
    *,
    clock: Callable[[], float] | None = None,
) -> Answer | None:
    """Show the events as one message: a status until the first text, the text as it grows, then the final edit.

    One edit is in flight at a time, and no two start closer than the stream's `edit_seconds`; texts that arrive meanwhile
    are shown together by the next one. Returns the answer, or None when the events ended without one.
    """
    editor = _Editor(stream, clock=clock or asyncio.get_running_loop().time)
    text, answer = "", None
    try:
        async for event in events:
            if isinstance(event, Stage) and not text:
                editor.want(Reply(status=event.detail))
            elif isinstance(event, Delta):
                text += event.text
                editor.want(Reply(text=text))
            elif isinstance(event, Answer):
                answer = event
    finally:
        await editor.stop()
    if answer is not None:
        await stream.finish(rendering.final(answer))
    return answer


class _Editor:
    """Shows the newest wanted reply, one edit at a time."""

    def __init__(self, stream: MessageStream, *, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._wanted: Reply | None = None
        self._shown_at = -float("inf")
        self._stopped = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def want(self, reply: Reply) -> None:
        self._wanted = reply
        if self._task is None or self._task.done():
            self._raise_if_failed()
            self._task = asyncio.create_task(self._edit(), name="message-edit")

    async def stop(self) -> None:
        """Let an edit in flight end; drop what only waits for its turn, since the final edit says more."""
        self._wanted = None
        self._stopped.set()
        if self._task is not None:
            await self._task

    async def _edit(self) -> None:
        while self._wanted is not None:
            wait = self._shown_at + self._stream.limits.edit_seconds - self._clock()
            if wait > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), wait)
            newest = self._wanted  # more may have been wanted while we waited, or nothing any longer
            self._wanted = None
            if newest:
                self._shown_at = self._clock()
                await self._stream.show(newest)

    def _raise_if_failed(self) -> None:
        if self._task is not None and not self._task.cancelled():
            error = self._task.exception()
            if error is not None:
                raise error
