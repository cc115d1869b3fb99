"""Parsers run in worker processes with limits: a hostile file costs its worker, never the engine."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, get_args

from rag_engine import errors
from rag_engine.errors import CorruptFile, FileTooLarge, Unavailable, UserError
from rag_engine.media_types import shown
from rag_engine.types import Blob, Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

_log = logging.getLogger(__name__)

_WORKER: Final = "rag_engine.worker"
_PACKAGE: Final = str(Path(errors.__file__).resolve().parents[1])
_MOST_FILES: Final = 200
_LARGEST_FRAME: Final = 16 << 20
_START_SECONDS: Final = 30.0
"""Time a worker may take to start, on a busy machine."""
_END_SECONDS: Final = 10.0
_CPU_LIMIT_SIGNAL: Final = getattr(signal, "SIGXCPU", 0)
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_KINDS: Final = frozenset(get_args(SectionKind))
# Tokens and keys in our environment are none of a parser's business.
_PASSED_ON: Final = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "TZ",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A page of a PDF as PNG; `marked` is how many of the quotes were found on it."""

    content: bytes
    marked: int


class ParserPool:
    """At most `workers` files are read at a time, each within `seconds` of waiting and `memory_bytes` of address space."""

    def __init__(self, *, workers: int, seconds: float, memory_bytes: int) -> None:
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()

    async def parse(self, blob: Blob) -> AsyncGenerator[list[Section]]:
        """The sections of a file in reading order, a batch at a time as they are read; memory stays flat.

        Raises a `UserError` when the file cannot be read, also after some batches. Stopping early is allowed: close the
        iterator (`contextlib.aclosing`) or be cancelled, and the worker is ended.
        """
        async with self._worker() as worker:
            async for batch in worker.parse(blob, seconds=self._seconds, memory_bytes=self._memory_bytes):
                yield batch

    async def picture(self, blob: Blob, *, page: int, quotes: Sequence[str]) -> PagePicture:
        """A page (from 1) of a PDF with the quotes marked, at most 1200 pixels across.

        Raises a `UserError` when there is no such page or it cannot be drawn.
        """
        async with self._worker() as worker:
            return await worker.picture(
                blob, page=page, quotes=quotes, seconds=self._seconds, memory_bytes=self._memory_bytes
            )

    async def close(self) -> None:
        """End every worker and wait until they are gone."""
        self._idle.clear()
        for worker in list(self._workers):
            worker.kill()
            await self._bury(worker)

    @asynccontextmanager
    async def _worker(self) -> AsyncGenerator[_Worker]:
        """A worker for one file; it is ended when its conversation breaks off in the middle."""
        async with self._slots:
            worker = await self._idle_worker()
            intact = False
            try:
                if not worker.files:
                    await worker.ready()
                yield worker
                intact = True
            except UserError:
                intact = worker.intact
                raise
            finally:
                self._return(worker, intact=intact)

    async def _idle_worker(self) -> _Worker:
        for worker in [worker for worker in self._workers if not worker.alive]:
            await self._bury(worker)
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
        worker = await _start()
        self._workers.add(worker)
        return worker

    async def _bury(self, worker: _Worker) -> None:
        """See a killed worker off; a second caller meanwhile does not."""
        self._workers.discard(worker)
        try:
            await worker.gone()
        except BaseException:
            self._workers.add(worker)
            raise

    def _return(self, worker: _Worker, *, intact: bool) -> None:
        tired = worker.files >= _MOST_FILES or worker.resident > self._memory_bytes // 2
        if intact and worker.alive and not tired:
            self._idle.append(worker)
        else:
            worker.kill()


@asynccontextmanager
async def parser_pool(*, workers: int, seconds: float, memory_bytes: int) -> AsyncGenerator[ParserPool]:
    """A pool whose workers start with the first files, stay warm between files, and are gone when the context is left."""
    pool = ParserPool(workers=workers, seconds=seconds, memory_bytes=memory_bytes)
    try:
        yield pool
    finally:
        await pool.close()


class _Worker:
    """One worker process and its conversation with us."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._reading = asyncio.Lock()
        self.files = 0
        self.resident = 0
        """Bytes, as of its last file."""
        self.intact = True
        """False once the conversation broke off in the middle."""

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ready(self) -> None:
        """Wait until the worker has started."""
        _, stdout = self._pipes()
        try:
            async with asyncio.timeout(_START_SECONDS), self._reading:
                await stdout.readexactly(int.from_bytes(await stdout.readexactly(4), "big"))
        except (TimeoutError, asyncio.IncompleteReadError) as error:
            raise Unavailable(
                "The process that reads files does not start; try again in a moment."
            ) from error

    async def parse(self, blob: Blob, *, seconds: float, memory_bytes: int) -> AsyncIterator[list[Section]]:
        async for reply in self._replies({}, blob, seconds=seconds, memory_bytes=memory_bytes):
            yield [_section(raw, blob) for raw in cast("list[object]", reply.get("sections") or [])]

    async def picture(
        self, blob: Blob, *, page: int, quotes: Sequence[str], seconds: float, memory_bytes: int
    ) -> PagePicture:
        request: dict[str, object] = {"page": page, "quotes": list(quotes)}
        pictures = [
            _picture(reply, blob)
            async for reply in self._replies(request, blob, seconds=seconds, memory_bytes=memory_bytes)
        ]
        if not pictures:
            raise _unreadable(blob)
        return pictures[0]

    async def _replies(
        self, request: dict[str, object], blob: Blob, *, seconds: float, memory_bytes: int
    ) -> AsyncIterator[dict[str, object]]:
        """What the worker says to a request, up to the reply that ends it; raises what that says went wrong."""
        self.intact = False
        request |= {
            "path": str(blob.path.resolve()),
            "name": blob.name,
            "seconds": seconds,
            "memory": memory_bytes,
        }
        left = seconds
        self.files += 1
        await self._send(request, blob, seconds=seconds)
        while True:
            began = time.monotonic()
            reply = await self._receive(blob, left=left, seconds=seconds)
            # Only our waiting counts: a slow consumer must not use up the file's time.
            left -= time.monotonic() - began
            if "sections" not in reply and "picture" not in reply:
                break
            yield reply
        self.intact = True
        self.resident = _whole_number(reply.get("done", reply.get("resident", 0)))
        if "error" in reply:
            raise _error(reply, blob)

    def kill(self) -> None:
        if self.alive:
            self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def gone(self) -> None:
        """Wait for the end of a killed worker; what it still had to say is read away, so that its pipes close."""
        stdin, stdout = self._pipes()
        stdin.close()
        async with asyncio.timeout(_END_SECONDS), self._reading:
            while await stdout.read(_LARGEST_FRAME):
                continue
            await self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("a worker is always started with pipes")
        return stdin, stdout

    async def _send(self, request: dict[str, object], blob: Blob, *, seconds: float) -> None:
        stdin, _ = self._pipes()
        content = json.dumps(request).encode("ascii")
        try:
            stdin.write(len(content).to_bytes(4, "big") + content)
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise await self._death(blob, seconds=seconds) from error

    async def _receive(self, blob: Blob, *, left: float, seconds: float) -> dict[str, object]:
        _, stdout = self._pipes()
        try:
            async with asyncio.timeout(left), self._reading:
                length = int.from_bytes(await stdout.readexactly(4), "big")
                if length > _LARGEST_FRAME:
                    raise _unreadable(blob)
                content = await stdout.readexactly(length)
            return cast("dict[str, object]", json.loads(content))
        except TimeoutError as error:
            raise _too_slow(blob, seconds) from error
        except asyncio.IncompleteReadError as error:
            raise await self._death(blob, seconds=seconds) from error
        except ValueError as error:
            raise _unreadable(blob) from error

    async def _death(self, blob: Blob, *, seconds: float) -> UserError:
        """What to tell about a worker that went away in the middle of a file."""
        try:
            async with asyncio.timeout(_END_SECONDS):
                status = await self._process.wait()
        except TimeoutError:
            status = 0
        _log.warning(
            "a parsing worker ended with status %d while reading a file of %d bytes", status, blob.size
        )
        return _too_slow(blob, seconds) if status == -_CPU_LIMIT_SIGNAL else _unreadable(blob)


async def _start() -> _Worker:
    folder = Path(tempfile.mkdtemp(prefix="footnote-worker-"))
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join([_PACKAGE, *(entry for entry in sys.path if entry)])
    try:
        process = await asyncio.create_subprocess_exec(
            # -P: the worker's own folder is no place to import from.
            *(sys.executable, "-P", "-X", "utf8", "-m", _WORKER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            # Ctrl-C is for us alone: a worker that it ended would look as if the file had done so.
            process_group=0,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return _Worker(process, folder)


def _section(raw: object, blob: Blob) -> Section:
    """A section as the worker sent it. The worker read hostile bytes, so every field is checked."""
    match raw:
        case {"text": str(text), "anchor": str(anchor), "headings": str(headings), "kind": str(kind)} if (
            kind in _KINDS
        ):
            path = tuple(headings.split("\n")) if headings else ()
            return Section(text=text, anchor=anchor, headings=path, kind=cast("SectionKind", kind))
        case _:
            raise _unreadable(blob)


def _picture(reply: dict[str, object], blob: Blob) -> PagePicture:
    """A picture as the worker sent it."""
    try:
        content = base64.b64decode(str(reply["picture"]), validate=True)
    except (KeyError, binascii.Error) as error:
        raise _unreadable(blob) from error
    if not content.startswith(_PNG):
        raise _unreadable(blob)
    return PagePicture(content=content, marked=_whole_number(reply.get("marked")))


def _error(reply: dict[str, object], blob: Blob) -> UserError:
    if reply.get("cause"):
        _log.warning("a parser failed on a file of %d bytes:\n%s", blob.size, reply["cause"])
    kind: object = getattr(errors, str(reply["error"]), None)
    if isinstance(kind, type) and issubclass(kind, UserError):
        return kind(str(reply.get("message", "")))
    return _unreadable(blob)


def _unreadable(blob: Blob) -> CorruptFile:
    return CorruptFile(
        f"{shown(blob.name)} could not be read; it may be damaged. Save it again and add it once more."
    )


def _too_slow(blob: Blob, seconds: float) -> FileTooLarge:
    return FileTooLarge(
        f"{shown(blob.name)} took longer than {seconds:g} seconds to read; split it into smaller files."
    )


def _whole_number(value: object) -> int:
    return value if isinstance(value, int) else 0
