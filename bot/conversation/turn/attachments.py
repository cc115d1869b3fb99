from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.conversation import thread_context
from bot.conversation.newcomers.small_talk import question_in
from bot.files.uploads import uris
from bot.messages import language_of
from bot.messages.errors import sentence_of
from bot.port import Button
from bot.store.message_files import MessageFile, attachment_key
from rag_engine.errors import NotAllowed
from rag_engine.parsing.media_types import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.conversation.dependencies import AudienceLookup, ForgetSource, PermissionChecks
    from bot.conversation.turn.context import TurnContext
    from bot.conversation.turn.recorder import TurnRecorder
    from bot.files.uploads import UploadResult, Uploads
    from bot.port import Attachment, IncomingMessage, Place, Room
    from bot.store.message_files import MessageFiles
    from bot.store.turns import Turns
    from bot.streaming.notifier import Notifier
    from rag_engine.types import KnowledgeBase

_MOST_EARLIER_FILES: Final = 10
_EARLIER_MESSAGES: Final = 50
_PROMOTE_BUTTONS: Final = 4
_LABEL_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceFile:
    attachment: Attachment
    message: str
    source: str
    author: str

    @property
    def key(self) -> str:
        return attachment_key(self.attachment)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentIntake:
    permissions: PermissionChecks
    notifier: Notifier
    audiences: AudienceLookup
    uploads: Uploads
    files: MessageFiles
    turns: Turns
    forget_source: ForgetSource

    async def prepare(
        self, message: IncomingMessage, room: Room, recorder: TurnRecorder, *, unprompted: bool
    ) -> tuple[IncomingMessage, Place]:
        """Opens the answer's thread, unless nobody addressed us."""
        turn = recorder.turn
        permitted, files_place = await self._permitted(message, room)
        refused = bool(message.attachments) and not (permitted.attachments or turn.question)
        opens_thread = not (refused or unprompted or turn.private or turn.messages)
        place = await room.open_thread() if opens_thread else turn.place
        if place != turn.place:
            await recorder.save(place=place)
        if place == message.place:
            return permitted, files_place
        return await self._permitted(replace(permitted, place=place), room)

    async def read_earlier(self, context: TurnContext) -> TurnContext:
        if context.options.earlier is not None:
            return context
        earlier = await thread_context.read_earlier(context.room, limit=_EARLIER_MESSAGES)
        return replace(context, options=replace(context.options, earlier=earlier))

    async def use_previous_message(self, context: TurnContext) -> TurnContext:
        earlier = context.options.earlier or []
        answered = await self.turns.answered(context.message.place, [message.id for message in earlier])
        unanswered = [message for message in earlier if message.id not in answered]
        previous = thread_context.previous_message(context.message, unanswered)
        if previous is None:
            return context
        await context.recorder.save(question=question_in(previous))
        chosen = context.options.settings.language
        context.view.language = language_of(previous.text, previous.person, chosen=chosen)
        message = replace(context.message, attachments=previous.attachments, about=previous.id)
        permitted, files_place = await self._permitted(message, context.room)
        return replace(context, message=permitted, files_place=files_place)

    async def add_files(self, context: TurnContext) -> None:
        own, lines = await self._own_files(context)
        earlier = await self._unknown(_earlier_files(context), context.files_place)
        own_keys = {attachment_key(attachment) for attachment in context.message.attachments}
        earlier = [file for file in earlier if file.key not in own_keys]
        omitted = len(earlier) - _MOST_EARLIER_FILES
        wanted = own + earlier[:_MOST_EARLIER_FILES]
        # The asker must be allowed to add files of the thread.
        if wanted and (context.message.attachments or not await self._refusal_for(context)):
            results = await self._upload(context, wanted)
            lines += [result.line for result in results]
            context.view.failed_lines = tuple(each.line for each in results if not each.searchable)
            context.view.read_files = any(each.searchable for each in results)
            if omitted > 0:
                lines.append(context.view.say("files_left", count=omitted))
        context.view.file_lines = tuple(lines)
        files = await self.files.of_turn(context.recorder.turn)
        context.view.promotions = _promotion_buttons(context, files)

    async def forget(self, place: Place, message: str) -> None:
        """Except files that other messages brought too."""
        for file in await self.files.brought_by(place, message):
            await self.forget_source(file.knowledge_base, file.source)
            await self.files.drop(file)

    async def _permitted(self, message: IncomingMessage, room: Room) -> tuple[IncomingMessage, Place]:
        """Without files that the author may not add. Those of a thread belong to it; others to the channel if the
        author may add to it, else to the answer's thread.
        """
        places = [message.place] if message.in_thread else [message.place.parent, message.place]
        if not message.attachments:
            return message, places[0]
        sentence = ""
        for place in dict.fromkeys(places):
            sentence = await self._refusal(message, place, room)
            if not sentence:
                return message, place
        names = ", ".join(shown(attachment.name) for attachment in message.attachments)
        await self.notifier.send(room, message.person, f"{names}: {sentence}")
        return replace(message, attachments=()), places[0]

    async def _refusal_for(self, context: TurnContext) -> str:
        return await self._refusal(context.message, context.files_place, context.room)

    async def _refusal(self, message: IncomingMessage, place: Place, room: Room) -> str:
        try:
            await self.permissions.check(message.person, place, room.directory, act="add")
        except NotAllowed as error:
            return sentence_of(error, language_of(message.text, message.person))
        return ""

    async def _own_files(self, context: TurnContext) -> tuple[list[_SourceFile], list[str]]:
        files, turn = _files_of(context.message), context.recorder.turn
        if not files or not (turn.messages or context.message.about):
            return files, []
        known = await self.files.known(context.files_place, [file.key for file in files])
        if turn.question:
            return _without(files, known), []
        done = {key: file for key, file in known.items() if file.document or not file.answer}
        lines = [context.view.say("file_unchanged", name=shown(file.name)) for file in done.values()]
        return _without(files, done), lines

    async def _upload(self, context: TurnContext, wanted: list[_SourceFile]) -> list[UploadResult]:
        """Recorded first: deleting the message removes files even after an interruption."""
        base = await self.audiences.own(context.files_place)
        await self.files.keep([_row(context, file, base) for file in wanted])
        await self.turns.note_authors(context.files_place, {file.message: file.author for file in wanted})
        results = await self.uploads.add(
            [replace(file.attachment, uri=file.source) for file in wanted],
            knowledge_base=base.id,
            show=context.view.show_files,
            person=context.message.person.id,
            language=context.view.language,
        )
        pairs = zip(wanted, results, strict=True)
        await self.files.keep([_row(context, file, base, result) for file, result in pairs])
        return results

    async def _unknown(self, files: list[_SourceFile], place: Place) -> list[_SourceFile]:
        """Neither there nor searchable in its channel."""
        if not files:
            return []
        keys = [file.key for file in files]
        above = await self.files.known(place.parent, keys) if place.thread else {}
        read = {key for key, file in above.items() if file.document}
        return _without(files, read | set(await self.files.known(place, keys)))


def _row(
    context: TurnContext, file: _SourceFile, base: KnowledgeBase, result: UploadResult | None = None
) -> MessageFile:
    record = result.record if result is not None and result.searchable else None
    return MessageFile(
        place=context.files_place,
        attachment=file.key,
        message=file.message,
        answer=context.recorder.turn.id,
        name=file.attachment.name,
        uri=file.attachment.uri,
        source=file.source,
        knowledge_base=base.id,
        document=record.document.id if record else None,
        settled=result is not None and not result.later,
    )


def _promotion_buttons(context: TurnContext, files: Sequence[MessageFile]) -> tuple[Button, ...]:
    return tuple(
        Button(
            name="promote",
            label=context.view.say("promote", name=_shortened(file.name)),
            value=f"{context.recorder.turn.id}:{file.mark}",
        )
        for file in [file for file in files if file.document and file.place.thread][:_PROMOTE_BUTTONS]
    )


def _earlier_files(context: TurnContext) -> list[_SourceFile]:
    message, earlier = context.message, context.options.earlier
    if not context.reads_thread or not message.addressed or not earlier or message.private:
        return []
    return [
        file
        for each in earlier
        if not each.ours and not each.by_bot and each.id != message.id
        for file in _files_of(each)
    ]


def _files_of(message: IncomingMessage) -> list[_SourceFile]:
    origin = message.about or message.id
    pairs = zip(message.attachments, uris(message.attachments), strict=True)
    author = message.author or message.person.id
    return [
        _SourceFile(attachment=attachment, message=origin, source=uri, author=author)
        for attachment, uri in pairs
    ]


def _without(files: list[_SourceFile], keys: Collection[str]) -> list[_SourceFile]:
    return [file for file in files if file.key not in keys]


def _shortened(name: str) -> str:
    name = shown(name)
    return name if len(name) <= _LABEL_CHARACTERS else f"{name[: _LABEL_CHARACTERS - 1]}…"
