"""*Save as verified*: an answer of ours, or a message that answers the first one of its thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation.sources.readable_records import readable_record
from bot.messages.refusals import Invalid, Refusal
from bot.port import Button, Reply
from rag_engine.errors import NotAllowed
from rag_engine.metadata.verified_answer import LONGEST_QUESTION, Verifier
from rag_engine.web.addresses import MESSAGE, is_outside

if TYPE_CHECKING:
    from bot.conversation.dependencies import AudienceLookup, PermissionChecks, StoredAnswers
    from bot.conversation.interactions.buttons import ButtonPress
    from bot.port import Action, Place
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.ingestion.verified_editor import VerifiedEditor
    from rag_engine.types import Citation, DocumentRecord, KnowledgeBase

_MARKER: Final = re.compile(r"\s?\[\d{1,4}\]")
_THREAD_MESSAGES: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSaves:
    """Only into the place's own knowledge base: its readers can read what was said there."""

    turns: Turns
    answers: StoredAnswers
    permissions: PermissionChecks
    audiences: AudienceLookup
    editor: VerifiedEditor

    async def button(self, press: ButtonPress, turn: ChatTurn) -> tuple[Button, ...]:
        if turn.state != "final" or not turn.turn or not turn.question:
            return ()
        try:
            await self._check(press, turn.place)
        except NotAllowed:
            return ()
        return (Button(name="verify", label=press.say("verified_save"), value=turn.id),)

    async def save_answer(self, press: ButtonPress, turn: ChatTurn) -> Reply:
        await self._check(press, turn.place)
        said = await self.answers.turn(turn.turn) if turn.turn else None
        if said is None or not turn.question:
            return press.reply("too_old")
        base = await self.audiences.own(turn.place.parent)
        sources = await self._sources(press, turn, base)
        await self.editor.save(
            base.id,
            question=turn.question,
            answer=_MARKER.sub("", said.text),
            author=verifier(press.action),
            uri="" if turn.private else turn.uri,
            sources=sources,
        )
        return press.reply("verified_saved", name=press.say("this_channel"))

    async def save_message(self, press: ButtonPress) -> Reply:
        action, room = press.action, press.room
        await self.permissions.check_present(action.person, action.place, room.directory)
        turn = await self.turns.of_answer(action.place, action.message)
        if turn is not None:
            is_own = not turn.private or turn.person.id == action.person.id
            return await self.save_answer(press, turn) if is_own else press.reply("too_old")
        await self._check(press, action.place)
        message = await room.fetch(action.value) if action.value else None
        earlier = await room.earlier(limit=_THREAD_MESSAGES) if action.place.thread else []
        asked = earlier[0] if earlier and earlier[0].id != action.message else None
        if message is None or asked is None or not (asked.text.strip() and message.text.strip()):
            raise Invalid("verified_form", usage="/kb verified add QUESTION = ANSWER")
        base = await self.audiences.own(action.place.parent)
        await self.editor.save(
            base.id,
            question=asked.text[:LONGEST_QUESTION],
            answer=message.text,
            author=verifier(action),
            uri=action.value,
        )
        return press.reply("verified_saved", name=press.say("this_channel"))

    async def _check(self, press: ButtonPress, place: Place) -> None:
        person, directory = press.action.person, press.room.directory
        await self.permissions.check(person, place.parent, directory, act="administer")

    async def _sources(self, press: ButtonPress, turn: ChatTurn, base: KnowledgeBase) -> list[DocumentRecord]:
        """Raises `NotAllowed` unless all readers of the knowledge base may read them."""
        found: dict[str, DocumentRecord] = {}
        if turn.private and any(each.document.startswith(MESSAGE) for each in turn.citations):
            # Only the asker was known to read their channels.
            raise Refusal("verified_sources_closed", name=press.say("this_channel"))
        for citation in turn.citations:
            if citation.document not in found and not is_outside(citation.document):
                found[citation.document] = await self._source(press, turn, base, citation)
        return list(found.values())

    async def _source(
        self, press: ButtonPress, turn: ChatTurn, base: KnowledgeBase, citation: Citation
    ) -> DocumentRecord:
        directory, person = press.room.directory, press.action.person
        scope = await self.audiences.scope(
            turn.place, directory, person=turn.person if turn.private else None, asker=turn.person
        )
        record = await readable_record(self.editor.catalog, citation.document, scope.knowledge_bases)
        owner = record.document.knowledge_base if record is not None else None
        if record is None or owner is None:
            raise Refusal("verified_sources_closed", name=press.say("this_channel"))
        if owner != base.id:
            verdict = await self.audiences.everyone_may_read(owner, turn.place.parent, directory, person)
            if verdict != "readable":
                raise Refusal("verified_sources_closed", name=press.say("this_channel"))
        return record


def verifier(action: Action) -> Verifier:
    return Verifier(
        name=action.person.name,
        platform=action.place.platform,
        workspace=action.place.workspace,
        channel=action.place.channel,
        person=action.person.id,
    )
