"""The files of one turn: which of them, into which knowledge base, and what is said of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot import hearing
from bot.failures import sentence_of
from bot.files.taken_files import TakenFile
from bot.files.uploads import listed, uris
from bot.port import Button, Reply
from bot.sentences import language_of
from rag_engine.errors import NotAllowed
from rag_engine.media_types import shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.answering import Case, Ledger
    from bot.files.uploads import Taken
    from bot.port import Attachment, IncomingMessage, Place, Room
    from bot.serving import Parts
    from rag_engine.types import KnowledgeBase

_MOST_EARLIER_FILES: Final = 10
_EARLIER_MESSAGES: Final = 50
_BUTTONS: Final = 4
"""With the buttons under an answer they still make one row."""
_LABEL_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Brought:
    """A file and the message that it came with; `source` is the URI under which a knowledge base has it."""

    attachment: Attachment
    message: str
    source: str


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


async def meant(case: Case, parts: Parts) -> IncomingMessage:
    """A mention without text means what its asker wrote just before: that becomes the question, with its files."""
    earlier = case.earlier or []
    answered = await parts.turns.answered(case.message.place, [said.id for said in earlier])
    before = hearing.meant_by(case.message, [said for said in earlier if said.id not in answered])
    if before is None:
        return case.message
    await case.ledger.note(question=before.text.strip())
    case.language = language_of(before.text, before.person, chosen=case.settings.language)
    brought = replace(case.message, attachments=before.attachments, about=before.id)
    brought, case.home = await settled(brought, case.room, parts)
    return brought


async def take_files(case: Case, parts: Parts, own: IncomingMessage) -> None:
    """Take in the files of `own`, and those of its thread that nobody has dealt with yet."""
    mine, lines = await _own(case, parts, own)
    names = {identity(attachment) for attachment in own.attachments}
    earlier = await _unknown(_files_before(case), case.home, parts)
    earlier = [file for file in earlier if identity(file.attachment) not in names]
    left = len(earlier) - _MOST_EARLIER_FILES
    wanted = mine + earlier[:_MOST_EARLIER_FILES]
    # Without files of its own, nobody asked for those of the thread to be taken in.
    asked = own.attachments or (wanted and not await _refusal(case.message, case.home, case.room, parts))
    if wanted and asked:
        lines += [file.line for file in await _take(case, parts, wanted)]
        if left > 0:
            lines.append(case.say("files_left", count=left))
    case.lines = tuple(lines)
    case.kept = tuple(await parts.taken.of_turn(case.ledger.turn))


async def _own(case: Case, parts: Parts, own: IncomingMessage) -> tuple[list[_Brought], list[str]]:
    """Those of the message's own files that are to be read, and lines for those that are there already."""
    brought = _of(own)
    again = bool(case.ledger.turn.messages)
    if not brought or not (again or own.about):
        return brought, []
    known = await parts.taken.known(case.home, [identity(file.attachment) for file in brought])
    if case.ledger.turn.question:
        return _without(brought, known), []
    there = {name: file for name, file in known.items() if file.document or not file.answer}
    lines = [case.say("file_unchanged", name=shown(file.name)) for file in there.values()]
    return _without(brought, there), lines


async def _take(case: Case, parts: Parts, wanted: list[_Brought]) -> list[Taken]:
    """Take them in. Each is recorded before: whatever interrupts it, the knowledge goes when its message does."""
    base = await parts.audiences.own(case.home)
    await parts.taken.keep([_row(case, file, base) for file in wanted])
    taken = await parts.uploads.take(
        [replace(file.attachment, uri=file.source) for file in wanted],
        knowledge_base=base.id,
        show=case.files,
        person=case.message.person.id,
        language=case.language,
    )
    pairs = zip(wanted, taken, strict=True)
    await parts.taken.keep([_row(case, file, base, outcome) for file, outcome in pairs])
    return taken


def _row(case: Case, file: _Brought, base: KnowledgeBase, outcome: Taken | None = None) -> TakenFile:
    record = outcome.record if outcome is not None and outcome.searchable else None
    return TakenFile(
        place=case.home,
        attachment=identity(file.attachment),
        message=file.message,
        answer=case.ledger.turn.id,
        name=file.attachment.name,
        uri=file.attachment.uri,
        source=file.source,
        knowledge_base=base.id,
        document=record.document.id if record else None,
        settled=outcome is not None and not outcome.later,
    )


async def forget(place: Place, message: str, parts: Parts) -> None:
    """Take back the files that a message of the place's channel brought: what came with other messages too stays known."""
    for file in await parts.taken.brought_by(place, message):
        await parts.forget_source(file.knowledge_base, file.source)
        await parts.taken.drop(file)


async def finish_files(case: Case) -> None:
    """The last word of a message that only brought files."""
    await case.finish(Reply(text=listed(case.lines), buttons=promotions(case)), "final")


def promotions(case: Case) -> tuple[Button, ...]:
    """A button for each file that a thread has now: whoever may administer the channel can give it to all of it."""
    return tuple(
        Button(
            name="promote",
            label=case.say("promote", name=_cut(file.name)),
            value=f"{case.ledger.turn.id}:{mark(file.attachment)}",
        )
        for file in [file for file in case.kept if file.document and file.place.thread][:_BUTTONS]
    )


def identity(attachment: Attachment) -> str:
    """What the file is known by in its place."""
    return attachment.id or f"{attachment.uri} {attachment.name}"


def mark(identity: str) -> str:
    """A short mark of a file, for a button."""
    return hashlib.sha256(identity.encode()).hexdigest()[:12]


def _files_before(case: Case) -> list[_Brought]:
    """The files of the thread; those of other bots and our own are left aside."""
    if not case.listens or not case.message.addressed or not case.earlier or case.message.private:
        return []
    return [
        file
        for said in case.earlier
        if not said.ours and not said.by_bot and said.id != case.message.id
        for file in _of(said)
    ]


def _of(message: IncomingMessage) -> list[_Brought]:
    origin = message.about or message.id
    pairs = zip(message.attachments, uris(message.attachments), strict=True)
    return [_Brought(attachment=attachment, message=origin, source=uri) for attachment, uri in pairs]


async def _unknown(files: list[_Brought], place: Place, parts: Parts) -> list[_Brought]:
    if not files:
        return []
    return _without(files, await parts.taken.known(place, [identity(file.attachment) for file in files]))


def _without(files: list[_Brought], known: Collection[str]) -> list[_Brought]:
    return [file for file in files if identity(file.attachment) not in known]


def _cut(name: str) -> str:
    name = shown(name)
    return name if len(name) <= _LABEL_CHARACTERS else f"{name[: _LABEL_CHARACTERS - 1]}…"
