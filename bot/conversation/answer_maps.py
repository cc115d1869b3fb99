from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from bot.conversation.sources.readable_records import readable_record
from rag_engine.mind_maps.answers import MappedAnswer
from rag_engine.web.addresses import is_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.access.permissions import Scope
    from bot.conversation.dependencies import AudienceLookup
    from bot.port import Person, Place, Room
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.ingestion.ingestion import DocumentCatalog
    from rag_engine.types import ConversationId, Turn, TurnId

_MOST_TURNS: Final = 60


class ConversationHistory(Protocol):
    async def read(self, conversation: ConversationId, *, limit: int) -> list[Turn]: ...

    async def turn(self, turn: TurnId) -> Turn | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMaps:
    audiences: AudienceLookup
    catalog: DocumentCatalog
    history: ConversationHistory
    turns: Turns

    async def shown_answers(
        self, place: Place, person: Person, room: Room, *, thread: bool
    ) -> Sequence[MappedAnswer]:
        """The person's latest, or those of the place's topic; without those that cite what they may not read."""
        latest = await (self.turns.latest_in(place) if thread else self.turns.latest_of(place, person.id))
        if latest is None or latest.turn is None:
            return []
        turns = await self._conversation(latest, person) if thread else [latest]
        scope = await self.audiences.scope(place, room.directory, person=person)
        found: list[MappedAnswer] = []
        for turn in turns:
            stored = await self.history.turn(turn.turn) if turn.turn else None
            if stored is not None and await self._is_readable(turn, scope):
                found.append(MappedAnswer(question=turn.question, text=stored.text, citations=turn.citations))
        return found

    async def _conversation(self, latest: ChatTurn, person: Person) -> list[ChatTurn]:
        said = await self.history.read(latest.conversation, limit=_MOST_TURNS) if latest.conversation else []
        found = [
            await self.turns.find(turn.id.rpartition("-")[0]) for turn in said if turn.role == "assistant"
        ]
        shown = {turn.id for turn in said}
        return [
            turn
            for turn in found
            if turn is not None
            and turn.turn in shown
            and turn.place == latest.place
            and (not turn.private or turn.person.id == person.id)
        ]

    async def _is_readable(self, turn: ChatTurn, scope: Scope) -> bool:
        for document in {citation.document for citation in turn.citations}:
            if not is_outside(document) and not await readable_record(
                self.catalog, document, scope.knowledge_bases
            ):
                return False
        return True
