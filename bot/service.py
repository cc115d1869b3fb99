"""ChatService: what happens with messages, commands and buttons, the same on every platform."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import gate, telemetry, triggers
from bot.dealing import Dealing
from bot.failures import sentence_of
from bot.files import receiving
from bot.gate import Admitted
from bot.interacting import Interacting
from bot.port import ChatError, MessageDeleted, MessageEdited
from bot.resuming import Resuming
from bot.sentences import language_of
from bot.turns import ChatTurn
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from bot.port import Action, Command, IncomingMessage, MessageEvent, Place, Recall, Room
    from bot.serving import Parts

_EDITABLE_SECONDS = 600.0
"""A question that is edited later than this after it was asked keeps its answer."""


class Service:
    """Turns events into calls on the engine. Every failure ends as one plain sentence, in the message or to the asker alone."""

    def __init__(self, parts: Parts) -> None:
        self.commands = parts.commands.specs
        self.inbox = parts.inbox
        self._parts = parts
        self._dealing = Dealing(parts)
        self._runs = self._dealing.runs
        self._resuming = Resuming(parts, self._dealing)
        self._interacting = Interacting(parts, self._dealing, self._resuming)

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return self._dealing.waiting

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        """Answer what is for us; a question that is edited is answered anew, and one that is deleted loses its answer."""
        try:
            if isinstance(event, MessageEdited):
                await self._edited(event.message, room)
            elif isinstance(event, MessageDeleted):
                await self._deleted(event, room)
            else:
                await self._arrived(event, room)
                await self._parts.heard.note(event.place.platform, event.at)
        except BrokenPipeError:
            raise  # nobody reads what we say any more
        except Exception as error:  # whoever asked has been told where that was possible
            telemetry.record(telemetry.unwrapped(error))

    async def resume(self, platform: str, recall: Recall) -> None:
        """Go on with the answers that were under way on the platform when the program ended."""
        await self._resuming.all(platform, recall)

    async def answers_in(self, place: Place) -> frozenset[str]:
        """Our messages in the place's thread that are known to belong to an answer."""
        return await self._parts.turns.messages_in(place)

    async def answered_in(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        """The channels of the workspace in which somebody was answered, the latest first."""
        return await self._parts.turns.channels(platform, workspace, limit=limit)

    async def heard(self, platform: str) -> float:
        """When the latest message of the platform that was looked at was written."""
        return await self._parts.heard.latest(platform)

    async def on_command(self, command: Command, room: Room) -> None:
        """Answer a slash command, to its person alone unless they ask otherwise."""
        with telemetry.within(command=telemetry.new_id(), platform=command.place.platform):
            try:
                await self._interacting.command(command, room)
            except Exception as error:
                sentence = sentence_of(error, language_of("", command.person))
                await self._dealing.tell(room, command.person, sentence)

    async def on_action(self, action: Action, room: Room) -> None:
        """Do what a button under one of our messages says."""
        with telemetry.within(action=telemetry.new_id(), platform=action.place.platform):
            try:
                await self._interacting.action(action, room)
            except Exception as error:
                sentence = sentence_of(error, language_of("", action.person))
                await self._dealing.tell(room, action.person, sentence)

    # --- messages

    async def _arrived(self, message: IncomingMessage, room: Room) -> bool:
        """Whether the message was taken up here; else it is not for us, or its twin was faster."""
        admitted = await gate.admit(message, room, self._parts)
        if admitted is None:
            return False
        if isinstance(admitted, ChatTurn):
            return await self._resuming.redelivered(admitted, message, room)
        return await self._stops(message, room) or await self._dealing.take_up(message, room, admitted)

    async def _stops(self, message: IncomingMessage, room: Room) -> bool:
        """Whether the message says no more than stop, and there was something to stop."""
        running = self._runs.at(message.place) if triggers.is_stop(message.text) else []
        check = self._parts.access.check
        try:
            for run in running:
                await check(message.person, message.place, room.directory, act="stop", asker=run.asker)
        except (RagError, ChatError) as error:
            language = language_of(message.text, message.person)
            await self._dealing.tell(room, message.person, sentence_of(error, language))
            return True
        stopped = [run for run in running if run.interrupt("stopped")]
        return bool(stopped)

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
        turn = replace(turn, question=text, attempts=1)
        await self._dealing.again(turn, message, room, Admitted(settings=settings))

    async def _deleted(self, event: MessageDeleted, room: Room) -> None:
        """Take the answer away, and what is remembered of it and of the files that came with the question."""
        turns = self._parts.turns
        turn = await turns.of_message(event.place, event.id)
        if turn is None:  # its files may have been taken in all the same
            return await receiving.forget(event.place, event.id, self._parts)
        await self._runs.interrupt_and_wait(turn.id, "deleted")
        return await self._dealing.withdraw(await turns.find(turn.id) or turn, room)
