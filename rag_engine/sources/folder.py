from __future__ import annotations

import asyncio
import os
import stat
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from pydantic import BaseModel, ConfigDict

from rag_engine.errors import FileTooLarge, Unavailable, UserError
from rag_engine.parsing.media_types import is_readable, suffix_of
from rag_engine.sync.types import EntryGone, SourceContent, SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence

    from rag_engine.sources import Surroundings
    from rag_engine.sync.types import ListedSource

POSITION = 10
ADDRESSES = r"(?:/|~|\.{1,2}(?:/|$)|[A-Za-z]:\\).*"
PUBLIC = False

_BATCH: Final = 1_000
_BLOCK: Final = 1 << 20
_JUST_NOW: Final = 20_000_000
"""Nanoseconds; a second change may have the same time."""


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    root = Path(address)
    if not await asyncio.to_thread(root.is_dir):
        raise UserError(f"There is no folder {root}.")
    own = await asyncio.to_thread(_identity, surroundings.data_dir)
    yield _Folder(root=root, most_bytes=surroundings.most_bytes, own=own)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    root: Path
    most_bytes: int
    own: tuple[int, int]
    """The data directory."""

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        names = self._walk()
        while batch := await asyncio.to_thread(_next, names):
            yield batch

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        return await asyncio.to_thread(self._read, entry, path)

    def _walk(self) -> Iterator[SourceEntry]:
        if _identity(self.root) == self.own:
            raise UserError("The data directory of Footnote cannot be a source.")
        folders = [""]
        while folders:
            within = folders.pop()
            try:
                with os.scandir(self.root / within) as found:
                    for each in found:
                        if each.name.startswith("."):
                            continue
                        key = f"{within}/{each.name}" if within else each.name
                        if each.is_dir(follow_symlinks=False):
                            if (self.own[0], each.inode()) != self.own or _identity(Path(each)) != self.own:
                                folders.append(key)
                        elif each.is_file(follow_symlinks=False) and _is_usable(each.name):
                            entry = self._entry(key, each)
                            if entry is not None:
                                yield entry
            except OSError as error:
                if within and isinstance(error, FileNotFoundError):
                    continue
                reason = (error.strerror or "unknown reason").lower()
                raise UserError(f"The folder {self.root / within} cannot be listed ({reason}).") from error

    def _entry(self, key: str, found: os.DirEntry[str]) -> SourceEntry | None:
        try:
            status = found.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        return SourceEntry(
            key=os.fsencode(key).decode("utf-8", "backslashreplace"),
            uri=(self.root / key).as_uri(),
            fingerprint=_fingerprint(status),
        )

    def _read(self, entry: SourceEntry, path: Path) -> SourceContent:
        name = entry.key.rpartition("/")[2]
        try:
            descriptor = self._open(_decoded(entry.uri.removeprefix(self.root.as_uri())).lstrip("/"))
            with os.fdopen(descriptor, "rb") as file, path.open("wb") as copy:
                before = os.fstat(descriptor)
                if before.st_size > self.most_bytes:
                    raise FileTooLarge(
                        f"{name} has {before.st_size / 1e6:,.0f} MB, and at most {self.most_bytes / 1e6:,.0f} MB are read."
                    )
                while block := file.read(_BLOCK):
                    copy.write(block)
                after = os.fstat(descriptor)
        except (FileNotFoundError, NotADirectoryError) as error:
            if not self.root.is_dir():
                raise Unavailable("The folder is away.", backend="source", reason="unreachable") from error
            raise EntryGone from error
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise UserError(f"{name} cannot be read ({reason}).") from error
        settled = time.time_ns() - max(after.st_mtime_ns, after.st_ctime_ns) > _JUST_NOW
        same = settled and _fingerprint(before) == _fingerprint(after)
        return SourceContent(name=name, fingerprint=_fingerprint(after) if same else "")

    def _open(self, key: str) -> int:
        """Follows no link."""
        flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        if os.open not in os.supports_dir_fd:
            return os.open(self.root / key, flags)
        *folders, name = key.split("/")
        at = os.open(self.root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            for folder in folders:
                inner = os.open(folder, flags | os.O_DIRECTORY, dir_fd=at)
                os.close(at)
                at = inner
            opened = os.open(name, flags | os.O_NONBLOCK, dir_fd=at)
        finally:
            os.close(at)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise FileNotFoundError
        return opened


def _decoded(quoted: str) -> str:
    return os.fsdecode(unquote_to_bytes(quoted))


def _next(names: Iterator[SourceEntry]) -> list[SourceEntry]:
    return [entry for _, entry in zip(range(_BATCH), names, strict=False)]


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


def _is_usable(name: str) -> bool:
    return is_readable(name) or not suffix_of(name)


def _fingerprint(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
