from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot.observability import log
from bot.observability.operations import TurnWork

if TYPE_CHECKING:
    from collections.abc import Generator

    from bot.observability import Observers
    from bot.port import Write
    from bot.store.turns import ChatTurn
    from rag_engine.types import Answer


class TurnLog:
    def __init__(self, work: TurnWork) -> None:
        self.work = work
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        return round(time.perf_counter() - self._started, 4)

    def answered(self, answer: Answer) -> None:
        self.work.answer = answer

    @classmethod
    def of(cls, turn: ChatTurn) -> TurnLog:
        return cls(
            TurnWork(
                platform=turn.place.platform,
                turn=turn.id,
                state=turn.state,
                starts=turn.starts,
                resumed=turn.attempts > 1,
            )
        )

    def stored(self, turn: ChatTurn) -> None:
        self.work.state = turn.state

    def mark_silent(self) -> None:
        """Nobody asked: log nothing."""
        self.work.state = "silent"

    def count_write(self, write: Write) -> None:
        """Also times the first visible words."""
        self.work.writes += 1
        if write.page is not None and write.page.text and self.work.first_text_seconds is None:
            self.work.first_text_seconds = self.seconds


@contextmanager
def opened(turn: ChatTurn, observers: Observers) -> Generator[TurnLog]:
    """The block's lines carry the turn's id."""
    account = TurnLog.of(turn)
    ids = {"turn": turn.id, "platform": turn.place.platform}
    with log.within(**ids), observers.around(account.work):
        try:
            yield account
        finally:
            log.event("answered", **_line(account.work), seconds=account.seconds)


def _line(work: TurnWork) -> dict[str, object]:
    answer = work.answer
    return {
        **work.facts(),
        "fallbacks": list(answer.fallbacks) if answer else [],
        "stages": {name: round(seconds, 4) for name, seconds in answer.timings.items()} if answer else {},
    }
