"""ChatService: what happens with messages, commands and buttons, the same on every platform."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import actions, answering, gate, receiving, telemetry, triggers
from bot.actions import Again, Context
from bot.answering import Case, Ledger
from bot.commands.parsing import parse
from bot.failures import sentence_of
from bot.gate import Admitted
from bot.port import ChatError, IncomingMessage, MessageDeleted, MessageEdited, Reply
from bot.running import Conversations, Crowded, Interrupted, Runs
from bot.sentences import language_of, say
from bot.turns import ChatTurn
from bot.withdrawing import withdraw
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.port import Action, Command, MessageEvent, Person, Room
    from bot.running import Run
    from bot.serving import Parts, Show
    from bot.writing import MessageStream

_EDITABLE_SECONDS = 600.0
"""A question that is edited later than this after it was asked keeps its answer."""
_SHOWN_AFTER_SECONDS = 0.5
"""A command that takes longer says that it is being done."""

_LAST_WORD_SECONDS = 5.0
"""How long a message may take to say that its answer was interrupted; less than a service manager waits before it kills."""

_log = logging.getLogger(__name__)


class Service:
    """Turns events into calls on the engine. Every failure ends as one plain sentence, in the message or to the asker alone."""

    def __init__(self, parts: Parts) -> None:
        self.commands = parts.commands.specs
        self._parts = parts
        self._runs = Runs()
        self._conversations = Conversations(at_once=parts.settings.answers, waiting=parts.settings.waiting)

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        """Answer what is for us; a question that is edited is answered anew, and one that is deleted loses its answer."""
        try:
            if isinstance(event, MessageEdited):
                await self._edited(event.message, room)
            elif isinstance(event, MessageDeleted):
                await self._deleted(event, room)
            else:
                await self._arrived(event, room)
        except BrokenPipeError:
            raise  # nobody reads what we say any more
        except Exception as error:  # whoever asked has been told where that was possible
            telemetry.record(telemetry.unwrapped(error))

    async def on_command(self, command: Command, room: Room) -> None:
        """Answer a slash command, to its person alone unless they ask otherwise."""
        try:
            if not await self._parts.turns.claim_event(command.place, f"command:{command.id}"):
                return
            if command.name.split()[0].lstrip("/").casefold() == "ask":
                await self._ask(command, room)
            else:
                await self._execute(command, room)
        except Exception as error:
            await self._tell(room, command.person, sentence_of(error, language_of("", command.person)))

    async def on_action(self, action: Action, room: Room) -> None:
        """Do what a button under one of our messages says."""
        try:
            if action.id and not await self._parts.turns.claim_event(action.place, f"action:{action.id}"):
                return
            await self._press(action, room)
        except Exception as error:
            await self._tell(room, action.person, sentence_of(error, language_of("", action.person)))

    # --- messages

    async def _arrived(self, message: IncomingMessage, room: Room) -> bool:
        """Whether the message was taken up here; else it is not for us, or its twin was faster."""
        admitted = await gate.admit(message, room, self._parts)
        if admitted is None:
            return False
        return await self._stops(message, room) or await self._take_up(message, room, admitted)

    async def _stops(self, message: IncomingMessage, room: Room) -> bool:
        """Whether the message says no more than stop, and there was something to stop."""
        running = self._runs.at(message.place) if triggers.is_stop(message.text) else []
        check = self._parts.access.check
        try:
            for run in running:
                await check(message.person, message.place, room.directory, act="stop", asker=run.asker)
        except (RagError, ChatError) as error:
            language = language_of(message.text, message.person)
            await self._tell(room, message.person, sentence_of(error, language))
            return True
        stopped = [run for run in running if run.interrupt("stopped")]
        return bool(stopped)

    async def _take_up(self, message: IncomingMessage, room: Room, admitted: Admitted) -> bool:
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
        )
        # It runs from before others can find it: an edit that comes right behind must have something to interrupt.
        self._runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        claimed = False
        try:
            claimed = await self._parts.turns.claim(turn)
        except RagError as error:
            await self._tell(room, message.person, sentence_of(error, language_of("", message.person)))
            return True
        finally:
            if not claimed:
                self._runs.end(turn.id)
        if claimed:
            await self._deal(turn, message, room, admitted)
        return claimed

    async def _deal(
        self,
        turn: ChatTurn,
        message: IncomingMessage,
        room: Room,
        admitted: Admitted,
        *,
        listens: bool = False,
    ) -> None:
        """One turn on its messages, from the placeholder to the last word."""
        run = self._runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        ledger = Ledger(self._parts.turns, turn)
        language = language_of(message.text, message.person, chosen=admitted.settings.language)
        try:
            self._parts.access.admit(turn.place)
            allowed, home = await receiving.settled_where_it_stands(
                message, room, self._parts, ledger, unasked=admitted.unasked
            )
            run.place = ledger.turn.place
            if message.attachments and not (allowed.attachments or turn.question):
                return await ledger.note("failed")
            async with self._opened(room, ledger, run) as stream:
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
            await ledger.note("failed")
            await self._tell(room, message.person, sentence_of(error, language))
        finally:
            self._runs.end(turn.id)
        return None

    def _opened(self, room: Room, ledger: Ledger, run: Run) -> MessageStream:
        """The messages of the turn, those that stand already or new ones; the ledger and the run hear what happens to them."""
        turn = ledger.turn
        return self._parts.scheduler.open(
            room.outlet(private=turn.person if turn.private else None, posted=turn.messages),
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
                    on_wait=lambda: case.status(case.say("queued")),
                    on_crowd=lambda: case.status(case.say("busy")),
                ):
                    await self._reply(case)
        except Interrupted as interruption:
            if interruption.reason == "stopped":
                await self._stopped(case)
        except answering.Silence:
            await self._silent(case.ledger.turn)
        except asyncio.CancelledError:
            await self._interrupted(case)
            raise
        except BrokenPipeError:
            raise
        except Crowded as crowd:
            await self._failed(case, UserError(case.say("queue_full", count=crowd.waiting)))
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

    async def _silent(self, turn: ChatTurn) -> None:
        """Say nothing, and remember nothing of it."""
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
            await self._tell(case.room, case.message.person, case.say("cannot_post"))
        return None

    async def _edited(self, message: IncomingMessage, room: Room) -> None:
        """Answer the question anew in the same messages, while it is fresh; an edit that asks nothing else changes nothing."""
        turns = self._parts.turns
        turn = await turns.of_message(message.place, message.id)
        fresh = time.time() - message.at <= _EDITABLE_SECONDS
        if turn is None and fresh and not await self._arrived(message, room):  # now it may be for us
            turn = await turns.of_message(message.place, message.id)  # it may just be taken up as it was
        if turn is None:
            return
        text = message.text.strip()
        if not text or text == turn.question or turn.state == "withdrawn":
            return
        settings = await gate.settings_of(message, self._parts)
        if not fresh and not self._runs.is_running(turn.id):
            return
        while True:
            await self._runs.interrupt_and_wait(turn.id, "edited")
            turn = await turns.find(turn.id) or turn
            if not self._runs.is_running(turn.id):  # else another edit was faster
                break
        turn = replace(turn, question=text, state="received")
        await self._deal(turn, message, room, Admitted(settings=settings))

    async def _deleted(self, event: MessageDeleted, room: Room) -> None:
        """Take the answer away, and what is remembered of it and of the files that came with the question."""
        turns = self._parts.turns
        turn = await turns.of_message(event.place, event.id)
        if turn is None:  # its files may have been taken in all the same
            return await receiving.forget(event.place, event.id, self._parts)
        await self._runs.interrupt_and_wait(turn.id, "deleted")
        turn = await turns.find(turn.id) or turn
        await turns.save(replace(turn, state="withdrawn", question="", turn=None, citations=(), messages=()))
        if turn.turn:
            await self._parts.forget_turn(turn.turn)
        try:
            await receiving.forget(event.place, event.id, self._parts)
        finally:
            await withdraw(room.outlet(posted=turn.messages), turn.messages)
        return None

    # --- commands and buttons

    async def _ask(self, command: Command, room: Room) -> None:
        values = parse(command).values
        public = values.get("where") == "channel"
        message = IncomingMessage(
            id=f"command:{command.id}",
            place=command.place,
            person=command.person,
            text=values.get("question", ""),
            private=not public,
            in_thread=bool(command.place.thread),
            at=time.time(),
        )
        admitted = Admitted(settings=await gate.settings_of(message, self._parts))
        await self._take_up(message, room, admitted)

    async def _execute(self, command: Command, room: Room) -> None:
        async def work(show: Show) -> Reply | None:
            return await self._parts.commands.execute(command, room, show)

        await self._carry_out(work, command.person, room)

    async def _press(self, action: Action, room: Room) -> None:
        again: list[Again] = []

        async def own(show: Show) -> Reply | None:
            context = Context(action=action, room=room, parts=self._parts, runs=self._runs, show=show)
            done = await actions.press(context)
            if not isinstance(done, Again):
                return done
            again.append(done)
            return None

        async def others(show: Show) -> Reply | None:
            reply = await self._parts.commands.press(action, room, show)
            return reply or Reply(text=say("unknown_button", language_of("", action.person)))

        if action.name in actions.NAMES:
            await self._carry_out(own, action.person, room, slow=action.name in actions.SLOW)
        else:
            posted = (action.message,) if action.message else ()
            await self._carry_out(others, action.person, room, posted=posted)
        for one in again:
            settings = await gate.settings_of(one.message, self._parts)
            if not self._runs.is_running(one.turn.id):
                turn = replace(one.turn, state="received")
                await self._deal(turn, one.message, room, Admitted(settings=settings), listens=one.listens)

    async def _carry_out(
        self,
        work: Callable[[Show], Awaitable[Reply | None]],
        person: Person,
        room: Room,
        *,
        posted: tuple[str, ...] = (),
        slow: bool = True,
    ) -> None:
        """Do it, and tell the person alone what came of it, if anything; what is slow says that it is being done."""
        language = language_of("", person)
        outlet = room.outlet(private=person, posted=posted)
        async with self._parts.scheduler.open(outlet, posted=posted) as stream:
            working = Reply(status=say("working", language))
            timer = asyncio.get_running_loop().call_later(_SHOWN_AFTER_SECONDS, stream.want, working)
            if not slow:
                timer.cancel()

            def show(reply: Reply) -> None:
                timer.cancel()
                stream.want(reply)

            try:
                reply = await work(show)
            except Exception as error:
                reply = Reply(text=sentence_of(error, language))
            finally:
                timer.cancel()
            if reply is not None:
                await stream.finish(reply)

    async def _tell(self, room: Room, person: Person, sentence: str) -> None:
        """Tell one person, and nobody else."""
        try:
            async with self._parts.scheduler.open(room.outlet(private=person)) as stream:
                await stream.finish(Reply(text=sentence))
        except ChatError as error:
            _log.warning("somebody could not be told anything: %s", error)
