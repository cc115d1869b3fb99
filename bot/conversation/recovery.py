"""After a restart, every interrupted turn ends with its answer or a sentence that says why not."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from bot.conversation.concurrency import Interrupted
from bot.conversation.newcomers.small_talk import question_in
from bot.conversation.turn.context import TurnOptions
from bot.conversation.turn.recorder import TurnRecorder
from bot.messages import language_of, say
from bot.observability import log
from bot.port import ChatError, Gone, IncomingMessage, Throttled, WriteRefused
from bot.resilience.retry import BACKOFF
from rag_engine.errors import Unavailable
from rag_engine.wrappers.retry import Attempts

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bot.conversation.admission import Admission
    from bot.conversation.concurrency import Run
    from bot.conversation.turn.runner import TurnRunner
    from bot.port import Recall, Room
    from bot.store.turns import ChatTurn, Turns

_ATTEMPTS: Final = 2
"""Processes; the turn may crash them."""
_LOOKUPS_AT_ONCE: Final = 4
_RECALL_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    turns: Turns
    admission: Admission
    runner: TurnRunner
    resume_seconds: float
    _lookups: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_LOOKUPS_AT_ONCE), init=False
    )

    async def resume_all(self, platform: str, recall: Recall) -> None:
        unfinished = await self._unfinished(platform)
        # An edit, deletion or stop meanwhile must find a run.
        resumed = [(turn, self._begin(turn)) for turn in unfinished if not self._is_running(turn)]
        if resumed:
            log.event("resuming", platform=platform, answers=len(resumed))
        async with asyncio.TaskGroup() as tasks:
            for turn, run in resumed:
                work = self._resume(turn.id, run, recall)
                tasks.create_task(self._guarded(work, turn.id, run), name=f"resume {turn.id}")

    async def resume_redelivered(self, turn: ChatTurn, message: IncomingMessage, room: Room) -> bool:
        """False if the turn is running."""
        if self._is_running(turn):
            return False
        run = self._begin(turn)
        return await self._guarded(self._repeat(turn.id, message, room, run), turn.id, run)

    async def _unfinished(self, platform: str) -> list[ChatTurn]:
        attempts = Attempts(backoff=BACKOFF)
        while True:
            try:
                return await self.turns.unfinished(platform)
            except Unavailable as error:
                _log.warning("unfinished answers cannot be read yet: %s", error)
                await attempts.pause(error)

    def _is_running(self, turn: ChatTurn) -> bool:
        return self.runner.runs.is_running(turn.id)

    def _begin(self, turn: ChatTurn) -> Run:
        return self.runner.runs.begin(turn.id, place=turn.place, asker=turn.person.id)

    async def _guarded(self, work: Awaitable[bool], identity: str, run: Run) -> bool:
        try:
            with log.within(turn=identity):
                return await work
        except Exception as error:
            log.record(log.unwrapped(error))
            return True
        finally:
            if not run.ended.is_set():
                self.runner.runs.end(identity)

    async def _resume(self, identity: str, run: Run, recall: Recall) -> bool:
        turn = await self.turns.find(identity)
        if turn is None or not (turn.unfinished or turn.withdrawing):
            return False
        if await self._drop_unseen(turn):
            return False
        try:
            recalled = await self._recall(turn, run, recall)
        except ChatError as error:
            _log.warning("an interrupted answer cannot be finished: %s", error)
            if turn.unfinished:
                await TurnRecorder(self.turns, turn).save("failed")
            return False
        if recalled is None:
            return False
        message, room = recalled
        if message is None or turn.withdrawing:
            await self.runner.withdraw(turn, room)
            return True
        return await self._repeat(identity, message, room, run)

    async def _recall(
        self, turn: ChatTurn, run: Run, recall: Recall
    ) -> tuple[IncomingMessage | None, Room] | None:
        """Retried; None if edited or deleted, which has its own event. Raises `Gone` and `WriteRefused`."""
        failures, wait, stopped = 0, 0.0, False
        while True:
            try:
                async with nullcontext() if stopped else run.interruptible():
                    await asyncio.sleep(wait)
                    async with self._lookups, asyncio.timeout(_RECALL_SECONDS):
                        return await recall(_stored_message(turn))
            except Interrupted as interruption:
                if interruption.reason != "stopped":
                    return None
                stopped = True
            except (Gone, WriteRefused):
                raise
            except (ChatError, TimeoutError) as error:
                failures += 1
                retry_after = error.seconds if isinstance(error, Throttled) else None
                wait = BACKOFF.seconds(failures, retry_after=retry_after)

    async def _repeat(self, identity: str, message: IncomingMessage, room: Room, run: Run) -> bool:
        turn = await self.turns.find(identity)
        if turn is None or not turn.unfinished or await self._drop_unseen(turn):
            return False
        if self._is_over(turn):
            log.event("given_up", platform=turn.place.platform, attempts=turn.attempts)
            language = language_of(turn.question, turn.person)
            recorder = TurnRecorder(self.turns, turn)
            await self.runner.close(recorder, run, room, say("interrupted", language), language)
            return True
        settings = await self.admission.place_settings(message)
        turn = replace(turn, question=question_in(message), attempts=turn.attempts + 1)
        options = TurnOptions(settings=settings, unprompted=turn.unprompted)
        await self.runner.repeat(turn, message, room, options)
        return True

    async def _drop_unseen(self, turn: ChatTurn) -> bool:
        drops = turn.unprompted and not turn.messages and self._is_over(turn)
        if drops:
            await self.turns.drop(turn)
        return drops

    def _is_over(self, turn: ChatTurn) -> bool:
        is_old = time.time() - turn.updated_at > self.resume_seconds
        return is_old or turn.attempts >= _ATTEMPTS


def _stored_message(turn: ChatTurn) -> IncomingMessage:
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
