"""The account of one turn: what it took, told at its end in one line of the log and to whoever observes. No word of anybody's is in it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot import telemetry
from bot.observing.operations import TurnWork

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from bot.observing import Observers
    from bot.port import Limits, Outlet, Route, Write
    from bot.turns import ChatTurn
    from rag_engine.types import Answer


class Account:
    """What a turn takes, while it goes on."""

    def __init__(self, work: TurnWork) -> None:
        self.work = work
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the turn was taken up."""
        return round(time.perf_counter() - self._started, 4)

    def answered(self, answer: Answer) -> None:
        """The engine is done."""
        self.work.answer = answer

    @classmethod
    def of(cls, turn: ChatTurn) -> Account:
        """The account of a turn, from now on."""
        return cls(
            TurnWork(
                platform=turn.place.platform,
                turn=turn.id,
                state=turn.state,
                begun=turn.begun,
                resumed=turn.attempts > 1,
            )
        )

    def kept(self, turn: ChatTurn) -> None:
        """The turn as it is kept now."""
        self.work.state = turn.state

    def kept_silent(self) -> None:
        """Nobody asked, and nothing is told."""
        self.work.state = "silent"

    def outlet(self, outlet: Outlet) -> Outlet:
        """The outlet, with its writes counted."""
        return _CountedOutlet(outlet, self)

    def wrote(self, *, text: bool) -> None:
        """A message of the turn was written; a person can read words of the answer in it if `text`."""
        self.work.writes += 1
        if text and self.work.first_text_seconds is None:
            self.work.first_text_seconds = self.seconds


class _CountedOutlet:
    def __init__(self, outlet: Outlet, account: Account) -> None:
        self._outlet = outlet
        self._account = account

    @property
    def limits(self) -> Limits:
        return self._outlet.limits

    @property
    def routes(self) -> Sequence[Route]:
        return self._outlet.routes

    async def write(self, write: Write) -> str:
        message = await self._outlet.write(write)
        self._account.wrote(text=write.page is not None and bool(write.page.text))
        return message


@contextmanager
def opened(turn: ChatTurn, observers: Observers) -> Generator[Account]:
    """The account of a turn that is dealt with in the block; every line that is logged there has its id."""
    account = Account.of(turn)
    ids = {"turn": turn.id, "platform": turn.place.platform}
    with telemetry.within(**ids), observers.around(account.work):
        try:
            yield account
        finally:
            telemetry.event("answered", **_line(account.work), seconds=account.seconds)


def _line(work: TurnWork) -> dict[str, object]:
    answer = work.answer
    return {
        **work.facts(),
        "fallbacks": list(answer.fallbacks) if answer else [],
        "stages": {name: round(seconds, 4) for name, seconds in answer.timings.items()} if answer else {},
    }
