"""The way in of a file that may end the process which reads it: one that did so before is read by a process of its own."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from bot.patience import keep_trying
from rag_engine.errors import CorruptFile, RagError
from rag_engine.media_types import shown
from rag_engine.storage.waiting import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_engine.ingestion import Ingestion, IngestProgress
    from rag_engine.storage.attempts import SqliteAttempts
    from rag_engine.types import Blob, Ingested, KnowledgeBaseId

_log = logging.getLogger(__name__)


class Fatal(Exception):
    """The process that read the file ended in the middle of it."""


class Separately(Protocol):
    """`bot.files.separately.ingest`."""

    async def __call__(
        self,
        blob: Blob,
        *,
        knowledge_base: KnowledgeBaseId,
        progress: Callable[[IngestProgress], None] | None,
    ) -> Ingested:
        """What `Ingestion.ingest` does, in another process. Raises `Fatal` when that one does not survive it."""
        ...


class Intake:
    """Takes files in as `Ingestion` does. That a file ends processes is known only from one that read nothing else.

    A process may end for many reasons, with several files on their way: each of them is suspected, and read separately the
    next time. Whichever ends that process too is set aside until a person asks for it again.
    """

    def __init__(self, *, ingestion: Ingestion, attempts: SqliteAttempts, separately: Separately) -> None:
        self._ingestion = ingestion
        self._attempts = attempts
        self._separately = separately
        self._alone = asyncio.Lock()

    async def ingest(
        self,
        blob: Blob,
        *,
        knowledge_base: KnowledgeBaseId,
        progress: Callable[[IngestProgress], None] | None = None,
        again: bool = False,
    ) -> Ingested:
        """As `Ingestion.ingest`; `again`: also what was set aside. Raises what that raises."""
        if again:
            await self._attempts.pardon(blob.digest)
        suspicion = await self._attempts.begin(knowledge_base, blob)
        try:
            if suspicion == "set aside":
                ingested = await self._refused(blob, knowledge_base)
            elif suspicion == "suspected":
                # One at a time: where they run out of memory together, each would be blamed for the others.
                async with self._alone:
                    ingested = await keep_trying(
                        lambda: self._separately(blob, knowledge_base=knowledge_base, progress=progress)
                    )
            else:
                ingested = await self._ingestion.ingest(
                    blob, knowledge_base=knowledge_base, progress=progress
                )
        except Fatal:
            _log.warning("a file of %d bytes ended two processes and is set aside", blob.size)
            ingested = await self._refused(blob, knowledge_base)
            await self._attempts.leave(knowledge_base, blob, set_aside=True)
            return ingested
        except BaseException:
            await uninterrupted(self._leave(knowledge_base, blob))
            raise
        if suspicion == "set aside":
            await self._attempts.leave(knowledge_base, blob, set_aside=True)
        else:
            await self._attempts.end(knowledge_base, blob)
        return ingested

    async def expect(self, name: str, *, uri: str, media_type: str, knowledge_base: KnowledgeBaseId) -> None:
        """Say of a file that waits that it will come."""
        await self._ingestion.expect(name, uri=uri, media_type=media_type, knowledge_base=knowledge_base)

    async def give_up(self, knowledge_base: KnowledgeBaseId, uri: str, *, reason: str) -> None:
        """Say of a file that was to come why it does not."""
        await self._ingestion.give_up(knowledge_base, uri, reason=reason)

    async def _refused(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> Ingested:
        sentence = f"{shown(blob.name)} ended the program twice while it was read, so it is set aside until it is added expressly again."
        return await self._ingestion.refuse(blob, knowledge_base=knowledge_base, reason=CorruptFile(sentence))

    async def _leave(self, knowledge_base: KnowledgeBaseId, blob: Blob) -> None:
        """What cannot be recorded now is found out by the next start: whoever was at the file has ended then."""
        try:
            await self._attempts.leave(knowledge_base, blob)
        except RagError as error:
            _log.info("that nobody is at a file any more could not be recorded: %s", error)
