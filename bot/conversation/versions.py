from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from bot import rendering
from bot.messages.translation import in_language
from bot.port import Citation
from rag_engine.engine import question_of
from rag_engine.types import ChunkId, DocumentId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.conversation.dependencies import AudienceLookup, StoredAnswers
    from bot.conversation.turn.view import TurnView
    from bot.port import Reply, Room
    from bot.store.turns import ChatTurn
    from rag_engine.types import TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerVersion:
    turn: ChatTurn
    """With this version as the one shown."""
    text: str
    notices: tuple[str, ...]

    def reply(self, view: TurnView) -> Reply:
        turn = self.turn
        cited = "\n".join(f"{citation.uri} {citation.quote}" for citation in turn.citations)
        return view.version(
            text=self.text,
            citations=turn.citations,
            notices=[in_language(notice, view.language) for notice in self.notices],
            links=rendering.links_in(f"{turn.question}\n{cited}"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerVersions:
    answers: StoredAnswers
    audiences: AudienceLookup

    async def beside(self, turn: ChatTurn, step: int, room: Room) -> AnswerVersion | None:
        """None if its readers may no longer search all that it was made from."""
        identity = _beside(turn, step)
        said = await self.answers.turn(identity) if identity else None
        trace = await self.answers.trace(identity) if said else None
        if identity is None or said is None or trace is None or trace.turn != identity:
            return None
        person = turn.person if turn.private else None
        scope = await self.audiences.scope(turn.place, room.directory, person=person, asker=turn.person)
        if not scope.knowledge_bases.issuperset(_strings(trace.details, "knowledge_bases")):
            return None
        citations = [_citation(each) for each in _list(trace.details, "citations")]
        return AnswerVersion(
            turn=turn.showing(identity, citations),
            text=said.text,
            notices=tuple(_strings(trace.details, "notices")),
        )

    async def activate(self, version: AnswerVersion) -> None:
        if (identity := version.turn.turn) is not None:
            await self.answers.activate((question_of(identity), identity))


def _beside(turn: ChatTurn, step: int) -> TurnId | None:
    at = turn.version_number - 1 + step
    return turn.versions[at] if 0 <= at < len(turn.versions) else None


def _list(details: Mapping[str, object], name: str) -> Sequence[Mapping[str, Any]]:
    return cast("Sequence[Mapping[str, Any]]", details.get(name, ()))


def _strings(details: Mapping[str, object], name: str) -> Sequence[Any]:
    return cast("Sequence[Any]", details.get(name, ()))


def _citation(stored: Mapping[str, Any]) -> Citation:
    return Citation(
        number=stored["number"],
        title=stored["title"],
        anchor=stored["anchor"],
        uri=stored["uri"],
        quote=stored["quote"],
        document=DocumentId(stored["document"]),
        chunk=ChunkId(stored["chunk"]),
    )
