"""The platform's word about a file is not trusted."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from bot.messages import say
from rag_engine.errors import CorruptFile, EmptyDocument, FileTooLarge, StorageUnavailable, UnsupportedFile
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsing.media_types import READABLE, is_readable, suffix_of
from rag_engine.storage.concurrency.uncancellable import uninterrupted
from rag_engine.storage.concurrency.worker_liveness import WorkerId, lives
from rag_engine.storage.private_files import make_folder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable

    from bot.port import Attachment
    from rag_engine.types import Blob

_Result = TypeVar("_Result")

_SECONDS: Final = 120.0
_NOBODY: Final = WorkerId("footnote-upload")
_UNTRUE_NAMES: Final = frozenset({"", "bin", "dat", "file", "tmp", "download"})
_OWN_FORMAT: Final = frozenset(
    {"pdf", "docx", "pptx", "xlsx", "xls", "doc", "ppt", "epub", "odt", "zip", "png", "jpg", "jpeg"}
)
_WEB_PAGE: Final = re.compile(rb"\s*+(?:\xef\xbb\xbf\s*+)?<(?:!doctype\s+html|html)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloads:
    """`worker` marks our files in the folder."""

    most_bytes: int
    seconds: float = _SECONDS
    folder: Path | None = None
    worker: WorkerId = _NOBODY

    def refuse(self, attachment: Attachment) -> None:
        """Raises `UnsupportedFile` or `FileTooLarge` before the download."""
        if attachment.refusal:
            raise UnsupportedFile(attachment.refusal)
        if attachment.size > self.most_bytes:
            raise self._too_large(attachment.size)
        named = is_readable(attachment.name) or attachment.media_type.startswith("text/")
        if not named and suffix_of(attachment.name) not in _UNTRUE_NAMES:
            raise UnsupportedFile(say("file_unsupported", "en", sentence=READABLE))

    @asynccontextmanager
    async def fetched(self, attachment: Attachment, *, uri: str) -> AsyncGenerator[Blob]:
        """Raises an error of the file, and `StorageUnavailable`."""
        folder = await _with_room(asyncio.to_thread(self._made))
        try:
            path = folder / _file_name(attachment.name)
            try:
                async with asyncio.timeout(self.seconds):
                    written = await _with_room(self._download(attachment, path))
            except TimeoutError as error:
                raise CorruptFile(say("file_slow", "en")) from error
            if not written:
                raise EmptyDocument(say("file_empty", "en"))
            if written < attachment.size:
                raise CorruptFile(say("file_cut_short", "en"))
            blob = await blob_from_path(path, uri=uri, max_bytes=self.most_bytes)
            yield replace(blob, name=attachment.name, media_type=attachment.media_type)
        finally:
            await uninterrupted(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    async def clear(self, workers: Path) -> None:
        """Of ended processes; `workers` holds lock files."""
        await asyncio.to_thread(self._clear, workers)

    def _clear(self, workers: Path) -> None:
        for left in self.folder.iterdir() if self.folder is not None and self.folder.is_dir() else ():
            worker = WorkerId(left.name.partition(".")[0])
            if worker != self.worker and not lives(workers, worker):
                shutil.rmtree(left, ignore_errors=True)

    def _made(self) -> Path:
        if self.folder is not None:
            make_folder(self.folder)
        return Path(tempfile.mkdtemp(prefix=f"{self.worker}.", dir=self.folder))

    async def _download(self, attachment: Attachment, path: Path) -> int:
        written = 0
        with await asyncio.to_thread(path.open, "wb") as file:
            async for block in attachment.open():
                if not written and _is_web_page(block, attachment.name):
                    raise CorruptFile(say("file_login_page", "en"))
                written += len(block)
                if written > self.most_bytes:
                    raise self._too_large(written)
                await asyncio.to_thread(file.write, block)
        return written

    def _too_large(self, size: int) -> FileTooLarge:
        values = {"size": f"{size / 1e6:,.0f}", "most": f"{self.most_bytes / 1e6:,.0f}"}
        return FileTooLarge(say("file_too_large", "en", **values))


async def _with_room(writing: Awaitable[_Result]) -> _Result:
    try:
        return await writing
    except TimeoutError:
        raise  # an OSError, but not of the file system
    except OSError as error:
        raise StorageUnavailable(f"The file could not be stored ({error.strerror}).") from error


def _file_name(name: str) -> str:
    suffix = suffix_of(name)
    return f"upload.{suffix}" if suffix.isascii() and suffix.isalnum() and len(suffix) <= 20 else "upload"


def _is_web_page(beginning: bytes, name: str) -> bool:
    return suffix_of(name) in _OWN_FORMAT and _WEB_PAGE.match(beginning) is not None
