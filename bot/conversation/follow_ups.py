"""A late edit adds them as buttons: no answer waits for them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from bot.conversation.turn.background_tasks import BackgroundTasks
from bot.conversation.turn.view import choice_buttons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Reply, Room
    from bot.store.turns import ChatTurn, Turns
    from bot.streaming.scheduler import Scheduler
    from rag_engine.types import Hit, Query


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
    _tasks: BackgroundTasks = field(default_factory=BackgroundTasks)

    def begin(self, turn: ChatTurn, shown: ShownAnswer, room: Room) -> None:
        if self.suggest is None or turn.state != "final":
            return
        work = self._add(turn, shown, room, self.suggest)
        self._tasks.start(turn.id, work, name="follow-ups", if_failed="an answer has no follow-up questions")

    async def cancel(self, turn: str) -> None:
        await self._tasks.cancel(turn)

    async def close(self) -> None:
        await self._tasks.close()

    async def _add(self, turn: ChatTurn, shown: ShownAnswer, room: Room, suggest: SuggestQuestions) -> None:
        if questions := await suggest(shown.query, shown.text, shown.passages):
            await self._show(turn, questions, shown.reply, room)

    async def _show(self, turn: ChatTurn, questions: tuple[str, ...], reply: Reply, room: Room) -> None:
        stored = await self.turns.find(turn.id)
        if stored is None or (stored.state, stored.starts, stored.turn) != ("final", turn.starts, turn.turn):
            return  # repeated, withdrawn, forgotten or another version meanwhile
        if not stored.messages:
            return
        if not await self.turns.save(replace(stored, choices=questions)):
            return
        outlet = room.outlet(private=turn.person if turn.private else None, posted=stored.messages)
        async with self.scheduler.open(outlet, posted=stored.messages) as stream:
            await stream.finish(replace(reply, buttons=(*reply.buttons, *choice_buttons(turn, questions))))
