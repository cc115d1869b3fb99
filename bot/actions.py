"""The buttons under answers. What a button brings back is not trusted: it is held against the turn and the place it is of."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot import checking
from bot.files.receiving import identity, mark
from bot.files.uploads import progress
from bot.port import ChatError, IncomingMessage, Reply
from bot.sentences import language_of, say
from rag_engine.media_types import shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.files.taken_files import TakenFile
    from bot.port import Action, Attachment, Room
    from bot.running import Runs
    from bot.sentences.names import Sentence
    from bot.serving import Parts, Show
    from bot.turns import ChatTurn, Turns

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One press of a button and what it is dealt with by."""

    action: Action
    room: Room
    parts: Parts
    runs: Runs
    show: Show

    @property
    def language(self) -> str:
        """That of whoever pressed it."""
        return language_of("", self.action.person)

    def say(self, name: Sentence, /, **values: object) -> str:
        """A sentence in that language."""
        return say(name, self.language, **values)

    def telling(self, name: Sentence, /, **values: object) -> Reply:
        """The sentence as a reply."""
        return Reply(text=self.say(name, **values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The turn is to be dealt with once more, as if `message` had come."""

    turn: ChatTurn
    message: IncomingMessage
    listens: bool


async def goes_on(action: Action, turns: Turns) -> bool:
    """Whether the button had its effect already: the answer that it asked for again is gone on with by itself."""
    turn = await turns.find(action.value.partition(":")[0]) if action.name == "regenerate" else None
    return turn is not None and turn.unfinished


async def press(context: Context) -> Reply | Again | None:
    """Do what the button says: what the person alone is told, or None. Raises `NotAllowed`."""
    turn = await _turn(context)
    if turn is None:
        return context.telling("too_old")
    return await _ACTS[context.action.name](context, turn)


async def _turn(context: Context) -> ChatTurn | None:
    """The turn that the button is of, if it stands where it was put."""
    action = context.action
    turn = await context.parts.turns.find(action.value.partition(":")[0])
    if turn is None or turn.state == "withdrawn":
        return None
    here = (action.place.platform, action.place.workspace, action.place.channel)
    if here != (turn.place.platform, turn.place.workspace, turn.place.channel):
        return None
    if turn.private:
        return turn if action.person.id == turn.person.id else None
    if action.name == "sources" and checking.turns_page(action.value):
        return turn  # it stands under passages that somebody alone was shown; they are checked again
    return turn if action.message in turn.messages else None


async def _stop(context: Context, turn: ChatTurn) -> Reply | None:
    action = context.action
    await context.parts.access.check(
        action.person, turn.place, context.room.directory, act="stop", asker=turn.person.id
    )
    if context.runs.interrupt(turn.id, "stopped"):
        return None
    return context.telling("not_running")


async def _regenerate(context: Context, turn: ChatTurn) -> Reply | Again | None:
    if context.runs.is_running(turn.id):
        return context.telling("still_running")
    message = IncomingMessage(
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
    unsettled = [file for file in await context.parts.taken.of_turn(turn) if not file.settled]
    if unsettled or not turn.question:
        brought = await _fetched(context, turn)
        if brought is None and not turn.question:
            return context.telling("too_old")
        if brought is not None:
            about = "" if brought.id == turn.message else brought.id
            message = replace(
                message, attachments=brought.attachments, in_thread=brought.in_thread, about=about
            )
    return Again(turn=turn, message=message, listens=bool(turn.place.thread))


async def _fetched(context: Context, turn: ChatTurn) -> IncomingMessage | None:
    """The question as it stands in the chat, with its files; one that has words can do without."""
    try:
        return await context.room.fetch(turn.uri) if turn.uri else None
    except ChatError as error:
        if not turn.question:
            raise
        _log.warning("the files of a question could not be looked up again: %s", error)
        return None


async def _sources(context: Context, turn: ChatTurn) -> Reply:
    if not turn.citations:
        return context.telling("no_sources")
    return await context.parts.passages_of(turn, context.action, context.room)


async def _feedback(context: Context, turn: ChatTurn) -> Reply:
    rating = context.action.value.rpartition(":")[2]
    if rating == "up":
        await context.parts.turns.rate(turn, context.action.person.id, "up")
    elif rating == "down":
        await context.parts.turns.rate(turn, context.action.person.id, "down")
    else:
        return context.telling("unknown_button")
    return context.telling("thanks")


async def _promote(context: Context, turn: ChatTurn) -> Reply:
    """Move a thread's file to the channel's knowledge base."""
    wanted = context.action.value.rpartition(":")[2]
    files = await context.parts.taken.of_turn(turn)
    file = next((file for file in files if mark(file.attachment) == wanted), None)
    if file is None:
        return context.telling("too_old")
    channel = file.place.parent
    await context.parts.access.check(context.action.person, channel, context.room.directory, act="administer")
    name = shown(file.name)
    if not file.place.thread:
        return context.telling("promoted_here", name=name)
    attachment = await _attachment(context, file)
    if attachment is None:
        return context.telling("promoted_gone", name=name)
    base = await context.parts.audiences.own(channel)
    (taken,) = await context.parts.uploads.take(
        [replace(attachment, uri=file.source or attachment.uri)],
        knowledge_base=base.id,
        show=lambda lines: context.show(progress(lines)),
        language=context.language,
    )
    if taken.record is None or not taken.searchable:
        return Reply(text=taken.line)
    moved = replace(file, place=channel, knowledge_base=base.id, document=taken.record.document.id)
    await context.parts.taken.move(file, moved)
    if file.document:
        await context.parts.forget_document(file.knowledge_base, file.document)
    return context.telling("promoted", name=name)


async def _attachment(context: Context, file: TakenFile) -> Attachment | None:
    """The file again, from the message that brought it."""
    message = await context.room.fetch(file.uri) if file.uri else None
    attachments = message.attachments if message else ()
    return next((found for found in attachments if identity(found) == file.attachment), None)


_ACTS: Final[dict[str, Callable[[Context, ChatTurn], Awaitable[Reply | Again | None]]]] = {
    "stop": _stop,
    "regenerate": _regenerate,
    "sources": _sources,
    "feedback": _feedback,
    "promote": _promote,
}
NAMES: Final = frozenset(_ACTS)
"""The buttons that are dealt with here."""
SLOW: Final = frozenset({"sources", "promote"})
"""Those that take a while, and always end in a reply."""
