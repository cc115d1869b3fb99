from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from rag_engine.errors import RagError
from rag_engine.parsing.media_types import parser_name
from rag_engine.storage.private_files import make_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rag_engine.types import Blob, DocumentRecord

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
KEPT: Final[Mapping[str, tuple[bytes, ...]]] = {
    "pdf": (b"",),
    "docx": (b"word/media/",),
    "pptx": (b"ppt/media/",),
    "html": (b"data:image/",),
    "mht": (b"image/",),
    "epub": (b".png", b".jpg", b".jpeg", b".gif", b".webp", b".svg"),
    "odt": (b"pictures/", b"binary-data"),
    "odp": (b"pictures/", b"binary-data"),
}
"""By kind, what the bytes of a file with pictures hold."""
_UNFINISHED: Final = ".part"
_UNFINISHED_SECONDS: Final = 3600.0
_LONGEST_SIGN: Final = 16
_WEB_ARCHIVES: Final = (".mht", ".mhtml")
_BLOCK: Final = 1 << 20
_SWEPT_EVERY_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


class Digests(Protocol):
    async def digests(self) -> frozenset[str]: ...


class Originals:
    """One file per digest: PDFs, and others with pictures. A missing one only costs pictures: a full disk raises nothing."""

    def __init__(self, folder: Path, *, catalog: Digests, most_bytes: int) -> None:
        self._folder = folder
        self._catalog = catalog
        self._most_bytes = most_bytes
        self._bytes: int | None = None
        """Other processes seldom add much."""
        self._swept_at = -_SWEPT_EVERY_SECONDS

    async def keep(self, blob: Blob, record: DocumentRecord) -> None:
        if record.state != "ready" or record.document.digest != blob.digest:
            return
        try:
            if await asyncio.to_thread(self._keep, blob) and self._unswept():
                await self.forget_unused()
        except (OSError, RagError) as error:
            _log.warning("a file of %d bytes could not be stored for its pictures: %s", blob.size, error)

    def path(self, digest: str) -> Path | None:
        if not _DIGEST.fullmatch(digest):
            return None
        return next((path for kind in KEPT if (path := self._path(digest, kind)).is_file()), None)

    async def forget_unused(self, gone: Collection[str] = ()) -> None:
        """`gone`: digests of removed documents. A document being rewritten has no known digest; meanwhile only `gone`
        are removed.
        """
        self._swept_at = time.monotonic()
        stored = await asyncio.to_thread(self._digests)  # first, so that later additions stay
        used = await self._catalog.digests()
        unused = stored - used
        if "" in used:
            unused &= frozenset(gone)
        if unused:
            await asyncio.to_thread(self._remove, unused)

    def _path(self, digest: str, kind: str) -> Path:
        return self._folder / f"{digest}.{kind}"

    def _unswept(self) -> bool:
        return time.monotonic() - self._swept_at >= _SWEPT_EVERY_SECONDS

    def _keep(self, blob: Blob) -> bool:
        if not _DIGEST.fullmatch(blob.digest) or self.path(blob.digest) is not None:
            return False
        kind = _kind(blob)
        if kind not in KEPT or not _has_pictures(blob.path, KEPT[kind]):
            return False
        if self._bytes is None:
            self._bytes = sum(_size(path) for path in self._files())
        if self._bytes + blob.size > self._most_bytes:
            _log.warning("a file of %d bytes was not stored for its pictures: the folder is full", blob.size)
            return False
        make_folder(self._folder)
        self._clear_unfinished()
        handle, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=self._folder)
        unfinished = Path(name)
        try:
            # The owner may still write to the file.
            with os.fdopen(handle, "wb") as target:
                whole = _copy(blob, target)
                target.flush()
                os.fsync(target.fileno())
            if whole:
                unfinished.replace(self._path(blob.digest, kind))
                self._count(blob.size)
        finally:
            unfinished.unlink(missing_ok=True)
        return whole

    def _count(self, size: int) -> None:
        if (counted := self._bytes) is not None:
            self._bytes = counted + size

    def _digests(self) -> frozenset[str]:
        return frozenset(path.stem for path in self._files() if _DIGEST.fullmatch(path.stem))

    def _files(self) -> list[Path]:
        return [path for kind in KEPT for path in self._folder.glob(f"*.{kind}")]

    def _remove(self, digests: Collection[str]) -> None:
        self._bytes = None
        for digest in digests:
            try:
                for kind in KEPT:
                    self._path(digest, kind).unlink(missing_ok=True)
            except OSError as error:
                _log.warning("an unused file could not be removed: %s", error)

    def _clear_unfinished(self) -> None:
        for path in self._folder.glob(f"*{_UNFINISHED}"):
            try:
                if path.stat().st_mtime < time.time() - _UNFINISHED_SECONDS:
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue


def _kind(blob: Blob) -> str:
    parser = parser_name(blob.path, blob.name)
    return "mht" if parser == "eml" and blob.name.lower().endswith(_WEB_ARCHIVES) else parser


def _has_pictures(path: Path, signs: tuple[bytes, ...]) -> bool:
    """Names in a zip are not compressed."""
    end = b""
    with path.open("rb") as source:
        while block := source.read(_BLOCK):
            end = end[-_LONGEST_SIGN:] + block.lower()
            if any(sign in end for sign in signs):
                return True
    return False


def _copy(blob: Blob, target: BinaryIO) -> bool:
    digest = hashlib.sha256()
    with blob.path.open("rb") as source:
        while block := source.read(_BLOCK):
            digest.update(block)
            target.write(block)
    return digest.hexdigest() == blob.digest


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
