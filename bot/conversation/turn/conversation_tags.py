from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bot.conversation.turn.background_tasks import BackgroundTasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.turns import ChatTurn
    from rag_engine.types import ConversationId


class ChooseTags(Protocol):
    async def __call__(self, question: str, answer: str) -> tuple[str, ...]: ...


class TagStore(Protocol):
    async def tags(self, conversation: ConversationId) -> list[str]: ...

    async def tag(self, conversation: ConversationId, tags: Sequence[str]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTags:
    """None without `choose`, nor in private conversations."""

    store: TagStore
    choose: ChooseTags | None = None
    _tasks: BackgroundTasks = field(default_factory=BackgroundTasks)

    def begin(self, turn: ChatTurn, answer: str) -> None:
        if self.choose is None or turn.private or not turn.conversation:
            return
        work = self._tag(turn, turn.conversation, answer, self.choose)
        self._tasks.start(turn.id, work, name="tags", if_failed="a conversation has no tags by a model")

    async def close(self) -> None:
        await self._tasks.close()

    async def _tag(
        self, turn: ChatTurn, conversation: ConversationId, answer: str, choose: ChooseTags
    ) -> None:
        if not await self.store.tags(conversation):
            await self.store.tag(conversation, await choose(turn.question, answer))
