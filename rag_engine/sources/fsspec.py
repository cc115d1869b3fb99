from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

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
_DEEPEST: Final = 64
_SSH: Final = frozenset({"sftp", "ssh"})
_EXTRAS: Final = {
    **dict.fromkeys(("s3", "s3a"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gcs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "azure"),
    **dict.fromkeys(_SSH, "sftp"),
}
_WEB: Final = frozenset({"http", "https"})
_REFUSALS: Final = ("Auth", "Permission", "Forbidden", "Credential", "AccessDenied")
"""In the names of the libraries' errors."""
_BLOCK: Final = 1 << 20
_AZURE_TRIES: Final = 2
_CONNECT_SECONDS: Final = 10.0
_MARKS: Final = (
    "etag",
    "ETag",
    "md5Hash",
    "content_md5",
    "version_id",
    "mtime",
    "LastModified",
    "last_modified",
    "Last-Modified",
    "Content-MD5",
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
        # A connection that is kept would stay broken after the store was away.
        options = {"skip_instance_cache": True, **_options(address)}
        found = cast("tuple[Any, str]", fsspec.core.url_to_fs(address, **options))  # pyright: ignore[reportUnknownMemberType]
        if _extra(address) == "azure":
            _make_impatient(found[0], seconds=surroundings.seconds)
        return found

    try:
        system, root = await _apart(opened, seconds=surroundings.seconds)
    except ImportError as error:
        library = error.name or str(error)
        raise MissingExtra(
            f"This kind of address needs a library that is not installed ({library}): pip install 'footnote-bot[{_extra(address)}]'"
        ) from error
    try:
        yield _Store(
            system=system,
            root=root.rstrip("/"),
            most_bytes=surroundings.most_bytes,
            seconds=surroundings.seconds,
            address=address.rstrip("/"),
        )
    finally:
        client = getattr(system, "client", None)
        if _protocol(address) in _SSH and client is not None:
            await asyncio.to_thread(client.close)


def _protocol(address: str) -> str:
    return address.partition("://")[0].casefold()


def _extra(address: str) -> str:
    return _EXTRAS.get(_protocol(address), "fsspec")


def _options(address: str) -> dict[str, object]:
    """Over SSH, fsspec hands what it does not know to the connection, and takes the key of any host: ours must be known."""
    if _protocol(address) not in _SSH:
        return {"use_listings_cache": False}
    from rag_engine.sources._host_keys import KnownHosts

    return {"host_key_policy": KnownHosts()}


def _make_impatient(system: Any, *, seconds: float) -> None:
    """Else it tries for a minute and a half."""
    before = system.service_client
    system.service_client = type(before)(
        before.url,
        credential=before.credential,
        retry_total=_AZURE_TRIES,
        initial_backoff=1,
        increment_base=2,
        connection_timeout=min(seconds, _CONNECT_SECONDS),
        read_timeout=seconds,
    )
    system.service_client.location_mode = before.location_mode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Store:
    """fsspec's own configuration has the credentials."""

    system: Any
    root: str
    address: str
    most_bytes: int
    seconds: float
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        left = threading.Event()
        found = self._walk(left)
        try:
            while batch := await self._done(
                lambda: [each for _, each in zip(range(_BATCH), found, strict=False)], seconds=None
            ):
                yield batch
        finally:
            # Its thread cannot be cancelled.
            left.set()

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        before = await self._facts(entry.key)
        await self._done(lambda: self._copy(entry.key, path), seconds=10 * self.seconds)
        is_same = before == await self._facts(entry.key)
        name = PurePosixPath(unquote(entry.key) if self.is_web else entry.key).name
        return SourceContent(name=name, fingerprint=entry.fingerprint if is_same else "")

    async def _facts(self, key: str) -> str:
        return await self._done(lambda: _mark(self.system.info(self._path(key))), seconds=self.seconds)

    async def _done(self, work: Callable[[], Any], *, seconds: float | None) -> Any:
        """Over SSH one after another: a second thread takes the answers that the first waits for."""
        async with self._turn if _protocol(self.address) in _SSH else nullcontext():
            return await _apart(work, seconds=seconds)

    def _walk(self, left: threading.Event) -> Iterator[SourceEntry]:
        for folder, _, files in self.system.walk(self.root, detail=True, on_error="raise"):
            if left.is_set():
                return
            if str(folder).count("/") > self.root.count("/") + _DEEPEST:
                raise UserError(
                    f"The folders are more than {_DEEPEST} levels deep, as if one contained itself."
                )
            for facts in files.values():
                name = str(facts["name"])
                key = name.removeprefix(self.root).lstrip("/") or PurePosixPath(name).name
                parts = PurePosixPath(key).parts
                # A page that lists a folder has links that sort it, too.
                is_file = facts.get("type") == "file" and not (self.is_web and "?" in key)
                if is_file and not facts.get("islink") and _is_usable(parts):
                    mark = _mark(self.system.info(name)) if self.is_web else _mark(facts)
                    yield SourceEntry(key=key, uri=f"{self.address}/{key}", fingerprint=mark)

    @property
    def is_web(self) -> bool:
        return _protocol(self.address) in _WEB

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
        name = type(error).__name__
        sentence = f"The store does not answer ({name})."
        if any(part in name for part in _REFUSALS):
            sentence = f"The store refuses us ({name}): check the credentials and what they may read."
        raise Unavailable(sentence, backend="source", reason="failed") from error


def _is_usable(parts: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") for part in parts)
    return bool(parts) and not hidden and (is_readable(parts[-1]) or not suffix_of(parts[-1]))


def _mark(facts: dict[str, object]) -> str:
    known = [f"{name}={facts[name]}" for name in _MARKS if facts.get(name)]
    return f"{facts.get('size')};{';'.join(known)}" if known else ""
