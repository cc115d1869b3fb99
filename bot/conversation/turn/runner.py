"""Every failure becomes one sentence, in the chat or to the asker alone."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.conversation import triggers
from bot.conversation.concurrency import Interrupted, QueueFull, Runs, TurnQueue
from bot.conversation.newcomers.small_talk import REPLIES, question_in, small_talk
from bot.conversation.turn.answer_writer import NothingToSay
from bot.conversation.turn.context import TurnContext, queue_key
from bot.conversation.turn.recorder import TurnRecorder
from bot.conversation.turn.view import TurnView, regenerate_button
from bot.files.uploads import listed
from bot.messages import language_of
from bot.messages.errors import sentence_of
from bot.observability import log, turn_log
from bot.port import ChatError, Reply
from bot.rendering.literal import literal_sentence
from bot.store.turns import ChatTurn
from rag_engine.errors import RagError, UserError

if TYPE_CHECKING:
    from bot.access.question_budget import QuestionBudget
    from bot.conversation.concurrency import Run
    from bot.conversation.dependencies import ForgetTurn, PermissionChecks
    from bot.conversation.read_aloud import ReadAloud
    from bot.conversation.turn.answer_writer import AnswerWriter
    from bot.conversation.turn.attachments import AttachmentIntake
    from bot.conversation.turn.context import TurnOptions
    from bot.conversation.turn.recorder import FailureTraces
    from bot.conversation.turn.voice_messages import VoiceMessages
    from bot.conversation.versions import AnswerVersion
    from bot.observability import Observers
    from bot.port import IncomingMessage, Room
    from bot.store.turns import Turns
    from bot.streaming.message_stream import MessageStream
    from bot.streaming.notifier import Notifier
    from bot.streaming.scheduler import Scheduler

_SHUTDOWN_SECONDS = 5.0
"""Short, because service managers soon kill us."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    message: IncomingMessage
    room: Room
    options: TurnOptions
    run: Run

    @property
    def language(self) -> str:
        message = self.message
        return language_of(message.text, message.person, chosen=self.options.settings.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRunner:
    """One per process: it knows all running turns."""

    turns: Turns
    permissions: PermissionChecks
    scheduler: Scheduler
    observers: Observers
    notifier: Notifier
    attachments: AttachmentIntake
    answers: AnswerWriter
    forget_turn: ForgetTurn
    failures: FailureTraces
    queue: TurnQueue
    budget: QuestionBudget
    read_aloud: ReadAloud
    voices: VoiceMessages
    runs: Runs = field(default_factory=Runs)

    async def start(self, message: IncomingMessage, room: Room, options: TurnOptions) -> bool:
        """False if another delivery claimed the message."""
        turn = ChatTurn(
            place=message.place,
            message=message.id,
            person=message.person,
            uri=message.uri,
            private=message.private,
            by_bot=message.by_bot,
            question=question_in(message),
            asked_at=message.at or time.time(),
            handle=message.handle,
            unprompted=options.unprompted,
            about=message.about,
            model=options.model,
            scope=options.scope,
        )
        # Before the claim is visible: an edit must find a run to interrupt.
        self.runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        claimed = False
        try:
            claimed = await self.turns.claim(turn)
            await self.turns.note_authors(turn.place, {message.about: message.author})
        except RagError as error:
            sentence = sentence_of(error, language_of("", message.person))
            await self.notifier.try_to_send(room, message.person, sentence)
            return True
        finally:
            if not claimed:
                self.runs.end(turn.id)
        if claimed:
            await self._run(turn, message, room, options)
        return claimed

    async def repeat(
        self, turn: ChatTurn, message: IncomingMessage, room: Room, options: TurnOptions
    ) -> None:
        state = "placeholder" if turn.messages else "received"
        turn = replace(turn, starts=turn.starts + 1, state=state)
        await self._run(turn, message, room, options)

    async def close(self, recorder: TurnRecorder, run: Run, room: Room, sentence: str, language: str) -> None:
        reply = Reply(text=literal_sentence(sentence), buttons=(regenerate_button(recorder.turn, language),))
        try:
            async with self._open_stream(room, recorder, run) as stream:
                run.make_uninterruptible()
                await stream.finish(reply)
        except ChatError as error:
            _log.warning("the end of an answer could not be written: %s", error)
        await recorder.save("failed")

    async def show_version(self, version: AnswerVersion, room: Room) -> None:
        turn = version.turn
        await self.answers.follow_ups.cancel(turn.id)
        run = self.runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        recorder = TurnRecorder(self.turns, turn)
        try:
            await recorder.save()
            async with self._open_stream(room, recorder, run) as stream:
                language = language_of(turn.question, turn.person)
                view = TurnView(stream=stream, run=run, recorder=recorder, language=language, is_quiet=True)
                await view.finish(version.reply(view), "final")
        finally:
            self.runs.end(turn.id)

    async def withdraw(self, turn: ChatTurn, room: Room) -> None:
        """With its history and its files."""
        # An empty id: a message may exist.
        messages = turn.messages or (("",) if turn.unfinished else ())
        # A restart continues until the messages are gone.
        await self.answers.follow_ups.cancel(turn.id)
        withdrawn = replace(turn, state="withdrawn", question="", citations=(), choices=(), messages=messages)
        await self.turns.save(withdrawn)
        for identity in {*turn.versions, turn.turn or turn.engine_turn, turn.engine_turn}:
            await self.forget_turn(identity)
        try:
            await self.attachments.forget(turn.place, turn.message)
        finally:
            posted = [message for message in messages if message]
            await self.scheduler.withdraw(room.outlet(posted=posted), messages)
        await self.turns.save(replace(withdrawn, turn=None, messages=()))

    async def _run(self, turn: ChatTurn, message: IncomingMessage, room: Room, options: TurnOptions) -> None:
        await self.answers.follow_ups.cancel(turn.id)
        run = self.runs.begin(turn.id, place=turn.place, asker=turn.person.id)
        question = _Question(message=message, room=room, options=options, run=run)
        with turn_log.opened(turn, self.observers) as opened:
            recorder = TurnRecorder(self.turns, turn, opened)
            try:
                await self._answer(question, recorder)
            except BrokenPipeError:
                raise
            except Exception as error:
                await self._report(question, recorder, error)
            finally:
                self.runs.end(turn.id)
                await self.failures.note_turn(recorder)

    async def _answer(self, question: _Question, recorder: TurnRecorder) -> None:
        turn, room, options = recorder.turn, question.room, question.options
        message, voices = (
            replace(question.message, attachments=question.message.files),
            question.message.voices,
        )
        if turn.starts > 1:
            await recorder.save()  # first: a restart must find it unfinished
        await self.permissions.admit_person(message.person, turn.place, room.directory)
        if turn.starts == turn.attempts == 1 and (turn.question or not message.attachments):
            await self.budget.spend("question", message.person, turn.place, room.directory)
        permitted, files_place = await self.attachments.prepare(
            message, room, recorder, unprompted=options.unprompted or options.quiet
        )
        question.run.place = recorder.turn.place
        if message.attachments and not (permitted.attachments or turn.question):
            await recorder.save("failed")
            return
        async with self._open_stream(room, recorder, question.run) as stream:
            view = TurnView(
                stream=stream,
                run=question.run,
                recorder=recorder,
                language=question.language,
                is_quiet=options.unprompted or options.quiet,
            )
            context = TurnContext(
                message=permitted,
                room=room,
                files_place=files_place,
                options=options,
                recorder=recorder,
                view=view,
                voices=voices,
            )
            await self._reply_or_explain(context, question.run)
        if (options.unprompted or options.quiet) and recorder.turn.messages:
            await recorder.save(place=await room.open_thread())

    async def _report(self, question: _Question, recorder: TurnRecorder, error: Exception) -> None:
        recorder.error = type(error).__name__
        sentence = sentence_of(error, question.language)
        if question.options.unprompted and not recorder.turn.messages:
            _log.warning("an unprompted answer failed: %s", type(error).__name__)
            await recorder.save("failed")
        elif recorder.turn.attempts > 1:  # else the last process's placeholder would stay
            await self.close(recorder, question.run, question.room, sentence, question.language)
        else:
            await recorder.save("failed")
            await self.notifier.try_to_send(question.room, question.message.person, sentence)

    def _open_stream(self, room: Room, recorder: TurnRecorder, run: Run) -> MessageStream:
        turn = recorder.turn
        return self.scheduler.open(
            room.outlet(private=turn.person if turn.private else None, posted=turn.messages),
            posted=turn.messages,
            on_posted=recorder.save_messages,
            on_stopped=lambda: run.interrupt("stopped"),
            on_write=recorder.turn_log.count_write,
        )

    async def _reply_or_explain(self, context: TurnContext, run: Run) -> None:
        view = context.view
        turn = context.recorder.turn

        def show_queue(number: int) -> None:
            view.show_status(view.say("queued", count=number))

        def show_busy(number: int) -> None:
            view.show_status(view.say("busy", number=number))

        try:
            async with run.interruptible():
                if await self._chats(context):
                    return
                looking = view.say("looking")
                await context.room.show_activity(title=context.recorder.turn.question, status=looking)
                view.show_status(looking)
                async with self.queue.turn(
                    queue_key(turn), place=turn.place.parent, on_wait=show_queue, on_busy=show_busy
                ):
                    await self._reply(context)
        except Interrupted as interruption:
            if interruption.reason == "stopped":
                await view.finish(view.incomplete(view.say("stopped")), "stopped")
        except NothingToSay:
            await self._drop(context)
        except asyncio.CancelledError:
            await _finish_at_shutdown(view)
            raise
        except BrokenPipeError:
            raise
        except QueueFull as full:
            sentence = view.say("all_full" if full.everywhere else "queue_full", count=full.waiting)
            await self._fail(context, UserError(sentence))
        except Exception as error:
            await self._fail(context, error)

    async def _reply(self, context: TurnContext) -> None:
        context = await self.voices.hear(context)
        recorder, view = context.recorder, context.view
        if context.view.heard and await self._chats(context):
            return
        is_bare = not recorder.turn.question and not context.message.attachments
        if context.reads_thread or is_bare:
            context = await self.attachments.read_earlier(context)
        if is_bare:
            context = await self.attachments.use_previous_message(context)
        await self.attachments.add_files(context)
        if triggers.is_new_topic(recorder.turn.question) and not context.message.attachments:
            await self.answers.start_over(context)
        elif triggers.is_read_aloud(recorder.turn.question) and not context.message.attachments:
            await self._read_aloud(context)
        elif recorder.turn.question:
            await self.answers.write(context)
        elif view.file_lines:
            await self._finish_files(context)
        else:
            await view.finish(Reply(text=view.say("help")), "final")

    async def _read_aloud(self, context: TurnContext) -> None:
        turn, view = context.recorder.turn, context.view
        view.show_status(view.say("stage_speak"))
        person = turn.person if turn.private else None
        await view.finish(
            await self.read_aloud.here(turn.place, context.room, view.language, person=person), "final"
        )

    async def _chats(self, context: TurnContext) -> bool:
        talk = (
            None
            if context.message.attachments or context.voices
            else small_talk(context.recorder.turn.question)
        )
        if talk is None:
            return False
        view, chosen = context.view, context.options.settings.language
        if talk.languages and not chosen and view.language not in talk.languages:
            view.language = talk.languages[0]
        await view.finish(Reply(text=view.say(REPLIES[talk.kind])), "final")
        return True

    async def _finish_files(self, context: TurnContext) -> None:
        view, quiet = context.view, context.options.quiet
        marked = view.read_files and await context.room.mark_read()
        if quiet and marked and not view.failed_lines:
            await view.stream.withdraw()
            await context.recorder.save("final")
            return
        lines = view.failed_lines if quiet and marked else view.file_lines
        await view.finish(Reply(text=listed(lines), buttons=view.promotions), "final")

    async def _drop(self, context: TurnContext) -> None:
        turn = context.recorder.turn
        context.recorder.turn_log.mark_silent()
        await context.view.stream.withdraw()
        if turn.turn:
            await self.forget_turn(turn.turn)
        await self.turns.drop(turn)
        log.event("kept_silent", platform=turn.place.platform, why="nobody asked, and no file says it")

    async def _fail(self, context: TurnContext, error: Exception) -> None:
        view, recorder = context.view, context.recorder
        recorder.error = type(error).__name__
        sentence = sentence_of(error, view.language)
        if context.options.unprompted and not view.stream.messages:
            await recorder.save("failed")
            return
        try:
            await view.finish(view.incomplete(sentence), "failed")
        except ChatError as problem:
            _log.warning("a message could not be written: %s", problem)
            await recorder.save("failed")
            await self.notifier.try_to_send(context.room, context.message.person, view.say("cannot_post"))


async def _finish_at_shutdown(view: TurnView) -> None:
    """It must not look as if the answer continued."""
    if not view.stream.messages:
        return
    try:
        async with asyncio.timeout(_SHUTDOWN_SECONDS):
            await view.finish(view.incomplete(view.say("interrupted")), "stopped")
    except (ChatError, TimeoutError) as error:
        _log.warning("the end of an interrupted answer could not be written: %s", error)
