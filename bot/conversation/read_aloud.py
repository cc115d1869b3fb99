from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.conversation.sources.readable_records import readable_record
from bot.messages import say
from bot.messages.refusals import Refusal
from bot.port import File, Reply
from rag_engine.text.language import detect
from rag_engine.web.addresses import is_outside

if TYPE_CHECKING:
    from bot.conversation.dependencies import AudienceLookup, StoredAnswers
    from bot.port import Person, Place, Room
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.ingestion.ingestion import DocumentCatalog
    from rag_engine.speech.voice import Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAloud:
    audiences: AudienceLookup
    catalog: DocumentCatalog
    answers: StoredAnswers
    turns: Turns
    voice: Voice | None = None

    async def latest(self, place: Place, person: Person, room: Room, language: str) -> Reply:
        """Raises `Refusal`, and as `Voice.read`."""
        return await self._read(await self.turns.latest_of(place, person.id), room, language, person=person)

    async def here(self, place: Place, room: Room, language: str, *, person: Person | None = None) -> Reply:
        return await self._read(await self.turns.latest_in(place, person), room, language, person=person)

    async def _read(
        self, turn: ChatTurn | None, room: Room, language: str, *, person: Person | None
    ) -> Reply:
        if self.voice is None:
            raise Refusal("speak_unset")
        text = await self._text(turn)
        if turn is None or not text:
            raise Refusal("speak_none")
        scope = await self.audiences.scope(turn.place, room.directory, person=person)
        for document in {citation.document for citation in turn.citations}:
            if not is_outside(document) and not await readable_record(
                self.catalog, document, scope.knowledge_bases
            ):
                raise Refusal("speak_closed")
        spoken = await self.voice.read(text, omitted=omitted_words(text))
        if spoken is None:
            raise Refusal("speak_silent")
        if await self._text(await self.turns.find(turn.id)) != text:
            await self.voice.forget()
            raise Refusal("speak_none")
        notices = (say("spoken_cut", language, characters=spoken.characters),) if spoken.characters else ()
        file = File(
            name=f"answer.{spoken.suffix}",
            media_type=spoken.media_type,
            content=spoken.content,
            description=say("spoken", language),
        )
        return Reply(text=say("spoken", language), notices=notices, files=(file,), language=language)

    async def _text(self, turn: ChatTurn | None) -> str:
        stored = await self.answers.turn(turn.turn) if turn is not None and turn.turn else None
        return stored.text if stored is not None else ""


def omitted_words(text: str) -> dict[str, str]:
    language = detect(text) or "en"
    return {"code": say("code_omitted", language), "table": say("table_omitted", language)}
