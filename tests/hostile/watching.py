"""Reads files through a pool of workers and keeps what each cost: seconds, and memory of the processes that read it."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.errors import RagError
from rag_engine.types import Blob

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rag_engine.parsing.pool import ParserPool

_PERIOD = 0.05
"""Seconds; what is read is the peak since a process began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one file."""

    name: str
    kind: str
    """"text", or the name of the error."""
    sentence: str
    text: str
    seconds: float

    def __str__(self) -> str:
        told = self.sentence or f"{len(self.text):,} characters"
        return f"{self.name:34}{self.kind:16}{self.seconds:7.2f} s  {told}"


async def read(pool: ParserPool, path: Path, *, name: str = "") -> Outcome:
    """Read a file to the end or to its error; only `RagError`s are outcomes."""
    blob = Blob(name=name or path.name, media_type="", path=path, digest="", size=0, uri="")
    texts: list[str] = []
    kind, sentence = "text", ""
    began = time.monotonic()
    try:
        async for batch in pool.parse(blob):
            texts += [section.text for section in batch if section.kind != "properties"]
    except RagError as error:
        kind, sentence = type(error).__name__, str(error)
    text = "\n".join(texts)
    return Outcome(name=blob.name, kind=kind, sentence=sentence, text=text, seconds=time.monotonic() - began)


async def read_all(pool: ParserPool, paths: Sequence[Path]) -> list[Outcome]:
    """Read them as the pool has room for them; what each took is from when its turn came."""
    slots = asyncio.Semaphore(2)

    async def one(path: Path) -> Outcome:
        async with slots:
            return await read(pool, path)

    return list(await asyncio.gather(*map(one, paths)))


@contextmanager
def peak_memory() -> Generator[list[int]]:
    """A list that holds, when the block ends, the most bytes that any process of ours that reads files was resident with."""
    peak = [0]
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(_PERIOD):
            peak[0] = max(peak[0], *(_resident_peak(process) for process in descendants(os.getpid())), 0)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        stop.set()
        watcher.join()


def descendants(process: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    found: list[int] = []
    waiting = [process]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _resident_peak(process: int) -> int:
    """Of a process that is to be another program soon, and still has our memory, nothing."""
    try:
        if b"rag_engine.parsing.worker" not in Path(f"/proc/{process}/cmdline").read_bytes():
            return 0
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) << 10
    except (OSError, IndexError):
        return 0
