"""A file of a message on disk while it is read: nothing that the platform says about it is believed, and nothing of it stays behind."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from bot.sentences import say
from rag_engine.blobs import blob_from_path
from rag_engine.errors import CorruptFile, EmptyDocument, FileTooLarge, StorageUnavailable, UnsupportedFile
from rag_engine.media_types import READABLE, is_readable, suffix_of
from rag_engine.storage.waiting import uninterrupted
from rag_engine.storage.workers import WorkerId, lives

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable

    from bot.port import Attachment
    from rag_engine.types import Blob

_Result = TypeVar("_Result")

_SECONDS: Final = 120.0
_NOBODY: Final = WorkerId("footnote-upload")
_UNTRUE_NAMES: Final = frozenset({"", "bin", "dat", "file", "tmp", "download"})
"""Suffixes that say nothing: what such a file is, its content tells."""
_OWN_FORMAT: Final = frozenset(
    {"pdf", "docx", "pptx", "xlsx", "xls", "doc", "ppt", "epub", "odt", "zip", "png", "jpg", "jpeg"}
)
"""Files of these names never begin like a web page, unless one came in their place."""
_WEB_PAGE: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """Where files are put while they are read, and what is taken at all; `worker` names what is ours in the folder."""

    most_bytes: int
    seconds: float = _SECONDS
    """How long a file may take to come."""
    folder: Path | None = None
    """None: that of temporary files."""
    worker: WorkerId = _NOBODY

    def refuse(self, attachment: Attachment, language: str) -> None:
        """Raise for what is known before a byte is fetched."""
        if attachment.refusal:
            raise UnsupportedFile(attachment.refusal)
        if attachment.size > self.most_bytes:
            raise self._too_large(attachment.size, language)
        named = is_readable(attachment.name) or attachment.media_type.startswith("text/")
        if not named and suffix_of(attachment.name) not in _UNTRUE_NAMES:
            raise UnsupportedFile(say("file_unsupported", language, kinds=READABLE))

    @asynccontextmanager
    async def fetched(self, attachment: Attachment, *, uri: str, language: str) -> AsyncGenerator[Blob]:
        """The file on disk until the block ends. Raises what is wrong with it, and `StorageUnavailable` where it has no room."""
        folder = await _with_room(asyncio.to_thread(self._made))
        try:
            path = folder / _file_name(attachment.name)
            try:
                async with asyncio.timeout(self.seconds):
                    written = await _with_room(self._download(attachment, path, language))
            except TimeoutError as error:
                raise CorruptFile(say("file_slow", language)) from error
            if not written:
                raise EmptyDocument(say("file_empty", language))
            if written < attachment.size:
                raise CorruptFile(say("file_cut_short", language))
            blob = await blob_from_path(path, uri=uri, max_bytes=self.most_bytes)
            yield replace(blob, name=attachment.name, media_type=attachment.media_type)
        finally:
            await uninterrupted(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    async def clear(self, workers: Path) -> None:
        """Remove what processes that ended have left; `workers` is where living ones hold their lock files."""
        await asyncio.to_thread(self._clear, workers)

    def _clear(self, workers: Path) -> None:
        for left in self.folder.iterdir() if self.folder is not None and self.folder.is_dir() else ():
            worker = WorkerId(left.name.partition(".")[0])
            if worker != self.worker and not lives(workers, worker):
                shutil.rmtree(left, ignore_errors=True)

    def _made(self) -> Path:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Path(tempfile.mkdtemp(prefix=f"{self.worker}.", dir=self.folder))

    async def _download(self, attachment: Attachment, path: Path, language: str) -> int:
        """Write the bytes to `path`; neither the platform's word on the size nor on the kind is trusted. How many they were."""
        written = 0
        with await asyncio.to_thread(path.open, "wb") as file:
            async for block in attachment.open():
                if not written and _is_web_page(block, attachment.name):
                    raise CorruptFile(say("file_login_page", language))
                written += len(block)
                if written > self.most_bytes:
                    raise self._too_large(written, language)
                await asyncio.to_thread(file.write, block)
        return written

    def _too_large(self, size: int, language: str) -> FileTooLarge:
        values = {"size": f"{size / 1e6:,.0f}", "most": f"{self.most_bytes / 1e6:,.0f}"}
        return FileTooLarge(say("file_too_large", language, **values))


async def _with_room(writing: Awaitable[_Result]) -> _Result:
    """What comes of it. Raises `StorageUnavailable` for the file system's errors."""
    try:
        return await writing
    except TimeoutError:
        raise  # which is an OSError, but no word of the file system's
    except OSError as error:
        raise StorageUnavailable(f"The file could not be stored ({error.strerror}).") from error


def _file_name(name: str) -> str:
    """A name of ours with the suffix of theirs, by which parsers know a programming language."""
    suffix = suffix_of(name)
    return f"upload.{suffix}" if suffix.isascii() and suffix.isalnum() and len(suffix) <= 20 else "upload"


def _is_web_page(beginning: bytes, name: str) -> bool:
    return suffix_of(name) in _OWN_FORMAT and _WEB_PAGE.match(beginning) is not None
