"""The files of messages become searchable documents: each checked before it is fetched, each with its own line of status."""

from __future__ import annotations

import asyncio
import re
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.failures import sentence_of
from bot.patience import Patience, patient
from bot.port import Refused, Reply, Unreachable
from bot.sentences import say
from rag_engine.blobs import blob_from_path
from rag_engine.errors import (
    CorruptFile,
    EmptyDocument,
    FileTooLarge,
    StorageUnavailable,
    UnsupportedFile,
)
from rag_engine.media_types import READABLE, is_readable, shown, suffix_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from bot.port import Attachment, Person, Place
    from rag_engine.errors import RagError
    from rag_engine.ingestion import Ingestion, IngestProgress
    from rag_engine.types import Blob, DocumentRecord, Ingested, KnowledgeBaseId

_AT_ONCE: Final = 3
_SECONDS: Final = 120.0
_UNTRUE_NAMES: Final = frozenset({"", "bin", "dat", "file", "tmp", "download"})
"""Suffixes that say nothing: what such a file is, its content tells."""
_OWN_FORMAT: Final = frozenset(
    {"pdf", "docx", "pptx", "xlsx", "xls", "doc", "ppt", "epub", "odt", "zip", "png", "jpg", "jpeg"}
)
"""Files of these names never begin like a web page, unless one came in their place."""
_WEB_PAGE: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)


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
    language: str
    tell: Callable[[str], None]

    @property
    def name(self) -> str:
        return shown(self.attachment.name)


class Uploads:
    """Takes files in, a few at a time over all messages. `keep` is given what was read, while its bytes are still there."""

    def __init__(
        self,
        *,
        ingestion: Ingestion,
        max_file_bytes: int,
        patience_seconds: float = 0.0,
        upload_seconds: float = _SECONDS,
        keep: Callable[[Blob, DocumentRecord], Awaitable[None]] | None = None,
        at_once: int = _AT_ONCE,
    ) -> None:
        self._ingestion = ingestion
        self._most = max_file_bytes
        self._patience_seconds = patience_seconds
        self._upload_seconds = upload_seconds
        self._keep = keep
        self._at_once = asyncio.Semaphore(at_once)

    async def take(
        self,
        attachments: Sequence[Attachment],
        *,
        knowledge_base: KnowledgeBaseId,
        show: Callable[[tuple[str, ...]], None],
        language: str = "en",
    ) -> list[Taken]:
        """What became of each file, in order; the good ones go in whatever the others do. `show` is given all lines of status."""
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
                language=language,
                tell=teller(number),
            )
            for number, (attachment, uri) in enumerate(zip(attachments, uris(attachments), strict=True))
        ]
        # Results, not a task group: what one file does must not end the others.
        outcomes = await asyncio.gather(*(self._take(job) for job in jobs), return_exceptions=True)
        return [_outcome(job, outcome) for job, outcome in zip(jobs, outcomes, strict=True)]

    async def receive(
        self,
        attachments: Sequence[Attachment],
        *,
        place: Place,
        person: Person,
        knowledge_base: KnowledgeBaseId,
        show: Callable[[Reply], None],
    ) -> Reply:
        """The same for commands: the reply says what became of each file."""
        language = person.language or "en"
        taken = await self.take(
            attachments,
            knowledge_base=knowledge_base,
            show=lambda lines: show(progress(lines)),
            language=language,
        )
        return Reply(text=listed([file.line for file in taken]))

    async def _take(self, job: _Job) -> Taken:
        self._refuse(job)
        async with self._at_once:
            ingested = await self._ingest(job)
        line = line_of(ingested, job.language)
        job.tell(line)
        return Taken(attachment=job.attachment, line=line, record=ingested.record)

    def _refuse(self, job: _Job) -> None:
        """Raise for what is known before a byte is fetched."""
        attachment, language = job.attachment, job.language
        if attachment.refusal:
            raise UnsupportedFile(attachment.refusal)
        if attachment.size > self._most:
            raise self._too_large(attachment.size, language)
        named = is_readable(attachment.name) or attachment.media_type.startswith("text/")
        if not named and suffix_of(attachment.name) not in _UNTRUE_NAMES:
            raise UnsupportedFile(say("file_unsupported", language, kinds=READABLE))

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

        reading()
        async with self._fetched(job) as blob:
            with patient(Patience(seconds=self._patience_seconds, on_wait=waiting, on_resume=resumed)):
                ingested = await self._ingestion.ingest(
                    blob, knowledge_base=job.knowledge_base, progress=progress
                )
            if self._keep is not None and ingested.record.state == "ready":
                await self._keep(blob, ingested.record)
        return ingested

    @asynccontextmanager
    async def _fetched(self, job: _Job) -> AsyncGenerator[Blob]:
        """The file on disk until the block ends."""
        with tempfile.TemporaryDirectory(prefix="footnote-upload-") as folder:
            path = Path(folder) / "upload"
            try:
                async with asyncio.timeout(self._upload_seconds):
                    written = await self._download(job, path)
            except TimeoutError as error:
                raise CorruptFile(say("file_slow", job.language)) from error
            except OSError as error:
                raise StorageUnavailable(f"The file could not be stored ({error.strerror}).") from error
            if not written:
                raise EmptyDocument(say("file_empty", job.language))
            if written < job.attachment.size:
                raise CorruptFile(say("file_cut_short", job.language))
            blob = await blob_from_path(path, uri=job.uri, max_bytes=self._most)
            yield replace(blob, name=job.attachment.name, media_type=job.attachment.media_type)

    async def _download(self, job: _Job, path: Path) -> int:
        """Write the bytes to `path`; neither the platform's word on the size nor on the kind is trusted. How many they were."""
        written = 0
        with await asyncio.to_thread(path.open, "wb") as file:
            async for block in job.attachment.open():
                if not written and _is_web_page(block, job.attachment.name):
                    raise CorruptFile(say("file_login_page", job.language))
                written += len(block)
                if written > self._most:
                    raise self._too_large(written, job.language)
                await asyncio.to_thread(file.write, block)
        return written

    def _too_large(self, size: int, language: str) -> FileTooLarge:
        values = {"size": f"{size / 1e6:,.0f}", "most": f"{self._most / 1e6:,.0f}"}
        return FileTooLarge(say("file_too_large", language, **values))


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


def _outcome(job: _Job, outcome: Taken | BaseException) -> Taken:
    if isinstance(outcome, Taken):
        return outcome
    if isinstance(outcome, asyncio.CancelledError) or not isinstance(outcome, Exception):
        raise outcome
    if isinstance(outcome, Unreachable):
        reason = say("file_lost", job.language)
    else:
        reason = sentence_of(outcome, job.language)
    line = say("file_failed", job.language, name=job.name, reason=reason)
    job.tell(line)
    final = isinstance(outcome, Refused | UnsupportedFile | FileTooLarge | EmptyDocument | CorruptFile)
    return Taken(attachment=job.attachment, line=line, later=not final)


def _is_web_page(beginning: bytes, name: str) -> bool:
    return suffix_of(name) in _OWN_FORMAT and _WEB_PAGE.match(beginning) is not None
