"""Added to an answer as buttons by a late edit, so that no answer waits for them."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from bot.conversation.turn.view import choice_buttons
from bot.observability import log
from bot.port import ChatError
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Reply, Room
    from bot.store.turns import ChatTurn, Turns
    from bot.streaming.scheduler import Scheduler
    from rag_engine.types import Hit, Query

_CLOSING_SECONDS = 5.0

_log = logging.getLogger(__name__)


class SuggestQuestions(Protocol):
    async def __call__(self, query: Query, answer: str, passages: Sequence[Hit]) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    query: Query
    text: str
    passages: tuple[Hit, ...]
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUps:
    """Without `suggest` there are none."""

    turns: Turns
    scheduler: Scheduler
    suggest: SuggestQuestions | None = None
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])

    def begin(self, turn: ChatTurn, shown: ShownAnswer, room: Room) -> None:
        if self.suggest is None or turn.state != "final":
            return
        task = asyncio.create_task(self._add(turn, shown, room, self.suggest), name=f"follow-ups {turn.id}")
        self._running[turn.id] = task
        task.add_done_callback(lambda done: self._forget(turn.id, done))

    async def cancel(self, turn: str) -> None:
        """Returns when nothing is written any more."""
        if (task := self._running.pop(turn, None)) is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)

    def _forget(self, turn: str, task: asyncio.Task[None]) -> None:
        if self._running.get(turn) is task:
            del self._running[turn]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.record(log.unwrapped(error))

    async def _add(self, turn: ChatTurn, shown: ShownAnswer, room: Room, suggest: SuggestQuestions) -> None:
        with log.within(turn=turn.id):
            try:
                questions = await suggest(shown.query, shown.text, shown.passages)
                if questions:
                    await self._show(turn, questions, shown.reply, room)
            except (RagError, ChatError, TimeoutError) as error:
                _log.warning("an answer has no follow-up questions: %s", type(error).__name__)

    async def _show(self, turn: ChatTurn, questions: tuple[str, ...], reply: Reply, room: Room) -> None:
        stored = await self.turns.find(turn.id)
        if stored is None or (stored.state, stored.starts, stored.turn) != ("final", turn.starts, turn.turn):
            return  # repeated, withdrawn or forgotten meanwhile
        if not stored.messages:
            return
        if stored.turn != turn.turn:  # another version is shown meanwhile
            return
        if not await self.turns.save(replace(stored, choices=questions)):
            return
        outlet = room.outlet(private=turn.person if turn.private else None, posted=stored.messages)
        async with self.scheduler.open(outlet, posted=stored.messages) as stream:
            await stream.finish(replace(reply, buttons=(*reply.buttons, *choice_buttons(turn, questions))))
