"""The files of messages become searchable documents: each checked before it is fetched, each with its own line of status."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot import telemetry
from bot.failures import sentence_of
from bot.files.file_queue import FileQueue
from bot.patience import Patience, keep_trying, patient
from bot.port import Refused, Reply, Unreachable
from bot.sentences import say
from rag_engine.errors import (
    CorruptFile,
    EmptyDocument,
    FileTooLarge,
    RagError,
    StorageUnavailable,
    UnsupportedFile,
)
from rag_engine.media_types import shown
from rag_engine.storage.waiting import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.files.fetching import Fetching
    from bot.port import Attachment, Person, Place
    from rag_engine.ingestion import IngestProgress
    from rag_engine.types import Blob, DocumentRecord, Ingested, KnowledgeBaseId

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one file, as a person reads it in `line`; `record` is None where nothing was taken in."""

    attachment: Attachment
    line: str
    record: DocumentRecord | None = None
    later: bool = False
    """It may work when it is tried again: nothing was wrong with the file."""

    @property
    def searchable(self) -> bool:
        """Whether questions find it."""
        return self.record is not None and self.record.state == "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One file on its way; `tell` changes its line of status."""

    attachment: Attachment
    knowledge_base: KnowledgeBaseId
    uri: str
    person: str
    language: str
    again: bool
    tell: Callable[[str], None]

    @property
    def name(self) -> str:
        return shown(self.attachment.name)


class TakesIn(Protocol):
    """`bot.files.intake.Intake`."""

    async def ingest(
        self,
        blob: Blob,
        *,
        knowledge_base: KnowledgeBaseId,
        progress: Callable[[IngestProgress], None],
        again: bool = False,
    ) -> Ingested: ...

    async def expect(
        self, name: str, *, uri: str, media_type: str, knowledge_base: KnowledgeBaseId
    ) -> None: ...

    async def give_up(self, knowledge_base: KnowledgeBaseId, uri: str, *, reason: str) -> None: ...


class Uploads:
    """Takes files in, a few at a time over all messages. `keep` is given what was read, while its bytes are still there."""

    def __init__(
        self,
        *,
        intake: TakesIn,
        fetching: Fetching,
        patience_seconds: float = 0.0,
        keep: Callable[[Blob, DocumentRecord], Awaitable[None]] | None = None,
        queue: FileQueue | None = None,
    ) -> None:
        self._intake = intake
        self._fetching = fetching
        self._patience_seconds = patience_seconds
        self._keep = keep
        self._queue = queue or FileQueue()

    @property
    def waiting(self) -> int:
        """How many files wait for their turn."""
        return self._queue.waiting

    async def take(
        self,
        attachments: Sequence[Attachment],
        *,
        knowledge_base: KnowledgeBaseId,
        show: Callable[[tuple[str, ...]], None],
        person: str = "",
        language: str = "en",
        again: bool = False,
    ) -> list[Taken]:
        """What became of each file, in order; the good ones go in whatever the others do. `show` is given all lines of status.

        The files count for `person` (an id), who may have only so many on their way; `again`: also what was set aside.
        """
        lines = [say("file_received", language, name=shown(attachment.name)) for attachment in attachments]

        def teller(number: int) -> Callable[[str], None]:
            def tell(line: str) -> None:
                lines[number] = line
                show(tuple(lines))

            return tell

        show(tuple(lines))
        jobs = [
            _Job(
                attachment=attachment,
                knowledge_base=knowledge_base,
                uri=uri,
                person=person,
                language=language,
                again=again,
                tell=teller(number),
            )
            for number, (attachment, uri) in enumerate(zip(attachments, uris(attachments), strict=True))
        ]
        # Results, not a task group: what one file does must not end the others.
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
    ) -> Reply:
        """The same for commands, which mean what they say: the reply tells what became of each file."""
        taken = await self.take(
            attachments,
            knowledge_base=knowledge_base,
            show=lambda lines: show(progress(lines)),
            person=person.id,
            language=person.language or "en",
            again=True,
        )
        return Reply(text=listed([file.line for file in taken]))

    async def _settled(self, job: _Job) -> Taken:
        """What became of the file, whatever did; every line that is logged on the way has the id of the job."""
        with telemetry.within(job=telemetry.new_id()):
            started = time.perf_counter()
            taken = await self._taken(job)
            seconds = round(time.perf_counter() - started, 4)
            telemetry.event("file_settled", **_facts(taken), bytes=job.attachment.size, seconds=seconds)
        return taken

    async def _taken(self, job: _Job) -> Taken:
        """The catalog never says that it comes when it does not."""
        try:
            return await self._take(job)
        except asyncio.CancelledError:
            await uninterrupted(self._give_up(job, say("file_lost", "en")))
            raise
        except Exception as error:  # noqa: BLE001 - one file's bug must not end the others
            taken = _failed(job, error)
            await self._give_up(job, taken.line.removeprefix(f"{job.name}: "))
            return taken

    async def _take(self, job: _Job) -> Taken:
        self._fetching.refuse(job.attachment, job.language)

        def waits(before: int) -> None:
            sentence = "file_queued" if before else "file_received"
            job.tell(say(sentence, job.language, name=job.name, count=before))

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
        job.tell(line)
        return Taken(attachment=job.attachment, line=line, record=ingested.record)

    async def _give_up(self, job: _Job, reason: str) -> None:
        try:
            await self._intake.give_up(job.knowledge_base, job.uri, reason=reason)
        except RagError as error:
            _log.warning("that a file does not come could not be recorded: %s", error)

    async def _ingest(self, job: _Job) -> Ingested:
        def reading() -> None:
            job.tell(say("file_reading", job.language, name=job.name))

        def progress(so_far: IngestProgress) -> None:
            if so_far.state == "embedding" and so_far.chunks:
                job.tell(say("file_progress", job.language, name=job.name, count=so_far.chunks))

        async def resumed() -> None:
            reading()

        async def waiting(error: RagError) -> None:
            job.tell(say("file_waiting", job.language, name=job.name, reason=error))

        async def whole() -> Ingested:
            reading()
            async with self._fetching.fetched(job.attachment, uri=job.uri, language=job.language) as blob:
                ingested = await self._intake.ingest(
                    blob, knowledge_base=job.knowledge_base, progress=progress, again=job.again
                )
                if self._keep is not None and ingested.record.state == "ready":
                    await self._keep(blob, ingested.record)
            return ingested

        with patient(Patience(seconds=self._patience_seconds, on_wait=waiting, on_resume=resumed)):
            # What waits for others waits in the middle; where the disk is full, the file itself may have to come again.
            return await keep_trying(whole, only=StorageUnavailable)


def uris(attachments: Sequence[Attachment]) -> list[str]:
    """Where each file is found again, each another: several files of one message share its permalink."""
    seen: set[str] = set()
    found: list[str] = []
    for number, attachment in enumerate(attachments, 1):
        uri = attachment.uri or f"chat:{attachment.id or attachment.name}"
        if uri in seen:
            uri = f"{uri}#{attachment.id or number}"
        seen.add(uri)
        found.append(uri)
    return found


def _facts(taken: Taken) -> dict[str, object]:
    """What the log says of it: its name is not for the log."""
    record = taken.record
    if record is None:
        return {"state": "later" if taken.later else "refused"}
    return {"state": record.state, "document": record.document.id, "passages": record.chunks}


def line_of(ingested: Ingested, language: str) -> str:
    """What became of one file, as a person reads it."""
    record = ingested.record
    name = shown(record.document.title)
    if record.state == "failed":
        return say("file_failed", language, name=name, reason=record.reason)
    if not ingested.changed:
        line = say("file_unchanged", language, name=name)
    elif record.chunks == 1:
        line = say("file_passage", language, name=name)
    else:
        line = say("file_passages", language, name=name, count=record.chunks)
    return f"{line} ({record.reason})" if record.reason else line


def progress(lines: Sequence[str]) -> Reply:
    """How far the files are: a status for one, which is a single line; a list for several."""
    return Reply(status=lines[0]) if len(lines) == 1 else Reply(text=listed(lines))


def listed(lines: Sequence[str]) -> str:
    """The lines as a list in CommonMark."""
    return "\n".join(f"- {line}" for line in lines)


def _whole(outcome: Taken | BaseException) -> Taken:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _failed(job: _Job, error: Exception) -> Taken:
    if isinstance(error, Unreachable):
        reason = say("file_lost", job.language)
    else:
        reason = sentence_of(error, job.language)
    line = say("file_failed", job.language, name=job.name, reason=reason)
    job.tell(line)
    final = isinstance(error, Refused | UnsupportedFile | FileTooLarge | EmptyDocument | CorruptFile)
    return Taken(attachment=job.attachment, line=line, later=not final)
