from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bot.conversation.channels.talk_document import talk_document

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from bot.conversation.dependencies import ForgetSource
    from bot.store.channel_sources import ChannelSource, ChannelSources, DueDocument
    from rag_engine.types import Document, DocumentId, DocumentRecord, Ingested, KnowledgeBaseId, Section


class WriteDocument(Protocol):
    async def __call__(self, document: Document, sections: Sequence[Section]) -> Ingested: ...


class FindDocument(Protocol):
    async def __call__(self, knowledge_base: KnowledgeBaseId, *, uri: str) -> DocumentRecord | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWriter:
    """Brings documents in line with the stored messages, one at a time."""

    sources: ChannelSources
    write: WriteDocument
    find: FindDocument
    link: Callable[[DocumentId, Mapping[str, str]], Awaitable[None]]
    forget_source: ForgetSource
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def write_live(self) -> None:
        for source in await self.sources.all():
            for due in await self.sources.due(source, live=True):
                await self.write_one(source, due)

    async def write_one(self, source: ChannelSource, due: DueDocument) -> None:
        """Again if it changed meanwhile, as by `footnote forget`."""
        async with self._lock:
            while await self._write(source, due):
                latest = await self.sources.latest(source, due.document)
                if latest is None:
                    await self.forget_source(source.knowledge_base, due.uri)
                if latest is None or latest.version == due.version:
                    return
                due = latest

    async def _write(self, source: ChannelSource, due: DueDocument) -> bool:
        """False if there is nothing to write."""
        messages = await self.sources.talk(source, due.document)
        record = await self.find(source.knowledge_base, uri=due.uri)
        if record is None and due.written > 0:
            await self.sources.give_up(source, due)
            return False
        if not messages:
            await self.forget_source(source.knowledge_base, due.uri)
            await self.sources.drop(source, due)
            return False
        made = talk_document(source, due, messages)
        if record is None or (record.state, record.document) != ("ready", made.document):
            await self.write(made.document, made.sections)
        await self.link(made.document.id, made.links)
        await self.sources.wrote(source, due)
        return True

    async def remove(self, source: ChannelSource) -> None:
        for uri in await self.sources.documents(source):
            await self.forget_source(source.knowledge_base, uri)
        await self.sources.remove(source)
