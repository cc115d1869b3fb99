"""One turn from its claim to its last word: every failure ends as one plain sentence, in its messages or to the asker alone."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import accounts, answering, telemetry
from bot.answering import Case, Ledger
from bot.failures import sentence_of
from bot.files import receiving
from bot.port import ChatError, Reply
from bot.running import Conversations, Crowded, Interrupted, Runs
from bot.sentences import language_of
from bot.turns import ChatTurn
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from bot.gate import Admitted
    from bot.port import IncomingMessage, Person, Room
    from bot.running import Run
    from bot.serving import Parts
    from bot.streaming.writing import MessageStream

_LAST_WORD_SECONDS = 5.0
"""How long a message may take to say that its answer was interrupted; less than a service manager waits before it kills."""

_log = logging.getLogger(__name__)


class Dealing:
    """What is done with turns; one per process: it knows what is going on right now."""

    def __init__(self, parts: Parts) -> None:
        self.runs = Runs(last_word_seconds=parts.settings.last_word_seconds)
        self._parts = parts
        self._conversations = Conversations(
            at_once=parts.settings.answers, waiting=parts.settings.waiting, queue=parts.settings.queue
        )

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return self._conversations.waiting

    async def take_up(self, message: IncomingMessage, room: Room, admitted: Admitted) -> bool:
        """Claim the message, then deal with it; False when its twin was faster."""
        turn = ChatTurn(
            place=message.place,
            message=message.id,
            person=message.person,
            uri=message.uri,
            private=message.private,
            by_bot=message.by_bot,
            question=message.text.strip(),
            asked_at=message.at or time.time(),
            handle=message.handle,
            unasked=admitted.unasked,
            about=message.about,
        )
        # It runs from before others can find it: an edit that comes right behind must have something to interrupt.
        self.runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        claimed = False
        try:
            claimed = await self._parts.turns.claim(turn)
        except RagError as error:
            await self.tell(room, message.person, sentence_of(error, language_of("", message.person)))
            return True
        finally:
            if not claimed:
                self.runs.end(turn.id)
        if claimed:
            await self.deal(turn, message, room, admitted)
        return claimed

    async def again(
        self,
        turn: ChatTurn,
        message: IncomingMessage,
        room: Room,
        admitted: Admitted,
        *,
        listens: bool = False,
    ) -> None:
        """Deal with a turn once more, on the messages that it has."""
        state = "placeholder" if turn.messages else "received"
        turn = replace(turn, begun=turn.begun + 1, state=state)
        await self.deal(turn, message, room, admitted, listens=listens)

    async def deal(
        self,
        turn: ChatTurn,
        message: IncomingMessage,
        room: Room,
        admitted: Admitted,
        *,
        listens: bool = False,
    ) -> None:
        """One turn on its messages, from the placeholder to the last word."""
        run = self.runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        with accounts.opened(turn, self._parts.observers) as account:
            ledger = Ledger(self._parts.turns, turn, account)
            try:
                await self._deal(ledger, run, message, room, admitted, listens=listens)
            finally:
                self.runs.end(turn.id)

    async def _deal(
        self,
        ledger: Ledger,
        run: Run,
        message: IncomingMessage,
        room: Room,
        admitted: Admitted,
        *,
        listens: bool,
    ) -> None:
        turn = ledger.turn
        language = language_of(message.text, message.person, chosen=admitted.settings.language)
        try:
            if turn.begun > 1:
                # Before what stands there is overwritten: a restart must find it unfinished.
                await ledger.note()
            self._parts.access.admit(turn.place)
            allowed, home = await receiving.settled_where_it_stands(
                message, room, self._parts, ledger, unasked=admitted.unasked
            )
            run.place = ledger.turn.place
            if message.attachments and not (allowed.attachments or turn.question):
                return await ledger.note("failed")
            async with self.opened(room, ledger, run) as stream:
                case = Case(
                    message=allowed,
                    room=room,
                    settings=admitted.settings,
                    language=language,
                    ledger=ledger,
                    run=run,
                    stream=stream,
                    home=home,
                    listens=listens or message.in_thread,
                    unasked=admitted.unasked,
                    earlier=admitted.earlier,
                )
                await self._speak(case)
            if admitted.unasked and ledger.turn.messages:
                await ledger.note(place=await room.settle())
        except BrokenPipeError:
            raise
        except Exception as error:
            sentence = sentence_of(error, language)
            if admitted.unasked and not ledger.turn.messages:
                _log.warning("what nobody asked for could not be looked up: %s", type(error).__name__)
                await ledger.note("failed")
            elif turn.attempts > 1:  # what the program before us put there goes on for ever else
                await self.close(ledger, run, room, sentence, language)
            else:
                await ledger.note("failed")
                await self.tell(room, message.person, sentence)
        return None

    async def close(self, ledger: Ledger, run: Run, room: Room, sentence: str, language: str) -> None:
        """End it with one sentence in its messages, under which the answer can be asked for again."""
        reply = Reply(text=sentence, buttons=(answering.regenerate(ledger.turn, language),))
        try:
            async with self.opened(room, ledger, run) as stream:
                run.last_word()
                await stream.finish(reply)
        except ChatError as error:
            _log.warning("the end of an answer could not be told: %s", error)
        await ledger.note("failed")

    def opened(self, room: Room, ledger: Ledger, run: Run) -> MessageStream:
        """The messages of the turn, those that stand already or new ones; the ledger and the run hear what happens to them."""
        turn = ledger.turn
        return self._parts.scheduler.open(
            ledger.account.outlet(
                room.outlet(private=turn.person if turn.private else None, posted=turn.messages)
            ),
            posted=turn.messages,
            on_posted=ledger.posted,
            on_stopped=lambda: run.interrupt("stopped"),
        )

    async def _speak(self, case: Case) -> None:
        """Say all there is to say; a failure too is said, where the message can still be written."""
        try:
            async with case.run.interruptible():
                case.status(case.say("looking"))
                async with self._conversations.turn(
                    answering.line_of(case.ledger.turn),
                    place=case.ledger.turn.place.parent,
                    on_wait=lambda number: case.status(
                        case.say("queued" if number == 1 else "queued_behind", count=number)
                    ),
                    on_crowd=lambda number: case.status(case.say("busy", number=number)),
                ):
                    await self._reply(case)
        except Interrupted as interruption:
            if interruption.reason == "stopped":
                await self._stopped(case)
        except answering.Silence:
            await self._silent(case)
        except asyncio.CancelledError:
            await self._interrupted(case)
            raise
        except BrokenPipeError:
            raise
        except Crowded as crowd:
            full = "all_full" if crowd.everywhere else "queue_full"
            await self._failed(case, UserError(case.say(full, count=crowd.waiting)))
        except Exception as error:
            await self._failed(case, error)

    async def _reply(self, case: Case) -> None:
        """Files first, then the answer."""
        own = case.message
        bare = not case.ledger.turn.question and not own.attachments
        if case.listens or bare:
            await receiving.listen(case)
        if bare:
            own = await receiving.meant(case, self._parts)
        await receiving.take_files(case, self._parts, own)
        if case.ledger.turn.question:
            await answering.answer(case, self._parts)
        elif case.lines:
            await receiving.finish_files(case)
        else:
            await case.finish(Reply(text=case.say("help")), "final")

    async def _stopped(self, case: Case) -> None:
        case.run.last_word()
        await case.finish(case.broken_off(case.say("stopped")), "stopped")

    async def _interrupted(self, case: Case) -> None:
        """The program ends: what stands there must not look as if it went on."""
        if not case.stream.messages:
            return
        try:
            async with asyncio.timeout(_LAST_WORD_SECONDS):
                await case.finish(case.broken_off(case.say("interrupted")), "stopped")
        except (ChatError, TimeoutError) as error:
            _log.warning("the last word of an answer could not be written: %s", error)

    async def _silent(self, case: Case) -> None:
        """Say nothing, and remember nothing of it. What the program before us said of it goes."""
        turn = case.ledger.turn
        case.ledger.account.kept_silent()
        await case.stream.withdraw()
        if turn.turn:
            await self._parts.forget_turn(turn.turn)
        await self._parts.turns.drop(turn)
        telemetry.event("kept_silent", platform=turn.place.platform, why="nobody asked, and no file says it")

    async def _failed(self, case: Case, error: Exception) -> None:
        sentence = sentence_of(error, case.language)
        if case.unasked and not case.stream.messages:
            return await case.ledger.note("failed")  # nobody asked: it is in the log
        case.run.last_word()
        try:
            await case.finish(case.broken_off(sentence), "failed")
        except ChatError as problem:
            _log.warning("a message could not be written: %s", problem)
            await case.ledger.note("failed")
            await self.tell(case.room, case.message.person, case.say("cannot_post"))
        return None

    async def withdraw(self, turn: ChatTurn, room: Room) -> None:
        """Its question is gone: take away the answer, and what is remembered of it and of the files that came with the question."""
        # One that a restart interrupted may have a message that we have not heard of.
        messages = turn.messages or (("",) if turn.unfinished else ())
        # Known until they are gone: a restart finds what is still to be taken away.
        going = replace(turn, state="withdrawn", question="", citations=(), messages=messages)
        await self._parts.turns.save(going)
        for known in {turn.turn or turn.engine_turn, turn.engine_turn}:
            await self._parts.forget_turn(known)
        try:
            await receiving.forget(turn.place, turn.message, self._parts)
        finally:
            posted = [message for message in messages if message]
            await self._parts.scheduler.withdraw(room.outlet(posted=posted), messages)
        await self._parts.turns.save(replace(going, turn=None, messages=()))

    async def tell(self, room: Room, person: Person, sentence: str) -> None:
        """Tell one person, and nobody else."""
        try:
            async with self._parts.scheduler.open(room.outlet(private=person)) as stream:
                await stream.finish(Reply(text=sentence))
        except ChatError as error:
            _log.warning("somebody could not be told anything: %s", error)
