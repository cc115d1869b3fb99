"""Each command and button runs once. After a restart, an interrupted one is repeated or its person notified."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.commands import about, research, table
from bot.commands.ask_filters import filtered_question
from bot.commands.parser import parse
from bot.commands.setting_values import model_label
from bot.commands.specs import QUESTIONS
from bot.conversation.dependencies import FollowedReply
from bot.conversation.interactions import buttons
from bot.conversation.interactions.buttons import ButtonPress, ChosenQuestion, RepeatTurn
from bot.conversation.turn.context import TurnOptions
from bot.conversation.turn.view import CHOSEN
from bot.conversation.versions import AnswerVersion
from bot.messages import language_of, say
from bot.messages.errors import sentence_of
from bot.port import ChatError, IncomingMessage, Reply
from bot.rendering.literal import literal_sentence
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.conversation.admission import Admission
    from bot.conversation.dependencies import Commands, Show
    from bot.conversation.interactions.buttons import AnswerButtons
    from bot.conversation.recovery import Recovery
    from bot.conversation.turn.recorder import FailureTraces
    from bot.conversation.turn.runner import TurnRunner
    from bot.port import Action, Command, Form, Person, Place, Room
    from bot.store.processed_interactions import ProcessedInteractions
    from bot.store.turns import Turns
    from bot.streaming.message_stream import MessageStream
    from bot.streaming.notifier import Notifier
    from bot.streaming.scheduler import Scheduler

_STATUS_AFTER_SECONDS = 0.5
_FILES_SECONDS = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactions:
    processed: ProcessedInteractions
    turns: Turns
    commands: Commands
    answer_buttons: AnswerButtons
    scheduler: Scheduler
    notifier: Notifier
    admission: Admission
    runner: TurnRunner
    recovery: Recovery
    failures: FailureTraces
    _running: set[tuple[Place, str]] = field(default_factory=set["tuple[Place, str]"], init=False)

    async def run_command(self, command: Command, room: Room) -> None:
        name = command.name.split()[0].lstrip("/").casefold()
        if name in QUESTIONS:
            await self._ask(command, room, name=name)
            return

        async def run(*, interrupted: bool) -> None:
            if interrupted:
                await self._notify_restart(command.person, room)
            else:
                await self._execute(command, room)

        await self._once(command.place, f"command:{command.id}", run)

    async def form(self, action: Action, room: Room) -> Form | None:
        found = await self.answer_buttons.form(action, room)
        return found or await self.commands.form(action, room)

    async def press_button(self, action: Action, room: Room) -> None:

        async def run(*, interrupted: bool) -> None:
            if interrupted and action.name not in buttons.NAMES:
                await self._notify_restart(action.person, room)
            elif not (interrupted and await self.answer_buttons.is_done(action)):
                await self._press(action, room)

        if action.id:
            await self._once(action.place, f"action:{action.id}", run)
        else:
            await run(interrupted=False)

    async def _once(self, place: Place, event: str, run: Callable[..., Awaitable[None]]) -> None:
        key = place.parent, event
        if key in self._running:
            return
        self._running.add(key)
        try:
            progress = await self.processed.begin(place, event)
            if progress == "finished":
                return
            try:
                await run(interrupted=progress == "started")
            except Exception:
                await self._finish(place, event)
                raise
            await self._finish(place, event)
        finally:
            self._running.discard(key)

    async def _finish(self, place: Place, event: str) -> None:
        try:
            await self.processed.finish(place, event)
        except RagError as error:
            _log.warning("a handled command or button could not be recorded: %s", error)

    async def _notify_restart(self, person: Person, room: Room) -> None:
        await self.notifier.try_to_send(room, person, say("restarted", language_of("", person)))

    async def _ask(self, command: Command, room: Room, *, name: str) -> None:
        values = parse(command).values
        message = IncomingMessage(
            id=f"command:{command.id}",
            place=command.place,
            person=command.person,
            text=_as_stored(filtered_question(values), name),
            private=values.get("where") != "channel",
            in_thread=bool(command.place.thread),
            at=time.time(),
            handle=command.handle,
        )
        known = await self.turns.of_message(message.place, message.id)
        if known is not None:
            await self.recovery.resume_redelivered(known, message, room)
            return
        model = values.get("model", "")
        options = TurnOptions(
            settings=await self.admission.place_settings(message),
            model=model and model_label(model, list(self.runner.answers.engine.choices)),
            scope=values.get("scope", ""),
        )
        await self.runner.start(message, room, options)

    async def _execute(self, command: Command, room: Room) -> None:
        async def execute(show: Show) -> Reply | None:
            return await self.commands.execute(command, room, show)

        await self._show_reply(execute, command.person, command.place, room)

    async def _press(self, action: Action, room: Room) -> None:
        if action.name in buttons.NAMES:
            await self._press_answer_button(action, room)
            return

        async def press(show: Show) -> Reply | None:
            reply = await self.commands.press(action, room, show)
            return reply or Reply(text=say("unknown_button", language_of("", action.person)))

        posted = (action.message,) if action.message else ()
        await self._show_reply(press, action.person, action.place, room, posted=posted)

    async def _press_answer_button(self, action: Action, room: Room) -> None:
        repeated: list[RepeatTurn] = []
        chosen: list[ChosenQuestion] = []
        versions: list[AnswerVersion] = []

        async def press(show: Show) -> Reply | FollowedReply | None:
            if action.name == "sources" or action.name == "why":
                await self.runner.budget.spend(action.name, action.person, action.place, room.directory)
            outcome = await self.answer_buttons.press(ButtonPress(action=action, room=room, show=show))
            if isinstance(outcome, ChosenQuestion):
                chosen.append(outcome)
                return None
            if isinstance(outcome, AnswerVersion):
                await self.answer_buttons.versions.activate(outcome)
                versions.append(outcome)
                return None
            if not isinstance(outcome, RepeatTurn):
                return outcome
            await self.runner.budget.spend("repeat", action.person, action.place, room.directory)
            repeated.append(outcome)
            return None

        await self._show_reply(press, action.person, action.place, room, slow=action.name in buttons.SLOW)
        for choice in chosen:
            await self._ask_chosen(choice, action, room)
        for version in versions:
            if not self.runner.runs.is_running(version.turn.id):
                await self.runner.show_version(version, room)
        for repeat in repeated:
            settings = await self.admission.place_settings(repeat.message)
            if not self.runner.runs.is_running(repeat.turn.id):
                turn = replace(repeat.turn, attempts=1)
                options = TurnOptions(
                    settings=settings,
                    reads_thread=bool(turn.place.thread),
                    as_asked=repeat.as_asked,
                    unfiltered=repeat.unfiltered,
                )
                await self.runner.repeat(turn, repeat.message, room, options)

    async def _ask_chosen(self, choice: ChosenQuestion, action: Action, room: Room) -> None:
        place = choice.turn.place
        message = IncomingMessage(
            id=f"{CHOSEN}{action.id}",
            place=place,
            person=action.person,
            text=choice.question,
            private=choice.turn.private,
            in_thread=bool(place.thread),
            at=time.time(),
        )
        known = await self.turns.of_message(place, message.id)
        if known is not None:
            await self.recovery.resume_redelivered(known, message, room)
            return
        settings = await self.admission.place_settings(message)
        await self.runner.start(
            message, room, TurnOptions(settings=settings, reads_thread=bool(place.thread))
        )

    async def _show_reply(
        self,
        work: Callable[[Show], Awaitable[Reply | FollowedReply | None]],
        person: Person,
        place: Place,
        room: Room,
        *,
        posted: tuple[str, ...] = (),
        slow: bool = True,
    ) -> None:
        language = language_of("", person)
        outlet = room.outlet(private=person, posted=posted)
        async with self.scheduler.open(outlet, posted=posted) as stream:
            status = Reply(status=say("working", language))
            timer = asyncio.get_running_loop().call_later(_STATUS_AFTER_SECONDS, stream.show, status)
            if not slow:
                timer.cancel()

            def show(reply: Reply) -> None:
                timer.cancel()
                stream.show(reply)

            try:
                reply = await work(show)
            except Exception as error:
                await self.failures.note_interaction(place, error)
                reply = Reply(text=literal_sentence(sentence_of(error, language)))
            finally:
                timer.cancel()
            if isinstance(reply, FollowedReply):
                await stream.finish(reply.reply)
                await _add_files(stream, reply)
            elif reply is not None:
                await stream.finish(reply)


async def _add_files(stream: MessageStream, reply: FollowedReply) -> None:
    try:
        files = await reply.files()
        async with asyncio.timeout(_FILES_SECONDS):
            if files:
                await stream.finish(replace(reply.reply, files=files))
    except (ChatError, RagError, TimeoutError) as error:
        _log.warning("files were left out of a reply: %s", str(error) or "the platform took too long")


def _as_stored(question: str, command: str) -> str:
    if command == about.NAME:
        return about.about_question(question)
    if command == table.NAME:
        return table.table_question(question)
    return research.research_question(question) if command == research.NAME else question
