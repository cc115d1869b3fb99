"""The files of one turn: which of them, into which knowledge base, and what is said of them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bot import hearing
from bot.failures import sentence_of
from bot.port import Button, Reply
from bot.sentences import language_of
from bot.turns import TakenFile
from bot.uploads import listed
from rag_engine.errors import NotAllowed
from rag_engine.media_types import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.answering import Case, Ledger
    from bot.port import Attachment, IncomingMessage, Place, Room
    from bot.serving import Parts

_MOST_EARLIER_FILES: Final = 10
_EARLIER_MESSAGES: Final = 50
_BUTTONS: Final = 4
"""With the buttons under an answer they still make one row."""
_LABEL_CHARACTERS: Final = 40


async def settled(message: IncomingMessage, room: Room, parts: Parts) -> tuple[IncomingMessage, Place]:
    """The message, and the place that its files belong to; without its files where the person may not add any.

    Files of a thread belong to the thread. Those of a message at the top level belong to its channel, if the person may add to
    that; else to the thread that the answer opens. A refusal is told to the person alone.
    """
    places = [message.place] if message.in_thread else [message.place.parent, message.place]
    if not message.attachments:
        return message, places[0]
    sentence = ""
    for place in dict.fromkeys(places):
        sentence = await _refusal(message, place, room, parts)
        if not sentence:
            return message, place
    names = ", ".join(shown(attachment.name) for attachment in message.attachments)
    async with parts.scheduler.open(room.outlet(private=message.person)) as stream:
        await stream.finish(Reply(text=f"{names}: {sentence}"))
    return replace(message, attachments=()), places[0]


async def settled_where_it_stands(
    message: IncomingMessage, room: Room, parts: Parts, ledger: Ledger, *, unasked: bool
) -> tuple[IncomingMessage, Place]:
    """As `settled`, with the message and its turn where the answer will stand, wherever it was meant to.

    No thread is opened for a message of which nothing is left, and none before there is something to say if nobody asked us.
    """
    turn = ledger.turn
    allowed, home = await settled(message, room, parts)
    refused = bool(message.attachments) and not (allowed.attachments or turn.question)
    opens = not (refused or unasked or turn.private or turn.messages)
    place = await room.settle() if opens else turn.place
    if place != turn.place:
        await ledger.note(place=place)
    if place == message.place:
        return allowed, home
    return await settled(replace(allowed, place=place), room, parts)


async def _refusal(message: IncomingMessage, place: Place, room: Room, parts: Parts) -> str:
    """Why whoever wrote it may not add files there, as one sentence for them alone; empty when they may."""
    try:
        await parts.access.check(message.person, place, room.directory, act="add")
    except NotAllowed as error:
        return sentence_of(error, language_of(message.text, message.person))
    return ""


async def listen(case: Case) -> None:
    """Read what came before the message, unless that was done already."""
    if case.earlier is None:
        case.earlier = await hearing.earlier(case.room, limit=_EARLIER_MESSAGES)


async def take_files(case: Case, parts: Parts, own: Sequence[Attachment]) -> None:
    """Take in the message's own files, and those of its thread that nobody has dealt with yet."""
    place = case.home
    again = bool(case.ledger.turn.messages)
    attachments = await _unknown(own, place, parts) if again else list(own)
    mine = {identity(attachment) for attachment in own}
    earlier = await _unknown(_files_before(case), place, parts)
    earlier = [attachment for attachment in earlier if identity(attachment) not in mine]
    left = len(earlier) - _MOST_EARLIER_FILES
    attachments += earlier[:_MOST_EARLIER_FILES]
    if not attachments:
        return
    if not own and await _refusal(case.message, place, case.room, parts):
        return  # nobody asked for these files to be taken in
    base = await parts.audiences.own(place)
    taken = await parts.uploads.take(
        attachments,
        knowledge_base=base.id,
        show=case.files,
        language=case.language,
    )
    case.taken = tuple(taken)
    case.lines = tuple(file.line for file in taken)
    if left > 0:
        case.lines = (*case.lines, case.say("files_left", count=left))
    await parts.turns.keep_files(
        [
            TakenFile(
                place=place,
                attachment=identity(file.attachment),
                answer=case.ledger.turn.id,
                name=file.attachment.name,
                uri=file.attachment.uri,
                knowledge_base=base.id,
                document=file.record.document.id if file.searchable and file.record else None,
            )
            for file in taken
            if not file.later
        ]
    )


async def finish_files(case: Case) -> None:
    """The last word of a message that only brought files."""
    await case.finish(Reply(text=listed(case.lines), buttons=promotions(case)), "final")


def promotions(case: Case) -> tuple[Button, ...]:
    """A button for each file that a thread has now: whoever may administer the channel can give it to all of it."""
    if not case.home.thread:
        return ()
    return tuple(
        Button(
            name="promote",
            label=case.say("promote", name=_cut(file.attachment.name)),
            value=f"{case.ledger.turn.id}:{mark(identity(file.attachment))}",
        )
        for file in [file for file in case.taken if file.searchable][:_BUTTONS]
    )


def identity(attachment: Attachment) -> str:
    """What the file is known by in its place."""
    return attachment.id or f"{attachment.uri} {attachment.name}"


def mark(identity: str) -> str:
    """A short mark of a file, for a button."""
    return hashlib.sha256(identity.encode()).hexdigest()[:12]


def _files_before(case: Case) -> list[Attachment]:
    """The files of the thread; those of other bots and our own are left aside."""
    if not case.listens or not case.message.addressed or not case.earlier:
        return []
    return [
        attachment
        for said in case.earlier
        if not said.ours and not said.by_bot and said.id != case.message.id
        for attachment in said.attachments
    ]


async def _unknown(attachments: Sequence[Attachment], place: Place, parts: Parts) -> list[Attachment]:
    if not attachments:
        return []
    known = await parts.turns.known_files(place, [identity(attachment) for attachment in attachments])
    return [attachment for attachment in attachments if identity(attachment) not in known]


def _cut(name: str) -> str:
    name = shown(name)
    return name if len(name) <= _LABEL_CHARACTERS else f"{name[: _LABEL_CHARACTERS - 1]}…"
