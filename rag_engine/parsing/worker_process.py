"""The protocol is described in `rag_engine.parsing.worker`."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, get_args

from rag_engine import errors
from rag_engine.errors import CorruptFile, FileTooLarge, Unavailable, UserError
from rag_engine.parsing.media_types import shown
from rag_engine.parsing.processor_clock import ProcessorClock
from rag_engine.parsing.relay import LARGEST_FRAME
from rag_engine.parsing.sandbox import Protection
from rag_engine.parsing.table_grids import table_grid
from rag_engine.parsing.worker import FOLDER
from rag_engine.storage.concurrency import process_groups
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag_engine.types import Blob

_log = logging.getLogger(__name__)

_WORKER: Final = "rag_engine.parsing.worker"
_PACKAGE: Final = str(Path(errors.__file__).resolve().parents[1])
_START_SECONDS: Final = 30.0
_END_SECONDS: Final = 10.0
_SLICE_SECONDS: Final = 1.0
_SHORTEST_SLICE: Final = 0.05
_PATIENCE: Final = 3
_GRACE_SECONDS: Final = 5.0
_TOO_LONG: Final = 128 + getattr(signal, "SIGXCPU", 0)
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_KINDS: Final = frozenset(get_args(SectionKind))
# Others may hold tokens and keys.
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
    "TESSDATA_PREFIX",
    "TZ",
)
# Thread pools use address space and do not survive a fork.
_NO_THREADS: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class WorkerDied(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"a parsing worker ended with status {status}")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """PNG; `marked` counts the quotes found."""

    content: bytes
    marked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    seconds: float
    memory_bytes: int
    recognition_seconds: float = 1_800


class WorkerProcess:
    """Methods raise `WorkerDied` if the process ended."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._reading = asyncio.Lock()
        self._length: int | None = None
        """Of a frame whose content was not there within a slice."""
        self.protection = Protection()
        self.intact = True
        """False after an interrupted exchange."""

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ready(self) -> None:
        try:
            async with asyncio.timeout(_START_SECONDS):
                reply = await self._frame()
        except (TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
            raise Unavailable(
                "The process that reads files does not start; try again in a moment."
            ) from error
        self.protection = Protection(
            landlock=_whole_number(reply.get("landlock")), seccomp=bool(reply.get("seccomp"))
        )

    async def parse(
        self, blob: Blob, limits: FileLimits, *, languages: Sequence[str] = ()
    ) -> AsyncGenerator[list[Section]]:
        request: dict[str, object] = {"recognition": limits.recognition_seconds, "languages": list(languages)}
        async for reply in self._replies(request, blob, limits):
            yield [_section(raw, blob) for raw in cast("list[object]", reply.get("sections") or [])]

    async def picture(
        self, blob: Blob, limits: FileLimits, *, page: int, quotes: Sequence[str], figure: bool
    ) -> PagePicture:
        request: dict[str, object] = {"page": page, "quotes": list(quotes), "figure": figure}
        pictures = [_picture(reply, blob) async for reply in self._replies(request, blob, limits)]
        if not pictures:
            raise unreadable(blob)
        return pictures[0]

    async def figure(
        self, blob: Blob, limits: FileLimits, *, anchor: str, quotes: Sequence[str]
    ) -> PagePicture | None:
        request: dict[str, object] = {"beside": anchor, "quotes": list(quotes)}
        replies = [reply async for reply in self._replies(request, blob, limits)]
        return _picture(replies[0], blob) if replies and replies[0].get("picture") else None

    def kill(self) -> None:
        if self.alive:
            process_groups.kill(self._process)
        _remove(self._folder)

    async def gone(self) -> None:
        stdin, _ = self._pipes()
        stdin.close()
        async with asyncio.timeout(_END_SECONDS), self._reading:
            await process_groups.ended(self._process)
        _remove(self._folder)

    async def _replies(
        self, request: dict[str, object], blob: Blob, limits: FileLimits
    ) -> AsyncGenerator[dict[str, object]]:
        self.intact = False
        token = secrets.token_hex(16)
        request |= {
            "token": token,
            "path": str(blob.path.resolve()),
            "name": blob.name,
            "seconds": limits.seconds,
            "memory": limits.memory_bytes,
        }
        await self._send(request)
        await self._await_start(token)
        left, recognition_left = limits.seconds, limits.recognition_seconds
        recognising, clean = False, True
        clock = ProcessorClock(self._process.pid)
        while True:
            most = _most_for_a_page(recognition_left, limits.seconds) if recognising else left
            reply, charged = await self._receive(blob, clock, left=most, limits=limits)
            if recognising:
                recognition_left -= charged
            else:
                left -= charged
            if "unclean" in reply:
                clean = False
                continue
            if "recognising" in reply:
                recognising = bool(reply["recognising"])
                continue
            if "sections" not in reply and "picture" not in reply:
                break
            yield reply
        self.intact = clean
        if "error" in reply:
            raise _error(reply, blob)

    async def _await_start(self, token: str) -> None:
        try:
            async with asyncio.timeout(_START_SECONDS):
                reply = await self._frame()
        except asyncio.IncompleteReadError as error:
            raise WorkerDied(await self._status()) from error
        except (TimeoutError, ValueError) as error:
            raise WorkerDied(0) from error
        if reply.get("begin") != token:
            raise WorkerDied(0)

    async def _send(self, request: dict[str, object]) -> None:
        stdin, _ = self._pipes()
        content = json.dumps(request).encode("ascii")
        try:
            stdin.write(len(content).to_bytes(4, "big") + content)
            async with asyncio.timeout(_START_SECONDS):
                await stdin.drain()
        except (BrokenPipeError, ConnectionResetError, TimeoutError) as error:
            raise WorkerDied(await self._status()) from error

    async def _receive(
        self, blob: Blob, clock: ProcessorClock, *, left: float, limits: FileLimits
    ) -> tuple[dict[str, object], float]:
        charged = 0.0
        try:
            while True:
                began = time.monotonic()
                try:
                    async with asyncio.timeout(min(max(left - charged, _SHORTEST_SLICE), _SLICE_SECONDS)):
                        reply = await self._frame()
                    return reply, charged + clock.charge(time.monotonic() - began)
                except TimeoutError as error:
                    charged += clock.charge(time.monotonic() - began)
                    if charged >= left:
                        raise _too_slow(blob, limits) from error
        except asyncio.IncompleteReadError as error:
            status = await self._status()
            if status == _TOO_LONG:
                raise _too_slow(blob, limits) from error
            raise WorkerDied(status) from error
        except ValueError as error:
            raise unreadable(blob) from error

    async def _frame(self) -> dict[str, object]:
        _, stdout = self._pipes()
        async with self._reading:
            if self._length is None:
                self._length = int.from_bytes(await stdout.readexactly(4), "big")
            if self._length > LARGEST_FRAME:
                raise ValueError("a frame is longer than any that is sent")
            content = await stdout.readexactly(self._length)
            self._length = None
        frame: object = json.loads(content)
        if not isinstance(frame, dict):
            raise ValueError("a frame is no object")
        return cast("dict[str, object]", frame)

    async def _status(self) -> int:
        try:
            async with asyncio.timeout(_END_SECONDS):
                status = await self._process.wait()
        except TimeoutError:
            return 0
        return 128 - status if status < 0 else status

    def _pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("a worker is always started with pipes")
        return stdin, stdout


async def start() -> WorkerProcess:
    """In its own folder, without our secrets; not ready yet."""
    folder = Path(tempfile.mkdtemp(prefix=FOLDER))
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _NO_THREADS
    environment["PYTHONPATH"] = os.pathsep.join([_PACKAGE, *(entry for entry in sys.path if entry)])
    try:
        process = await asyncio.create_subprocess_exec(
            # do not import from the worker's folder
            *(sys.executable, "-P", "-X", "utf8", "-m", _WORKER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            # The file would be blamed for Ctrl-C.
            process_group=0,
        )
    except BaseException:
        _remove(folder)
        raise
    return WorkerProcess(process, folder)


def unreadable(blob: Blob) -> CorruptFile:
    return CorruptFile(
        f"{shown(blob.name)} could not be read; it may be damaged. Save it again and add it once more."
    )


def _remove(folder: Path) -> None:
    # A hostile file may leave endlessly nested folders.
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)


def _section(raw: object, blob: Blob) -> Section:
    match raw:
        case {"text": str(text), "anchor": str(anchor), "headings": str(headings), "kind": str(kind)} if (
            kind in _KINDS
        ):
            path = tuple(headings.split("\n")) if headings else ()
            grid = table_grid(cast("dict[str, object]", raw).get("grid"))
            return Section(text=text, anchor=anchor, headings=path, kind=cast("SectionKind", kind), grid=grid)
        case _:
            raise unreadable(blob)


def _picture(reply: dict[str, object], blob: Blob) -> PagePicture:
    try:
        content = base64.b64decode(str(reply["picture"]), validate=True)
    except (KeyError, binascii.Error) as error:
        raise unreadable(blob) from error
    if not content.startswith(_PNG):
        raise unreadable(blob)
    return PagePicture(content=content, marked=_whole_number(reply.get("marked")))


def _error(reply: dict[str, object], blob: Blob) -> UserError:
    if reply.get("cause"):
        _log.warning("a parser failed on a file of %d bytes:\n%s", blob.size, reply["cause"])
    kind: object = getattr(errors, str(reply["error"]), None)
    if isinstance(kind, type) and issubclass(kind, UserError):
        return kind(str(reply.get("message", "")))
    return unreadable(blob)


def _most_for_a_page(left: float, page_seconds: float) -> float:
    patience = _PATIENCE * min(left, page_seconds) if left > 0 else left
    return patience + _GRACE_SECONDS


def _too_slow(blob: Blob, limits: FileLimits) -> FileTooLarge:
    return FileTooLarge(
        f"{shown(blob.name)} took longer than {limits.seconds:g} seconds to read; split it into smaller files."
    )


def _whole_number(value: object) -> int:
    return value if isinstance(value, int) else 0
