from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.conversation.turn.context import place_conversation, turn_conversation
from bot.observability import log
from bot.observability.turn_log import TurnLog
from rag_engine.errors import RagError
from rag_engine.types import Trace, TurnId

if TYPE_CHECKING:
    from bot.conversation.dependencies import ForgetTurn, KeepTrace
    from bot.port import Place
    from bot.store.turns import ChatTurn, State, Turns
    from rag_engine.types import ConversationId

_log = logging.getLogger(__name__)


class TurnRecorder:
    """A failed write is only logged."""

    def __init__(self, turns: Turns, turn: ChatTurn, turn_log: TurnLog | None = None) -> None:
        self._turns = turns
        self.turn = turn
        self.turn_log = turn_log or TurnLog.of(turn)
        self.forgotten = False
        self.error = ""
        """The type of the error that ended the turn."""

    async def save(self, state: State | None = None, **changes: object) -> None:
        self.turn = replace(self.turn, **changes, state=state or self.turn.state)
        self.turn_log.stored(self.turn)
        try:
            self.forgotten = not await self._turns.save(self.turn)
        except RagError as error:
            _log.warning("turn %s could not be stored: %s", self.turn.id, error)

    async def save_messages(self, messages: tuple[str, ...]) -> None:
        await self.save("placeholder" if self.turn.state == "received" else None, messages=messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureTraces:
    """`footnote trace` finds every id that a person was shown."""

    keep: KeepTrace
    turns: Turns
    forget: ForgetTurn

    async def note_turn(self, recorder: TurnRecorder) -> None:
        """Not for a turn with an answer, or a removed one."""
        turn = recorder.turn
        if turn.state not in {"stopped", "failed"} or recorder.forgotten:
            return
        details = {"question": turn.question, "outcome": turn.state, "error": recorder.error}
        await self._write(turn.engine_turn, turn_conversation(turn), turn.asked_at, details)
        try:
            if await self.turns.find(turn.id) is None:
                await self.forget(turn.engine_turn)
        except RagError as error:
            _log.warning("the trace of an erased failure may be left: %s", error)

    async def note_interaction(self, place: Place, error: BaseException) -> None:
        kind, identity = log.current_work()
        if identity:
            details = {"outcome": "failed", "kind": kind, "error": type(log.unwrapped(error)).__name__}
            await self._write(TurnId(identity), place_conversation(place), time.time(), details)

    async def _write(
        self, turn: TurnId, conversation: ConversationId, at: float, details: dict[str, str]
    ) -> None:
        try:
            await self.keep(Trace(turn=turn, conversation=conversation, at=at, seconds={}, details=details))
        except RagError as error:
            _log.warning("the trace of a failure could not be stored: %s", error)
