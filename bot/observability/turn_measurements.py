"""What turns took and spent, until the page stores it."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from bot.observability.operations import ModelCall, TurnWork
from bot.store.turn_figures import MeasuredTurn, TokenCount

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bot.observability.operations import Operation
    from bot.store.turn_figures import TurnOutcome

_MOST: Final = 10_000
_TALK: Final = frozenset({"chat", "clarify", "edit"})

_spent: ContextVar[dict[str, TokenCount] | None] = ContextVar("spent", default=None)


class TurnMeasurements:
    def __init__(self) -> None:
        self._ended: deque[MeasuredTurn] = deque(maxlen=_MOST)

    def take(self) -> list[MeasuredTurn]:
        taken = list(self._ended)
        self._ended.clear()
        return taken

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        if isinstance(operation, TurnWork):
            spent: dict[str, TokenCount] = {}
            token = _spent.set(spent)
            try:
                yield
            finally:
                _spent.reset(token)
                self._ended.append(_measured(operation, spent))
            return
        try:
            yield
        finally:
            if isinstance(operation, ModelCall) and operation.prompt_tokens:
                self._count(operation)

    def _count(self, call: ModelCall) -> None:
        count = TokenCount(calls=1, prompt=call.prompt_tokens, reply=call.reply_tokens)
        spent = _spent.get()
        if spent is None:
            self._ended.append(MeasuredTurn(tokens={call.model: count}))
        else:
            spent[call.model] = spent.get(call.model, TokenCount()) + count

    def depth(self, queue: str, read: Callable[[], float]) -> None: ...

    def waited(self, database: str, seconds: float) -> None: ...

    def circuit(self, backend: str, state: str) -> None: ...


def _measured(work: TurnWork, spent: dict[str, TokenCount]) -> MeasuredTurn:
    return MeasuredTurn(
        answer=work.turn,
        outcome=_outcome(work),
        seconds=work.seconds,
        first_seconds=work.first_text_seconds,
        tokens=spent,
    )


def _outcome(work: TurnWork) -> TurnOutcome | None:
    answer = work.answer
    if answer is None or work.state != "final":
        return None
    if answer.grounded or answer.citations:
        return "answered"
    return "talk" if answer.route in _TALK else "unanswered"
