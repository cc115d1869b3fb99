from __future__ import annotations

import asyncio
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict

from rag_engine.errors import FileTooLarge, Unavailable, UserError
from rag_engine.parsing.media_types import is_readable, suffix_of
from rag_engine.storage.concurrency import process_groups
from rag_engine.storage.private_files import make_folder
from rag_engine.sync.types import EntryGone, SourceContent, SourceEntry

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
    from pathlib import Path

    from rag_engine.sources import Surroundings
    from rag_engine.sync.types import ListedSource

_Result = TypeVar("_Result")

POSITION = 20
ADDRESSES = r"(?:git\+.*|git://.*|ssh://.*\.git/?|[\w.-]+@[\w.-]+:.*|(?:https?|file)://.*\.git/?)"
PUBLIC = False

_NAME: Final = re.compile(r"(?!-)[\w./+@-]{1,200}")
_SECRET: Final = re.compile(r"//[^/@\s]*@")
_LFS: Final = b"version https://git-lfs"
_SHOWN: Final = 10
_BATCH: Final = 1_000
_CHUNK: Final = 65_536
_LOOK_SECONDS: Final = 0.2
_DRAIN_SECONDS: Final = 5.0
_PLACES: Final = {
    "github": "blob",
    "gitlab": "-/blob",
    "codeberg": "src/commit",
    "gitea": "src/commit",
    "bitbucket": "src",
}
# No hooks, no programs of the repository, no questions.
_OPTIONS: Final = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "gc.auto=0"),
    # Else few large objects are in memory before they are on the disk.
    *("-c", "fetch.unpackLimit=1"),
    "--literal-pathspecs",
)


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    branch: str = ""
    paths: str = ""


@asynccontextmanager
async def connect(
    address: str, settings: Settings, *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    address = address.removeprefix("git+")
    if address.startswith("-") or any(character.isspace() for character in address):
        raise UserError("This is no address of a Git repository.")
    if settings.branch and not _NAME.fullmatch(settings.branch):
        raise UserError(f"{settings.branch!r} is no branch.")
    if shutil.which("git") is None:
        raise UserError("The program git is not installed.")
    yield _Repository(
        address=address,
        branch=settings.branch,
        paths=tuple(path for each in settings.paths.split(",") if (path := each.strip().strip("/"))),
        folder=surroundings.folder / "git",
        most_bytes=surroundings.most_bytes,
        most_download_bytes=surroundings.most_download_bytes,
        seconds=surroundings.seconds,
    )


@dataclass(slots=True, kw_only=True)
class _Repository:
    address: str
    branch: str
    paths: tuple[str, ...]
    folder: Path
    most_bytes: int
    most_download_bytes: int
    seconds: float
    commit: str = ""
    blobs: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        await self._fetch()
        self.commit = (await self._git("rev-parse", "FETCH_HEAD")).decode().strip()
        listed = self._lines("ls-tree", "-r", "-z", "--long", self.commit, "--", *self.paths)
        async with aclosing(listed):
            batch: list[SourceEntry] = []
            async for line in listed:
                facts, _, name = line.partition(b"\t")
                mode, kind, blob, size = facts.decode().split()
                key = name.decode("utf-8", "backslashreplace")
                if kind != "blob" or not mode.startswith("100") or not _is_usable(key):
                    continue
                self.blobs[key] = (blob, int(size))
                batch.append(SourceEntry(key=key, uri=self._uri(key), fingerprint=blob))
                if len(batch) == _BATCH:
                    yield batch
                    batch = []
            yield batch

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        if entry.key not in self.blobs:
            raise EntryGone
        blob, size = self.blobs[entry.key]
        name = PurePosixPath(entry.key).name
        if size > self.most_bytes:
            raise FileTooLarge(
                f"{name} has {size / 1e6:,.0f} MB, and at most {self.most_bytes / 1e6:,.0f} MB are read."
            )
        await self._git("cat-file", "blob", blob, into=path)
        if await asyncio.to_thread(_is_pointer, path):
            raise UserError(f"{name} is stored in Git LFS, which is not read.")
        return SourceContent(
            name=name,
            title=entry.key,
            fingerprint=blob,
            link=self._link(entry.key),
            version=self.commit[:_SHOWN],
        )

    async def _fetch(self) -> None:
        """However long it takes, as long as git reports progress."""
        before = await asyncio.to_thread(self._make_room)
        await self._git("init", "--quiet", "--bare", ".")
        options = ("--progress", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--force")
        what = self.branch or "HEAD"
        async with self._started(
            "fetch", *options, "--no-write-commit-graph", self.address, what, output=DEVNULL
        ) as process:
            watching = asyncio.create_task(self._watch(process, before), name="git-size")
            try:
                said, errors = b"", _piped(process.stderr)
                while part := await self._soon(errors.read(_CHUNK)):
                    said = (said + part)[-_CHUNK:]
            finally:
                watching.cancel()
                await asyncio.wait([watching])
            await self._check_size(before)
            await self._ended(process, said)

    def _make_room(self) -> int:
        """Git keeps what it fetched of earlier versions."""
        size = _size(self.folder)
        if size > self.most_download_bytes:
            shutil.rmtree(self.folder)
            size = 0
        make_folder(self.folder)
        return size

    async def _is_too_large(self, before: int) -> bool:
        return await asyncio.to_thread(_size, self.folder) - before > self.most_download_bytes

    async def _watch(self, process: Process, before: int) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if await self._is_too_large(before):
                process_groups.kill(process)
                return

    async def _check_size(self, before: int) -> None:
        if await self._is_too_large(before):
            await asyncio.to_thread(shutil.rmtree, self.folder)
            raise FileTooLarge(
                f"The repository has more than {self.most_download_bytes / (1 << 20):,.6g} MB, which are downloaded at most."
            )

    async def _git(self, *arguments: str, into: Path | None = None) -> bytes:
        """Raises `Unavailable`."""
        output = await asyncio.to_thread(into.open, "wb") if into is not None else None
        try:
            async with self._started(*arguments, output=output or PIPE) as process:
                printed, said = await self._soon(process.communicate())
                await self._ended(process, said)
        finally:
            if output is not None:
                output.close()
        return printed or b""

    async def _lines(self, *arguments: str) -> AsyncGenerator[bytes]:
        """What git prints, divided at zero bytes."""
        async with self._started(*arguments, output=PIPE) as process:
            printed = _piped(process.stdout)
            said = asyncio.create_task(_piped(process.stderr).read(_CHUNK), name="git-errors")
            try:
                while line := await self._soon(_line(printed)):
                    yield line
                await self._ended(process, await self._soon(said))
            finally:
                said.cancel()
                await asyncio.wait([said])

    @asynccontextmanager
    async def _started(self, *arguments: str, output: IO[bytes] | int) -> AsyncGenerator[Process]:
        process = await asyncio.create_subprocess_exec(
            *("git", *_OPTIONS, *arguments),
            cwd=self.folder,
            env=_environment(self.folder),
            stdin=DEVNULL,
            stdout=output,
            stderr=PIPE,
            start_new_session=True,  # and a group for its helpers, such as ssh
        )
        try:
            yield process
        finally:
            await process_groups.end(process, seconds=_DRAIN_SECONDS)

    async def _ended(self, process: Process, said: bytes) -> None:
        if await self._soon(process.wait()):
            raise Unavailable(f"git: {_last_line(said)}", backend="source", reason="failed")

    async def _soon(self, result: Awaitable[_Result]) -> _Result:
        try:
            async with asyncio.timeout(self.seconds):
                return await result
        except TimeoutError as error:
            raise Unavailable("git took too long.", backend="source", reason="timeout") from error

    def _uri(self, key: str) -> str:
        return self._place(key, self.branch or "HEAD") or f"{self.address}#{self.branch}:{quote(key)}"

    def _link(self, key: str) -> str:
        return self._place(key, self.commit)

    def _place(self, key: str, version: str) -> str:
        parts = urlsplit(self.address)
        host = parts.hostname or ""
        place = next((place for name, place in _PLACES.items() if name in host), "")
        if parts.scheme != "https" or not place:
            return ""
        repository = parts.path.rstrip("/").removesuffix(".git")
        return f"https://{host}{repository}/{place}/{quote(version)}/{quote(key)}"


def _size(folder: Path) -> int:
    found = (os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)  # noqa: PTH118
    return sum(map(_size_of, found))


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _piped(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    if stream is None:
        raise RuntimeError("not a pipe")
    return stream


async def _line(printed: asyncio.StreamReader) -> bytes:
    """Without its zero byte; empty at the end."""
    try:
        return (await printed.readuntil(b"\0"))[:-1]
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        raise UserError("The repository has a path that is too long.") from error


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    ssh = os.environ.get("GIT_SSH_COMMAND", "ssh")
    return {
        **kept,
        "GIT_DIR": str(folder),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_SSH_COMMAND": f"{ssh} -oBatchMode=yes",
        "LC_ALL": "C",
    }


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").replace("\r", "\n").strip().splitlines() or [
        "it failed without a word"
    ]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return _SECRET.sub("//…@", fatal[-1].removeprefix("fatal: ").removeprefix("error: "))[:300]


def _is_usable(key: str) -> bool:
    name = PurePosixPath(key).name
    return not name.startswith(".") and (is_readable(name) or not suffix_of(name))


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_LFS)) == _LFS
