"""Values are not trusted, but compared with the stored turn."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from bot.commands.research import research_question
from bot.conversation.experts import gap_requests
from bot.conversation.experts.expert_buttons import BY_REQUEST, OFFER
from bot.conversation.sources import sources_view
from bot.files.uploads import progress
from bot.messages import language_of, say
from bot.observability.operations import Feedback
from bot.port import Button, ChatError, Form, IncomingMessage, Reply
from bot.rendering.literal import literal, literal_sentence
from bot.store.message_files import attachment_key
from rag_engine.parsing.media_types import shown
from rag_engine.web import addresses

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.conversation.concurrency import Runs
    from bot.conversation.dependencies import (
        AudienceLookup,
        FollowedReply,
        ForgetDocument,
        PermissionChecks,
        Show,
        ShowExplanation,
        ShowSources,
    )
    from bot.conversation.experts.expert_buttons import ExpertButtons
    from bot.conversation.experts.gap_requests import GapRequests
    from bot.conversation.interactions.verified_answers import VerifiedSaves
    from bot.conversation.versions import AnswerVersion, AnswerVersions
    from bot.files.uploads import Uploads
    from bot.messages.names import Sentence
    from bot.observability import Observers
    from bot.port import Action, Attachment, Room
    from bot.store.message_files import MessageFile, MessageFiles
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.types import DocumentId

Pressed: TypeAlias = "Reply | FollowedReply | RepeatTurn | ChosenQuestion | AnswerVersion | None"
_REPEATING: Final = frozenset({"regenerate", "own_words", "without_filter"})

FORM_REASON: Final = "form_reason"
LONGEST_NOTE: Final = 2_000
REASONS: Final[dict[str, Sentence]] = {
    "wrong": "reason_wrong",
    "outdated": "reason_outdated",
    "off_topic": "reason_off_topic",
    "source": "reason_source",
    "other": "reason_other",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    action: Action
    room: Room
    show: Show

    @property
    def language(self) -> str:
        return language_of("", self.action.person)

    def say(self, name: Sentence, /, **values: object) -> str:
        return say(name, self.language, **values)

    def reply(self, name: Sentence, /, **values: object) -> Reply:
        return Reply(text=self.say(name, **values))


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatTurn:
    turn: ChatTurn
    message: IncomingMessage
    as_asked: bool = False
    unfiltered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenQuestion:
    turn: ChatTurn
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerButtons:
    turns: Turns
    files: MessageFiles
    permissions: PermissionChecks
    audiences: AudienceLookup
    uploads: Uploads
    runs: Runs
    versions: AnswerVersions
    show_sources: ShowSources
    show_explanation: ShowExplanation
    forget_document: ForgetDocument
    observers: Observers
    verified: VerifiedSaves
    experts: ExpertButtons
    gaps: GapRequests

    async def is_done(self, action: Action) -> bool:
        turn = await self._named_turn(action) if action.name in _REPEATING else None
        return turn is not None and turn.unfinished

    async def press(self, press: ButtonPress) -> Pressed:
        """A reply for the person alone, or what to do with the turn. Raises `NotAllowed`."""
        if press.action.name == SAVE_VERIFIED:
            return await self.verified.save_message(press)
        if press.action.name in BY_REQUEST:
            return await self.experts.press(press)
        if press.action.name in gap_requests.BUTTONS:
            return await self.gaps.press(press)
        turn = await self._turn(press.action)
        if turn is None:
            return press.reply("too_old")
        person, directory = press.action.person, press.room.directory
        await self.permissions.check_present(person, turn.place, directory)
        return await _HANDLERS[press.action.name](self, press, turn)

    async def _named_turn(self, action: Action) -> ChatTurn | None:
        return await self.turns.find(action.value.partition(":")[0])

    async def _turn(self, action: Action) -> ChatTurn | None:
        turn = await self._named_turn(action)
        if turn is None or turn.state == "withdrawn":
            return None
        place = (action.place.platform, action.place.workspace, action.place.channel)
        if place != (turn.place.platform, turn.place.workspace, turn.place.channel):
            return None
        if turn.private:
            return turn if action.person.id == turn.person.id else None
        if action.name in PRIVATE_VIEWS and sources_view.turns_page(action.value):
            return turn
        if action.name in FOLLOWING:
            return turn
        return turn if action.message in turn.messages else None

    async def stop(self, press: ButtonPress, turn: ChatTurn) -> Reply | None:
        person, directory = press.action.person, press.room.directory
        await self.permissions.check(person, turn.place, directory, act="stop", asker=turn.person.id)
        if self.runs.interrupt(turn.id, "stopped"):
            return None
        return press.reply("not_running")

    async def regenerate(self, press: ButtonPress, turn: ChatTurn) -> Reply | RepeatTurn | None:
        if self.runs.is_running(turn.id):
            return press.reply("still_running")
        message = _question(turn)
        unsettled = [file for file in await self.files.of_turn(turn) if not file.settled]
        if unsettled or not turn.question:
            original = await _fetch_question(press, turn)
            if original is None and not turn.question:
                return press.reply("too_old")
            if original is not None:
                about = "" if original.id == turn.message else original.id
                message = replace(
                    message, attachments=original.attachments, in_thread=original.in_thread, about=about
                )
        return RepeatTurn(turn=turn, message=message)

    async def previous_version(self, press: ButtonPress, turn: ChatTurn) -> Reply | AnswerVersion:
        return await self._version(press, turn, -1)

    async def next_version(self, press: ButtonPress, turn: ChatTurn) -> Reply | AnswerVersion:
        return await self._version(press, turn, 1)

    async def _version(self, press: ButtonPress, turn: ChatTurn, step: int) -> Reply | AnswerVersion:
        if self.runs.is_running(turn.id):
            return press.reply("still_running")
        return await self.versions.beside(turn, step, press.room) or press.reply("version_gone")

    async def own_words(self, press: ButtonPress, turn: ChatTurn) -> Reply | RepeatTurn | None:
        found = await self.regenerate(press, turn)
        return replace(found, as_asked=True) if isinstance(found, RepeatTurn) else found

    async def without_filter(self, press: ButtonPress, turn: ChatTurn) -> Reply | RepeatTurn | None:
        found = await self.regenerate(press, turn)
        return replace(found, unfiltered=True) if isinstance(found, RepeatTurn) else found

    async def sources(self, press: ButtonPress, turn: ChatTurn) -> Reply | FollowedReply:
        if not turn.citations:
            return press.reply("no_sources")
        return await self.show_sources(turn, press.action, press.room)

    async def choice(self, press: ButtonPress, turn: ChatTurn) -> Reply | ChosenQuestion:
        number = press.action.value.rpartition(":")[2]
        chosen = {str(number): text for number, text in enumerate(turn.choices, 1)}.get(number)
        return ChosenQuestion(turn=turn, question=chosen) if chosen else press.reply("too_old")

    async def dig_deeper(self, press: ButtonPress, turn: ChatTurn) -> ChosenQuestion:
        return ChosenQuestion(turn=turn, question=research_question(turn.question))

    async def why(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        return await self.show_explanation(turn, press.action, press.room)

    async def feedback(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        rating = press.action.value.rpartition(":")[2]
        if rating != "up" and rating != "down":
            return press.reply("unknown_button")
        operation = Feedback(platform=turn.place.platform, rating=rating, kinds=_cited_kinds(turn))
        with self.observers.around(operation):
            await self.turns.rate(turn, press.action.person.id, rating)
        if rating == "down":
            buttons = (*_reasons(press, turn), *await self.experts.button(press, turn))
            return replace(press.reply("feedback_why"), buttons=buttons)
        return replace(press.reply("thanks"), buttons=await self.verified.button(press, turn))

    async def ask_expert(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        return await self.experts.offer(press, turn)

    async def send_to_experts(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        return await self.experts.send(press, turn)

    async def withdraw_from_experts(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        return await self.experts.withdraw(press, turn)

    async def reason(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        reason = press.action.value.rpartition(":")[2]
        if reason not in REASONS:
            return press.reply("unknown_button")
        note = press.action.text.strip()[:LONGEST_NOTE]
        operation = Feedback(
            platform=turn.place.platform, rating="down", reason=reason, kinds=_cited_kinds(turn)
        )
        with self.observers.around(operation):
            known = await self.turns.explain_rating(turn, press.action.person.id, reason, note=note)
        thanks = "feedback_more" if reason == "other" and not note else "thanks"
        return press.reply(thanks if known else "too_old")

    async def form(self, action: Action, room: Room) -> Form | None:
        """To say what was wrong. None for those who may not."""
        turn = await self._turn(action) if action.name == FORM_REASON else None
        if turn is None:
            return None
        await self.permissions.check_present(action.person, turn.place, room.directory)
        language = language_of("", action.person)
        return Form(
            title=say("reason_other", language),
            label=say("feedback_why", language),
            submit=say("expert_send", language),
        )

    async def verify(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        return await self.verified.save_answer(press, turn)

    async def promote(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        mark = press.action.value.rpartition(":")[2]
        file = next((file for file in await self.files.of_turn(turn) if file.mark == mark), None)
        if file is None:
            return press.reply("too_old")
        channel, person = file.place.parent, press.action.person
        await self.permissions.check(person, channel, press.room.directory, act="administer")
        name = literal(shown(file.name))
        if not file.place.thread:
            return press.reply("promoted_here", name=name)
        attachment = await _fetch_attachment(press, file)
        if attachment is None:
            return press.reply("promoted_gone", name=name)
        base = await self.audiences.own(channel)
        (result,) = await self.uploads.add(
            [replace(attachment, uri=file.source or attachment.uri)],
            knowledge_base=base.id,
            show=lambda lines: press.show(progress(lines)),
            language=press.language,
        )
        if result.record is None or not result.searchable:
            return Reply(text=literal_sentence(result.line))
        moved = replace(file, place=channel, knowledge_base=base.id, document=result.record.document.id)
        await self.files.move(file, moved)
        if file.document:
            await self.forget_document(file.knowledge_base, file.document)
        return press.reply("promoted", name=name)


def _reasons(press: ButtonPress, turn: ChatTurn) -> tuple[Button, ...]:
    return tuple(
        Button(
            name=FORM_REASON if name == "other" else "reason",
            label=press.say(label),
            value=f"{turn.id}:{name}",
        )
        for name, label in REASONS.items()
    )


def _cited_kinds(turn: ChatTurn) -> frozenset[str]:
    kinds = {_kind(each.document) for each in turn.citations}
    return frozenset(kinds or {"nothing"})


def _kind(document: DocumentId) -> str:
    if document.startswith(addresses.DOCUMENT):
        return "web"
    return "messages" if document.startswith(addresses.MESSAGE) else "documents"


def _question(turn: ChatTurn) -> IncomingMessage:
    return IncomingMessage(
        id=turn.message,
        place=turn.place,
        person=turn.person,
        text=turn.question,
        addressed=False,
        by_bot=turn.by_bot,
        private=turn.private,
        uri=turn.uri,
        at=turn.asked_at,
    )


async def _fetch_question(press: ButtonPress, turn: ChatTurn) -> IncomingMessage | None:
    try:
        return await press.room.fetch(turn.uri) if turn.uri else None
    except ChatError as error:
        if not turn.question:
            raise
        _log.warning("the files of a question could not be fetched again: %s", error)
        return None


async def _fetch_attachment(press: ButtonPress, file: MessageFile) -> Attachment | None:
    message = await press.room.fetch(file.uri) if file.uri else None
    attachments = message.attachments if message else ()
    return next((found for found in attachments if attachment_key(found) == file.attachment), None)


_HANDLERS: Final[
    dict[
        str,
        Callable[[AnswerButtons, ButtonPress, ChatTurn], Awaitable[Pressed]],
    ]
] = {
    "stop": AnswerButtons.stop,
    "regenerate": AnswerButtons.regenerate,
    "previous_version": AnswerButtons.previous_version,
    "next_version": AnswerButtons.next_version,
    "own_words": AnswerButtons.own_words,
    "without_filter": AnswerButtons.without_filter,
    "sources": AnswerButtons.sources,
    "why": AnswerButtons.why,
    "choice": AnswerButtons.choice,
    "dig_deeper": AnswerButtons.dig_deeper,
    "feedback": AnswerButtons.feedback,
    "promote": AnswerButtons.promote,
    "verify": AnswerButtons.verify,
    "reason": AnswerButtons.reason,
    FORM_REASON: AnswerButtons.reason,
    OFFER: AnswerButtons.ask_expert,
    "expert_send": AnswerButtons.send_to_experts,
    "expert_withdraw": AnswerButtons.withdraw_from_experts,
}
SAVE_VERIFIED: Final = "save_verified"
"""What people choose on any message; its value is the permalink."""
FOLLOWING: Final = frozenset({"verify", "reason", FORM_REASON, OFFER, "expert_send", "expert_withdraw"})
"""Buttons of private replies to a press."""
NAMES: Final = frozenset({*_HANDLERS, *BY_REQUEST, *gap_requests.BUTTONS, SAVE_VERIFIED})
PRIVATE_VIEWS: Final = frozenset({"sources", "why"})
SLOW: Final = PRIVATE_VIEWS | {
    "promote",
    "verify",
    SAVE_VERIFIED,
    OFFER,
    "expert_send",
    *gap_requests.BUTTONS,
}
