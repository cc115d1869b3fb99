from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.conversation import triggers
from bot.conversation.newcomers.small_talk import question_in
from bot.conversation.turn.context import TurnOptions
from bot.messages import language_of
from bot.messages.errors import sentence_of
from bot.observability import log
from bot.port import ChatError, MessageDeleted, MessageEdited
from bot.store.turns import ChatTurn
from rag_engine.errors import NotAllowed, RagError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.conversation.admission import Admission
    from bot.conversation.channels.channel_service import ChannelService
    from bot.conversation.dependencies import PermissionChecks
    from bot.conversation.experts.expert_service import ExpertService
    from bot.conversation.interactions import Interactions
    from bot.conversation.interactions.feedback_notes import FeedbackNotes
    from bot.conversation.interactions.option_names import OptionNames
    from bot.conversation.newcomers.first_steps import FirstSteps
    from bot.conversation.outbound import OutboundRooms
    from bot.conversation.recovery import Recovery
    from bot.conversation.turn.attachments import AttachmentIntake
    from bot.conversation.turn.runner import TurnRunner
    from bot.port import (
        Action,
        Arrival,
        Command,
        CommandSpec,
        Form,
        Inbox,
        IncomingMessage,
        MessageEvent,
        Overview,
        Person,
        Place,
        Recall,
        Room,
    )
    from bot.store.event_inbox import DeliveryProgress
    from bot.store.turns import Turns
    from bot.streaming.notifier import Notifier

_EDITABLE_SECONDS = 600.0
_FORM_SECONDS = 2.0

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Service:
    commands: Sequence[CommandSpec]
    inbox: Inbox
    delivery: DeliveryProgress
    turns: Turns
    permissions: PermissionChecks
    admission: Admission
    attachments: AttachmentIntake
    notifier: Notifier
    runner: TurnRunner
    recovery: Recovery
    interactions: Interactions
    first_steps: FirstSteps
    option_names: OptionNames
    experts: ExpertService
    notes: FeedbackNotes
    channels: ChannelService | None = None

    @property
    def outbound(self) -> OutboundRooms:
        return self.experts.outbound

    @property
    def waiting(self) -> int:
        return self.runner.queue.waiting

    @property
    def is_busy(self) -> bool:
        return bool(self.waiting or self.runner.runs.count)

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        try:
            if isinstance(event, MessageEdited):
                await self._hear_again(event.message)
                await self.experts.hears_again(event.message)
                await self._on_edited(event.message, room)
            elif isinstance(event, MessageDeleted):
                await self._hear_again(event)
                await self.experts.hears_again(event)
                await self._on_deleted(event, room)
            else:
                await self._hear(event)
                if await self._on_new(event, room):
                    await self._hear(event)
                await self.delivery.note(event.place.platform, event.at)
        except BrokenPipeError:
            raise
        except Exception as error:
            log.record(log.unwrapped(error))

    async def resume(self, platform: str, recall: Recall) -> None:
        self.outbound.recalls[platform] = recall
        if self.channels is not None:
            await self.channels.resume(platform, recall)
        self.experts.hurry()
        await self.recovery.resume_all(platform, recall)

    async def answer_messages(self, place: Place) -> frozenset[str]:
        return await self.turns.messages_in(place)

    async def answered_channels(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        return await self.turns.channels(platform, workspace, limit=limit)

    async def last_message_at(self, platform: str) -> float:
        return await self.delivery.latest(platform)

    async def on_arrival(self, arrival: Arrival, room: Room) -> None:
        with log.within(platform=arrival.place.platform):
            try:
                await self.first_steps.greet(arrival, room)
            except Exception as error:
                log.record(log.unwrapped(error))

    async def overview(self, person: Person, place: Place, room: Room) -> Overview:
        return await self.first_steps.overview(person, place, room)

    async def suggestions(self, command: Command, option: str, room: Room) -> list[str]:
        return await self.option_names.suggest(command, option, room)

    async def on_command(self, command: Command, room: Room) -> None:
        with log.within(command=log.new_id(), platform=command.place.platform):
            try:
                await self.interactions.run_command(command, room)
            except Exception as error:
                await self.interactions.failures.note_interaction(command.place, error)
                sentence = sentence_of(error, language_of("", command.person))
                await self.notifier.try_to_send(room, command.person, sentence)

    async def form(self, action: Action, room: Room) -> Form | None:
        try:
            async with asyncio.timeout(_FORM_SECONDS):
                return await self.interactions.form(action, room)
        except (RagError, ChatError, TimeoutError) as error:
            _log.warning("a form could not be created: %s", type(error).__name__)
            return None

    async def on_action(self, action: Action, room: Room) -> None:
        with log.within(action=log.new_id(), platform=action.place.platform):
            try:
                await self.interactions.press_button(action, room)
            except Exception as error:
                await self.interactions.failures.note_interaction(action.place, error)
                sentence = sentence_of(error, language_of("", action.person))
                await self.notifier.try_to_send(room, action.person, sentence)

    async def _on_new(self, message: IncomingMessage, room: Room) -> bool:
        if await self.experts.hears(message, room) or await self.notes.hears(message, room):
            return False
        admitted = await self.admission.admit(message, room)
        if admitted is None:
            return False
        if isinstance(admitted, ChatTurn):
            return await self.recovery.resume_redelivered(admitted, message, room)
        if self.channels is not None:
            await self.channels.take_back(message)
            await self.channels.settle()
        return await self._stops(message, room) or await self.runner.start(message, room, admitted)

    async def _hear(self, message: IncomingMessage) -> None:
        if self.channels is not None:
            await self.channels.hears(message)

    async def _hear_again(self, event: IncomingMessage | MessageDeleted) -> None:
        if self.channels is not None:
            await self.channels.hears_again(event)

    async def _stops(self, message: IncomingMessage, room: Room) -> bool:
        running = self.runner.runs.at(message.place) if triggers.is_stop(message.text) else []
        check = self.permissions.check
        try:
            for run in running:
                await check(message.person, message.place, room.directory, act="stop", asker=run.asker)
        except (RagError, ChatError) as error:
            sentence = sentence_of(error, language_of(message.text, message.person))
            await self.notifier.try_to_send(room, message.person, sentence)
            return True
        stopped = [run for run in running if run.interrupt("stopped")]
        return bool(stopped)

    async def _on_edited(self, message: IncomingMessage, room: Room) -> None:
        turns, runs = self.turns, self.runner.runs
        turn = await turns.of_message(message.place, message.id)
        is_fresh = time.time() - message.at <= _EDITABLE_SECONDS
        if turn is None and is_fresh and not await self._on_new(message, room):
            turn = await turns.of_message(message.place, message.id)
        if turn is None:
            return
        text = question_in(message)
        if not text or text == turn.question or turn.state == "withdrawn":
            return
        settings = await self.admission.place_settings(message)
        if not is_fresh and not runs.is_running(turn.id):
            return
        try:
            await self.runner.budget.spend("question", message.person, message.place, room.directory)
        except NotAllowed as error:
            sentence = sentence_of(error, language_of(text, message.person))
            await self.notifier.try_to_send(room, message.person, sentence)
            return
        while True:
            await runs.interrupt_and_wait(turn.id, "edited")
            turn = await turns.find(turn.id) or turn
            if not runs.is_running(turn.id):
                break
        turn = replace(turn, question=text, attempts=1)
        await self.runner.repeat(turn, message, room, TurnOptions(settings=settings))

    async def _on_deleted(self, event: MessageDeleted, room: Room) -> None:
        turn = await self.turns.of_message(event.place, event.id)
        if turn is None:
            await self.attachments.forget(event.place, event.id)
            return
        await self.experts.withdraw_of(turn.id)
        await self.runner.runs.interrupt_and_wait(turn.id, "deleted")
        await self.runner.withdraw(await self.turns.find(turn.id) or turn, room)
