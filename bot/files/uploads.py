from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.files.queue import FileQueue
from bot.messages import say
from bot.messages.errors import reason_of, sentence_of
from bot.messages.translation import in_language
from bot.observability import log
from bot.port import Reply, Unreachable, WriteRefused
from bot.rendering.literal import literal_sentence
from bot.resilience.retry import RetryPolicy, keep_trying, patient
from rag_engine.errors import (
    CorruptFile,
    EmptyDocument,
    FileTooLarge,
    RagError,
    StorageUnavailable,
    UnsupportedFile,
    UserError,
)
from rag_engine.ingestion.text_limits import MessageText
from rag_engine.parsing.media_types import shown
from rag_engine.storage.concurrency.uncancellable import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.files.downloads import Downloads
    from bot.port import Attachment, Person, Place
    from rag_engine.ingestion.ingestion import IngestProgress
    from rag_engine.ingestion.text_limits import TextLimits
    from rag_engine.types import Blob, DocumentRecord, Ingested, KnowledgeBaseId

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadResult:
    """`record`: None if nothing was stored."""

    attachment: Attachment
    line: str
    record: DocumentRecord | None = None
    later: bool = False
    """The file itself is fine."""

    @property
    def searchable(self) -> bool:
        return self.record is not None and self.record.state == "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    attachment: Attachment
    knowledge_base: KnowledgeBaseId
    uri: str
    person: str
    language: str
    show: Callable[[str], None]
    message: MessageText | None

    @property
    def name(self) -> str:
        return shown(self.attachment.name)


class FileIngestion(Protocol):
    async def ingest(
        self,
        blob: Blob,
        *,
        knowledge_base: KnowledgeBaseId,
        progress: Callable[[IngestProgress], None],
        message: MessageText | None = None,
    ) -> Ingested: ...

    async def expect(
        self, name: str, *, uri: str, media_type: str, knowledge_base: KnowledgeBaseId
    ) -> None: ...

    async def give_up(self, knowledge_base: KnowledgeBaseId, uri: str, *, reason: str) -> None: ...


class Uploads:
    """`keep` gets each file while it is on disk."""

    def __init__(
        self,
        *,
        intake: FileIngestion,
        fetching: Downloads,
        patience_seconds: float = 0.0,
        keep: Callable[[Blob, DocumentRecord], Awaitable[None]] | None = None,
        queue: FileQueue | None = None,
        limits: TextLimits | None = None,
    ) -> None:
        self._intake = intake
        self.downloads = fetching
        self._patience_seconds = patience_seconds
        self._keep = keep
        self._queue = queue or FileQueue()
        self._limits = limits

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    async def add(
        self,
        attachments: Sequence[Attachment],
        *,
        knowledge_base: KnowledgeBaseId,
        show: Callable[[tuple[str, ...]], None],
        person: str = "",
        language: str = "en",
    ) -> list[UploadResult]:
        """In order; one failure does not affect others. `show` gets all status lines. The files count towards the limit
        of `person` (an id).
        """
        lines = [say("file_received", language, name=shown(attachment.name)) for attachment in attachments]

        def line_display(number: int) -> Callable[[str], None]:
            def show_line(line: str) -> None:
                lines[number] = line
                show(tuple(lines))

            return show_line

        show(tuple(lines))
        message = MessageText(self._limits) if self._limits else None
        jobs = [
            _Job(
                attachment=attachment,
                knowledge_base=knowledge_base,
                uri=uri,
                person=person,
                language=language,
                show=line_display(number),
                message=message,
            )
            for number, (attachment, uri) in enumerate(zip(attachments, uris(attachments), strict=True))
        ]
        # One file must not cancel the others.
        outcomes = await asyncio.gather(*(self._settled(job) for job in jobs), return_exceptions=True)
        return [_whole(outcome) for outcome in outcomes]

    async def receive(
        self,
        attachments: Sequence[Attachment],
        *,
        place: Place,
        person: Person,
        knowledge_base: KnowledgeBaseId,
        show: Callable[[Reply], None],
        language: str = "en",
    ) -> Reply:
        """Even files set aside; lists each result."""
        result = await self.add(
            attachments,
            knowledge_base=knowledge_base,
            show=lambda lines: show(progress(lines)),
            person=person.id,
            language=language,
        )
        return Reply(text=listed([file.line for file in result]))

    async def _settled(self, job: _Job) -> UploadResult:
        with log.within(job=log.new_id()):
            started = time.perf_counter()
            result = await self._added(job)
            seconds = round(time.perf_counter() - started, 4)
            log.event("file_settled", **_facts(result), bytes=job.attachment.size, seconds=seconds)
        return result

    async def _added(self, job: _Job) -> UploadResult:
        try:
            return await self._add(job)
        except asyncio.CancelledError:
            await uninterrupted(self._give_up(job, say("file_lost", "en")))
            raise
        except Exception as error:  # noqa: BLE001 - one file's bug must not end the others
            result = _failed(job, error)
            await self._give_up(job, _english_reason(error, result.line.removeprefix(f"{job.name}: ")))
            return result

    async def _add(self, job: _Job) -> UploadResult:
        self.downloads.refuse(job.attachment)

        def waits(before: int) -> None:
            sentence = "file_queued" if before else "file_received"
            job.show(say(sentence, job.language, name=job.name, count=before))

        with self._queue.entered(job.knowledge_base, job.person):
            attachment = job.attachment
            await self._intake.expect(
                attachment.name,
                uri=job.uri,
                media_type=attachment.media_type,
                knowledge_base=job.knowledge_base,
            )
            async with self._queue.turn(job.knowledge_base, on_wait=waits):
                ingested = await self._ingest(job)
        line = line_of(ingested, job.language)
        job.show(line)
        return UploadResult(attachment=job.attachment, line=line, record=ingested.record)

    async def _give_up(self, job: _Job, reason: str) -> None:
        try:
            await self._intake.give_up(job.knowledge_base, job.uri, reason=reason)
        except RagError as error:
            _log.warning("a failed file could not be recorded: %s", error)

    async def _ingest(self, job: _Job) -> Ingested:
        def reading() -> None:
            job.show(say("file_reading", job.language, name=job.name))

        def progress(so_far: IngestProgress) -> None:
            if so_far.state == "embedding" and so_far.chunks:
                job.show(say("file_progress", job.language, name=job.name, count=so_far.chunks))

        async def resumed() -> None:
            reading()

        async def waiting(error: RagError) -> None:
            job.show(say("file_waiting", job.language, name=job.name, reason=reason_of(error, job.language)))

        async def whole() -> Ingested:
            reading()
            async with self.downloads.fetched(job.attachment, uri=job.uri) as blob:
                ingested = await self._intake.ingest(
                    blob, knowledge_base=job.knowledge_base, progress=progress, message=job.message
                )
                if self._keep is not None and ingested.record.state == "ready":
                    await self._keep(blob, ingested.record)
            return ingested

        with patient(RetryPolicy(seconds=self._patience_seconds, on_wait=waiting, on_resume=resumed)):
            # After a full disk the whole download is repeated.
            return await keep_trying(whole, only=StorageUnavailable)


def uris(attachments: Sequence[Attachment]) -> list[str]:
    seen: set[str] = set()
    found: list[str] = []
    for number, attachment in enumerate(attachments, 1):
        uri = attachment.uri or f"chat:{attachment.id or attachment.name}"
        if uri in seen:
            uri = f"{uri}#{attachment.id or number}"
        seen.add(uri)
        found.append(uri)
    return found


def _facts(result: UploadResult) -> dict[str, object]:
    record = result.record
    if record is None:
        return {"state": "later" if result.later else "refused"}
    return {"state": record.state, "document": record.document.id, "passages": record.chunks}


def line_of(ingested: Ingested, language: str) -> str:
    record = ingested.record
    name = shown(record.document.title)
    if record.state == "failed":
        return say("file_failed", language, name=name, reason=in_language(record.reason, language))
    if not ingested.changed:
        line = say("file_unchanged", language, name=name)
    else:
        line = say("file_passages", language, name=name, count=record.chunks)
    return f"{line} ({in_language(record.reason, language)})" if record.reason else line


def progress(lines: Sequence[str]) -> Reply:
    return Reply(status=lines[0]) if len(lines) == 1 else Reply(text=listed(lines))


def listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {literal_sentence(line)}" for line in lines)


def _whole(outcome: UploadResult | BaseException) -> UploadResult:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _english_reason(error: Exception, otherwise: str) -> str:
    """Readers see it in their language."""
    return str(error) if isinstance(error, UserError | WriteRefused) else otherwise


def _failed(job: _Job, error: Exception) -> UploadResult:
    if isinstance(error, Unreachable):
        reason = say("file_lost", job.language)
    else:
        reason = sentence_of(error, job.language)
    line = say("file_failed", job.language, name=job.name, reason=reason)
    job.show(line)
    final = isinstance(error, WriteRefused | UnsupportedFile | FileTooLarge | EmptyDocument | CorruptFile)
    return UploadResult(attachment=job.attachment, line=line, later=not final)
