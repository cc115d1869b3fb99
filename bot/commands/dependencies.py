from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bot.messages.refusals import Invalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from bot.access.audience import Audiences
    from bot.access.operator_access import OperatorAccess
    from bot.access.permissions import Permissions
    from bot.commands.context import CommandContext
    from bot.port import Attachment, Person, Place, Reply, Room
    from bot.store.channel_sources import ChannelSource, ChannelSources
    from bot.store.expert_requests import ExpertRequests
    from bot.store.places import Places
    from bot.store.topics import Topics
    from bot.store.web_sessions import SignInLinks
    from rag_engine.archive import ArchiveContents
    from rag_engine.expansion.types import ExpansionCost
    from rag_engine.ingestion.graph.builder import GraphCost
    from rag_engine.ingestion.verified_editor import VerifiedEditor
    from rag_engine.mind_maps.answers import MappedAnswer
    from rag_engine.ports import Library, Metadata, SynonymEntries
    from rag_engine.storage.expansions import SqliteExpansions
    from rag_engine.storage.graph import SqliteGraph
    from rag_engine.summaries.mind_map import MindMaps
    from rag_engine.sync.store import SqliteSources
    from rag_engine.sync.types import SyncedSource
    from rag_engine.types import DocumentId, DocumentRecord, Expansion, KnowledgeBase, KnowledgeBaseId

EXPIRY_MINUTES = 10
MODEL_SEPARATOR = " → "
QUOTING = "extractive"
"""The answerer that quotes in place of a model."""
_MOST_OPEN = 1000

Show: TypeAlias = "Callable[[Reply], None]"
Confirmed: TypeAlias = "Callable[[Room, Show], Awaitable[Reply]]"


class Receive(Protocol):
    async def __call__(
        self,
        attachments: Sequence[Attachment],
        *,
        place: Place,
        person: Person,
        knowledge_base: KnowledgeBaseId,
        show: Show,
        language: str,
    ) -> Reply: ...


class LatestAnswer(Protocol):
    """The person's latest answer in the place."""

    async def __call__(self, place: Place, person: Person, room: Room, language: str) -> Reply: ...


class ShownAnswers(Protocol):
    """The person's latest answer in the place, or all of its topic."""

    async def __call__(
        self, place: Place, person: Person, room: Room, *, thread: bool
    ) -> Sequence[MappedAnswer]: ...


class ShownGaps(Protocol):
    async def show(self, use: CommandContext, *, page: int = 1) -> Reply: ...

    async def press(self, use: CommandContext, act: str, gap: str) -> Reply: ...

    async def choose_channel(self, use: CommandContext, text: str) -> Reply: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    person: Person
    place: Place
    confirmed: Confirmed
    expires_at: float


class Questions:
    """Confirmations, which expire after minutes."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, _Question] = {}

    def ask(self, person: Person, place: Place, confirmed: Confirmed) -> str:
        now = self._clock()
        self._open = {token: question for token, question in self._open.items() if question.expires_at > now}
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        token = secrets.token_urlsafe(12)
        self._open[token] = _Question(
            person=person, place=place, confirmed=confirmed, expires_at=now + EXPIRY_MINUTES * 60
        )
        return token

    def redeem(self, token: str, person: Person, place: Place) -> Confirmed:
        question = self._open.get(token)
        if question is None or question.expires_at <= self._clock():
            raise Invalid("question_closed")
        asked = (question.person.id, question.place.platform, question.place.workspace)
        if asked != (person.id, place.platform, place.workspace):
            raise Invalid("question_of_another")
        del self._open[token]
        return question.confirmed


class SourceService(Protocol):
    @property
    def store(self) -> SqliteSources: ...

    async def add(
        self,
        knowledge_base: KnowledgeBaseId,
        address: str,
        *,
        kind: str = "",
        every_seconds: float | None = None,
        from_chat: bool = False,
    ) -> SyncedSource: ...

    async def first_run(self, source: SyncedSource) -> SyncedSource: ...

    async def run_now(self, source: SyncedSource) -> SyncedSource: ...

    async def remove(self, source: SyncedSource) -> None: ...


class ChannelSourceService(Protocol):
    @property
    def sources(self) -> ChannelSources: ...

    def hurry(self) -> None: ...

    async def remove(self, source: ChannelSource) -> None: ...

    async def opt_out(self, platform: str, person: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandDependencies:
    access: Permissions | OperatorAccess
    audiences: Audiences | OperatorAccess
    places: Places | OperatorAccess
    topics: Topics
    library: Library
    synonyms: SynonymEntries
    metadata: Metadata
    expansions: SqliteExpansions
    expansion_cost: Callable[[KnowledgeBaseId, Sequence[Expansion]], Awaitable[ExpansionCost]]
    """Raises `BadSettings` without a language model."""
    graph: SqliteGraph
    graph_cost: Callable[[KnowledgeBaseId], Awaitable[GraphCost | None]]
    """An estimate; None: rules build it."""
    receive: Receive
    forget: Callable[[KnowledgeBaseId, DocumentId | None], Awaitable[bool]]
    reindex: Callable[[KnowledgeBase, Callable[[DocumentRecord], None]], Awaitable[int]]
    export: Callable[[KnowledgeBase, Path], Awaitable[ArchiveContents]]
    facts: Callable[[], Awaitable[Mapping[str, str]]]
    """`index`, `embedder` and `language model`, joined by `MODEL_SEPARATOR`."""
    verified: VerifiedEditor
    explain: LatestAnswer
    read_aloud: LatestAnswer
    experts: ExpertRequests
    page: SignInLinks | None = None
    sources: SourceService | None = None
    channels: ChannelSourceService | None = None
    gaps: ShownGaps | None = None
    shown_answers: ShownAnswers
    mind_maps: MindMaps
    models: tuple[str, ...] = ()
    has_web: bool = False
    questions: Questions = field(default_factory=Questions)
