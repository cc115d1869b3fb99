"""A desk to bring commands to, as people do: over real SQLite files, with hooks that remember what they were asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from bot.commands import CommandDependencies, Questions, execute, press
from bot.port import Action, Attachment, Command, IncomingMessage, Person, Place, Reply
from rag_engine.archive import ArchiveContents
from rag_engine.errors import BadSettings
from rag_engine.expansion.types import ExpansionCost
from rag_engine.summaries.mind_map import MindMaps
from tests.unit.bot.access.knowledge import Chat, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

    from bot.commands import Show
    from bot.commands.dependencies import ChannelSourceService, SourceService
    from bot.port import Room
    from bot.store.web_sessions import SignInLinks
    from rag_engine.ingestion.graph.builder import GraphCost
    from rag_engine.ingestion.verified_editor import VerifiedEditor
    from rag_engine.mind_maps.answers import MappedAnswer
    from rag_engine.types import DocumentId, DocumentRecord, Expansion, KnowledgeBase, KnowledgeBaseId
    from tests.doubles.town import TownRoom


@dataclass(slots=True)
class Clock:
    """Moves only on request."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True, kw_only=True)
class Counter:
    """What people type and press, and what came of it."""

    chat: Chat
    room: TownRoom
    clock: Clock = field(default_factory=Clock)
    received: list[tuple[KnowledgeBaseId, list[str]]] = field(default_factory=list)
    reindexed: list[str] = field(default_factory=list)
    shown: list[Reply] = field(default_factory=list)
    models: str = "extractive"
    labels: tuple[str, ...] = ()
    """Of the models that may be chosen."""
    export_bytes: bytes = b"zip"
    verified: VerifiedEditor | None = None
    graph_cost: GraphCost | None = None
    sources: SourceService | None = None
    channels: ChannelSourceService | None = None
    page: SignInLinks | None = None
    answers: list[MappedAnswer] = field(default_factory=list)
    mind_maps: MindMaps = field(default_factory=MindMaps)
    questions: Questions = field(init=False)

    def __post_init__(self) -> None:
        self.questions = Questions(clock=self.clock)

    @property
    def desk(self) -> CommandDependencies:
        return CommandDependencies(
            access=self.chat.access,
            audiences=self.chat.audiences,
            places=self.chat.places,
            topics=self.chat.topics,
            library=self.chat.catalog,
            synonyms=self.chat.catalog.synonyms,
            metadata=self.chat.catalog.metadata,
            expansions=self.chat.catalog.expansions,
            expansion_cost=self._expansion_cost,
            graph=self.chat.catalog.graph,
            graph_cost=self._graph_cost,
            receive=self._receive,
            forget=self._forget,
            reindex=self._reindex,
            export=self._export,
            facts=self._facts,
            explain=self._explain,
            verified=cast("VerifiedEditor", self.verified),
            read_aloud=self._read_aloud,
            sources=self.sources,
            channels=self.channels,
            page=self.page,
            experts=self.chat.experts,
            shown_answers=self._shown_answers,
            mind_maps=self.mind_maps,
            models=self.labels,
            questions=self.questions,
        )

    async def _expansion_cost(self, base: KnowledgeBaseId, kinds: Sequence[Expansion]) -> ExpansionCost:
        if not self.models:
            raise BadSettings
        records = await self.chat.catalog.records(base)
        calls = len(kinds) * len(records)
        return ExpansionCost(calls=calls, prompt_tokens=200 * calls, reply_tokens=100 * calls)

    async def _graph_cost(self, base: KnowledgeBaseId) -> GraphCost | None:
        return self.graph_cost

    async def say(
        self, who: Person, line: str, *, where: Place | None = None, files: Sequence[Attachment] = ()
    ) -> str:
        """The text of the reply to `/kb line`."""
        return (await self.reply(who, line, where=where, files=files)).text

    async def reply(
        self,
        who: Person,
        line: str,
        *,
        where: Place | None = None,
        files: Sequence[Attachment] = (),
        name: str = "kb",
    ) -> Reply:
        command = Command(
            id="1", name=name, place=where or place(), person=who, line=line, attachments=tuple(files)
        )
        return await execute(command, self.room, self.desk, show=self.shown.append)

    async def push(
        self, who: Person, value: str, *, where: Place | None = None, name: str = "kb"
    ) -> Reply | None:
        action = Action(id="2", name=name, value=value, place=where or place(), person=who)
        return await press(action, self.room, self.desk, show=self.shown.append)

    async def confirm(self, who: Person, asked: Reply, *, where: Place | None = None, button: int = 0) -> str:
        """Press the first button under a question."""
        told = await self.push(who, asked.buttons[button].value, where=where)
        assert told is not None
        return told.text

    async def _receive(
        self,
        attachments: Sequence[Attachment],
        *,
        place: Place,
        person: Person,
        knowledge_base: KnowledgeBaseId,
        show: Show,
        language: str,
    ) -> Reply:
        self.received.append((knowledge_base, [attachment.name for attachment in attachments]))
        show(Reply(status="Reading…"))
        return Reply(text="done")

    async def _forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None) -> bool:
        if document is None:
            await self.chat.catalog.unfinished.withdraw(knowledge_base)
            await self.chat.catalog.unfinished.remove(knowledge_base)
        else:
            await self.chat.catalog.remove(document)
        return True

    async def _reindex(self, base: KnowledgeBase, progress: Callable[[DocumentRecord], None]) -> int:
        records = await self.chat.catalog.records(base.id)
        for record in records:
            progress(record)
        self.reindexed.append(base.id)
        return len(records)

    async def _export(self, base: KnowledgeBase, path: Path) -> ArchiveContents:
        await asyncio.to_thread(path.write_bytes, self.export_bytes)
        return ArchiveContents(name=base.name, documents=2, chunks=6, left_out=("late.pdf",))

    async def _explain(self, place: Place, person: Person, room: Room, language: str) -> Reply:
        return Reply(text=f"explained to {person.id} in {language}")

    async def _shown_answers(
        self, place: Place, person: Person, room: Room, *, thread: bool
    ) -> Sequence[MappedAnswer]:
        return self.answers if thread else self.answers[-1:]

    async def _read_aloud(self, place: Place, person: Person, room: Room, language: str) -> Reply:
        return Reply(text=f"read to {person.id} in {language}")

    async def _facts(self) -> Mapping[str, str]:
        return {"index": "embedded", "embedding model": "hashing", "language model": self.models}


def attachment(name: str) -> Attachment:
    async def blocks() -> AsyncIterator[bytes]:
        yield b"text"

    return Attachment(name=name, media_type="text/plain", size=4, uri="https://chat.test/m", open=blocks)


def message(where: Place, *names: str) -> IncomingMessage:
    return IncomingMessage(
        id="9", place=where, person=Person(id="BEN"), text="here", attachments=tuple(map(attachment, names))
    )
