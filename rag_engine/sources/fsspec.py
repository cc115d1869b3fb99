from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, cast

import fsspec  # pyright: ignore[reportMissingTypeStubs]
from pydantic import BaseModel, ConfigDict

from rag_engine.errors import FileTooLarge, MissingExtra, Unavailable, UserError
from rag_engine.parsing.media_types import is_readable, suffix_of
from rag_engine.sync.types import EntryGone, SourceContent, SourceEntry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    from rag_engine.sources import Surroundings
    from rag_engine.sync.types import ListedSource

POSITION = 30
ADDRESSES = r"(?:s3a?|gs|gcs|abfss?|az|adl|sftp|ftp|smb|webdav|oss|hf|memory)://.*"
PUBLIC = False

_BATCH: Final = 1_000
_BLOCK: Final = 1 << 20
_MARKS: Final = (
    "etag",
    "ETag",
    "md5Hash",
    "content_md5",
    "version_id",
    "mtime",
    "LastModified",
    "last_modified",
    "updated",
    "modify",
    "created",
)


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    def opened() -> tuple[Any, str]:
        return cast("tuple[Any, str]", fsspec.core.url_to_fs(address, use_listings_cache=False))  # pyright: ignore[reportUnknownMemberType]

    try:
        system, root = await _apart(opened, seconds=surroundings.seconds)
    except ImportError as error:
        library = error.name or str(error)
        raise MissingExtra(
            f"This kind of address needs a library that is not installed ({library})."
        ) from error
    yield _Store(
        system=system,
        root=root.rstrip("/"),
        most_bytes=surroundings.most_bytes,
        seconds=surroundings.seconds,
        address=address.rstrip("/"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Store:
    """fsspec's own configuration has the credentials."""

    system: Any
    root: str
    address: str
    most_bytes: int
    seconds: float

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        found = self._walk()
        while batch := await _apart(lambda: [each for _, each in zip(range(_BATCH), found, strict=False)]):
            yield batch

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        before = await self._facts(entry.key)
        await _apart(lambda: self._copy(entry.key, path), seconds=10 * self.seconds)
        is_same = before == await self._facts(entry.key)
        name = PurePosixPath(entry.key).name
        return SourceContent(name=name, fingerprint=entry.fingerprint if is_same else "")

    async def _facts(self, key: str) -> str:
        return await _apart(lambda: _mark(self.system.info(self._path(key))), seconds=self.seconds)

    def _walk(self) -> Iterator[SourceEntry]:
        for _, _, files in self.system.walk(self.root, detail=True, on_error="raise"):
            for facts in files.values():
                name = str(facts["name"])
                key = name.removeprefix(self.root).lstrip("/") or PurePosixPath(name).name
                parts = PurePosixPath(key).parts
                if facts.get("type") == "file" and not facts.get("islink") and _is_usable(parts):
                    yield SourceEntry(key=key, uri=f"{self.address}/{key}", fingerprint=_mark(facts))

    def _copy(self, key: str, path: Path) -> None:
        written = 0
        with self.system.open(self._path(key), "rb") as file, path.open("wb") as copy:
            while block := file.read(_BLOCK):
                written += len(block)
                if written > self.most_bytes:
                    raise FileTooLarge(
                        f"{PurePosixPath(key).name} has more than {self.most_bytes / 1e6:,.0f} MB, which are read at most."
                    )
                copy.write(block)

    def _path(self, key: str) -> str:
        return f"{self.root}/{key}"


async def _apart(work: Callable[[], Any], *, seconds: float | None = None) -> Any:
    """Every library below fsspec has errors of its own."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(work)
    except (UserError, ImportError, TimeoutError, asyncio.CancelledError) as error:
        if isinstance(error, TimeoutError):
            raise Unavailable("The store took too long.", backend="source", reason="timeout") from error
        raise
    except FileNotFoundError as error:
        raise EntryGone("There is nothing at this address.") from error
    except Exception as error:
        raise Unavailable(
            f"The store does not answer ({type(error).__name__}).", backend="source", reason="failed"
        ) from error


def _is_usable(parts: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") for part in parts)
    return bool(parts) and not hidden and (is_readable(parts[-1]) or not suffix_of(parts[-1]))


def _mark(facts: dict[str, object]) -> str:
    known = [f"{name}={facts[name]}" for name in _MARKS if facts.get(name)]
    return f"{facts.get('size')};{';'.join(known)}" if known else ""
