"""Going on after a restart: each turn that the program's end interrupted ends in its answer, or in one sentence that says why not."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot import gate, telemetry
from bot.answering import Ledger
from bot.gate import Admitted
from bot.patience import pause
from bot.port import ChatError, Gone, IncomingMessage, Refused, Throttled
from bot.running import Interrupted
from bot.sentences import language_of, say
from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bot.dealing import Dealing
    from bot.port import Recall, Room
    from bot.running import Run
    from bot.serving import Parts
    from bot.turns import ChatTurn

_ATTEMPTS: Final = 2
"""So many processes may begin an answer: one that they all died over is given up."""
_LOOKED_UP_AT_ONCE: Final = 4
_RECALL_SECONDS: Final = 60.0
"""How long one look at the platform may take."""

_log = logging.getLogger(__name__)


class Resuming:
    """Takes unfinished turns up again, the latest question first. None is dealt with twice at the same time."""

    def __init__(self, parts: Parts, dealing: Dealing) -> None:
        self._parts = parts
        self._dealing = dealing
        self._looking = asyncio.Semaphore(_LOOKED_UP_AT_ONCE)

    async def all(self, platform: str, recall: Recall) -> None:
        """Go on with every turn of the platform; returns when each has its last word."""
        unfinished = await self._unfinished(platform)
        # All of them run from now on: whoever edits, deletes or stops one meanwhile has something to interrupt.
        begun = [(turn, self._begin(turn)) for turn in unfinished if not self._is_running(turn)]
        if begun:
            telemetry.event("resuming", platform=platform, answers=len(begun))
        async with asyncio.TaskGroup() as tasks:
            for turn, run in begun:
                going_on = self._resume(turn.id, run, recall)
                tasks.create_task(self._ended(going_on, turn.id, run), name=f"resume {turn.id}")

    async def redelivered(self, turn: ChatTurn, message: IncomingMessage, room: Room) -> bool:
        """The platform tells once more of a question that nobody saw the end of: whether it is gone on with here."""
        if self._is_running(turn):
            return False
        run = self._begin(turn)
        return await self._ended(self._go_on_with(turn.id, message, room, run), turn.id, run)

    # --- inside

    async def _unfinished(self, platform: str) -> list[ChatTurn]:
        """What was left, as soon as it can be read."""
        failures = 0
        while True:
            try:
                return await self._parts.turns.unfinished(platform)
            except Unavailable as error:
                failures += 1
                _log.warning("it cannot be read yet which answers were under way: %s", error)
                await asyncio.sleep(_wait(failures))

    def _is_running(self, turn: ChatTurn) -> bool:
        return self._dealing.runs.is_running(turn.id)

    def _begin(self, turn: ChatTurn) -> Run:
        return self._dealing.runs.begin(turn.id, place=turn.place, asker=turn.person.id)

    async def _ended(self, work: Awaitable[bool], identity: str, run: Run) -> bool:
        """The work, after which the run is over in any case; what goes wrong is logged and ends no other."""
        try:
            with telemetry.within(turn=identity):
                return await work
        except Exception as error:
            telemetry.record(telemetry.unwrapped(error))
            return True
        finally:
            if not run.ended.is_set():
                self._dealing.runs.end(identity)

    async def _resume(self, identity: str, run: Run, recall: Recall) -> bool:
        turn = await self._parts.turns.find(identity)
        if turn is None or not (turn.unfinished or turn.withdrawing):
            return False
        if await self._dropped(turn):
            return False
        try:
            recalled = await self._recalled(turn, run, recall)
        except ChatError as error:
            _log.warning("an answer cannot be gone on with: %s", error)
            if turn.unfinished:
                await Ledger(self._parts.turns, turn).note("failed")
            return False
        if recalled is None:
            return False
        message, room = recalled
        if message is None or turn.withdrawing:
            await self._dealing.withdraw(turn, room)
            return True
        return await self._go_on_with(identity, message, room, run)

    async def _recalled(
        self, turn: ChatTurn, run: Run, recall: Recall
    ) -> tuple[IncomingMessage | None, Room] | None:
        """What the platform tells of the question, however long that takes: what stands there still needs its end.

        None when somebody edited or deleted it meanwhile: they deal with it. Raises `Gone` and `Refused`.
        """
        failures, wait, stopped = 0, 0.0, False
        while True:
            try:
                async with nullcontext() if stopped else run.interruptible():
                    await asyncio.sleep(wait)
                    async with self._looking, asyncio.timeout(_RECALL_SECONDS):
                        return await recall(_kept(turn))
            except Interrupted as interruption:
                if interruption.reason != "stopped":
                    return None
                stopped = True  # that is for us to say
            except (Gone, Refused):
                raise
            except (ChatError, TimeoutError) as error:
                failures += 1
                wait = _wait(failures, error.seconds if isinstance(error, Throttled) else None)

    async def _go_on_with(self, identity: str, message: IncomingMessage, room: Room, run: Run) -> bool:
        """Deal with it once more, or say why not; False when somebody else saw to its end."""
        turn = await self._parts.turns.find(identity)
        if turn is None or not turn.unfinished or await self._dropped(turn):
            return False
        if self._is_over(turn):
            telemetry.event("given_up", platform=turn.place.platform, attempts=turn.attempts)
            language = language_of(turn.question, turn.person)
            ledger = Ledger(self._parts.turns, turn)
            await self._dealing.close(ledger, run, room, say("interrupted", language), language)
            return True
        settings = await gate.settings_of(message, self._parts)
        text = message.text.strip()
        turn = replace(turn, question=text, attempts=turn.attempts + 1)
        await self._dealing.again(turn, message, room, Admitted(settings=settings, unasked=turn.unasked))
        return True

    async def _dropped(self, turn: ChatTurn) -> bool:
        """Whether it is over and simply forgotten: nobody asked, and nobody has seen anything of it."""
        forgotten = turn.unasked and not turn.messages and self._is_over(turn)
        if forgotten:
            await self._parts.turns.drop(turn)
        return forgotten

    def _is_over(self, turn: ChatTurn) -> bool:
        """Nobody waits for it any more, or it is what the processes died of."""
        old = time.time() - turn.updated_at > self._parts.settings.resume_seconds
        return old or turn.attempts >= _ATTEMPTS


def _wait(failures: int, asked: float | None = None) -> float:
    return pause(failures, chance=random.random(), retry_after=asked)  # noqa: S311


def _kept(turn: ChatTurn) -> IncomingMessage:
    """What is known of the question without asking the platform."""
    return IncomingMessage(
        id=turn.message,
        place=turn.place,
        person=turn.person,
        text=turn.question,
        by_bot=turn.by_bot,
        in_thread=bool(turn.place.thread) and turn.place.thread != turn.message,
        private=turn.private,
        uri=turn.uri,
        at=turn.asked_at,
        about=turn.about,
        handle=turn.handle,
    )
