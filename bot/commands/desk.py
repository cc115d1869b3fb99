"""What commands may use, and the questions they have asked."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from bot.access import Access
    from bot.audience import Audiences
    from bot.places import Places
    from bot.port import Attachment, Person, Place, Reply, Room
    from rag_engine.archive import Contents
    from rag_engine.ports import Library
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBase, KnowledgeBaseId

EXPIRY_MINUTES = 10
_MOST_OPEN = 1000

Show: TypeAlias = "Callable[[Reply], None]"
"""Shows how far a command is: newest wins, returns at once."""
Carry: TypeAlias = "Callable[[Room, Show], Awaitable[Reply]]"
"""What is done once somebody has said yes."""


class Receive(Protocol):
    """Takes files in, the way those of messages are; the reply says what became of each."""

    async def __call__(
        self,
        attachments: Sequence[Attachment],
        *,
        place: Place,
        person: Person,
        knowledge_base: KnowledgeBaseId,
        show: Show,
    ) -> Reply: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    person: Person
    place: Place
    carry: Carry
    until: float


class Questions:
    """What somebody was asked before it is done; gone after some minutes, and when the program ends."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, _Question] = {}

    def ask(self, person: Person, place: Place, carry: Carry) -> str:
        """A token for the buttons under the question."""
        now = self._clock()
        self._open = {token: question for token, question in self._open.items() if question.until > now}
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        token = secrets.token_urlsafe(12)
        self._open[token] = _Question(
            person=person, place=place, carry=carry, until=now + EXPIRY_MINUTES * 60
        )
        return token

    def take(self, token: str, person: Person, place: Place) -> Carry:
        """What was asked, once, for whom it was asked. Raises `UserError` for anybody else, and when it is too late."""
        question = self._open.get(token)
        if question is None or question.until <= self._clock():
            raise UserError("This question is no longer open: use the command again.")
        theirs = (question.person.id, question.place.platform, question.place.workspace)
        if theirs != (person.id, place.platform, place.workspace):
            raise UserError("Only whoever was asked can answer this.")
        del self._open[token]
        return question.carry


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What commands may use; put together by `bot.compose`."""

    access: Access
    audiences: Audiences
    places: Places
    library: Library
    receive: Receive
    forget: Callable[[KnowledgeBaseId, DocumentId | None], Awaitable[bool]]
    """Removes a document, or all of a knowledge base, from the index and the catalog."""
    reindex: Callable[[KnowledgeBase, Callable[[DocumentRecord], None]], Awaitable[int]]
    """Splits and embeds all documents again, telling of each; how many there were."""
    export: Callable[[KnowledgeBase, Path], Awaitable[Contents]]
    facts: Callable[[], Awaitable[Mapping[str, str]]]
    """What `/kb status` says of the installation: the index, the models."""
    questions: Questions = field(default_factory=Questions)
