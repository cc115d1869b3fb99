from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bot.conversation.turn.background_tasks import BackgroundTasks

if TYPE_CHECKING:
    from bot.port import Room
    from bot.store.turns import ChatTurn, Turns


class WriteTitle(Protocol):
    async def __call__(self, question: str, answer: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTitles:
    """Without `write` there are none."""

    turns: Turns
    write: WriteTitle | None = None
    _tasks: BackgroundTasks = field(default_factory=BackgroundTasks)

    def begin(self, turn: ChatTurn, answer: str, room: Room) -> None:
        if self.write is None or not room.can_be_renamed or turn.private or turn.starts > 1:
            return
        work = self._rename(turn, answer, room, self.write)
        self._tasks.start(turn.id, work, name="title", if_failed="a thread has no title by a model")

    async def close(self) -> None:
        await self._tasks.close()

    async def _rename(self, turn: ChatTurn, answer: str, room: Room, write: WriteTitle) -> None:
        if not await self.turns.messages_in(turn.place) <= {*turn.messages}:
            return
        title = await write(turn.question, answer)
        stored = await self.turns.find(turn.id)
        if title and stored is not None and (stored.state, stored.turn) == ("final", turn.turn):
            await room.rename(title)
