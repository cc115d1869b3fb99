"""The files the embedder loads, made once in the data directory by a child process.

A child, because building takes 490 MB for a moment and memory once taken seldom goes back. Names carry the precision, the
digest of the weights and the version of the builder, so what is there is right; it is renamed into place whole, so two
processes that build at once do the same work twice and no harm.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from rag_engine import minilm
from rag_engine.embedders.local.weights import require_folder
from rag_engine.errors import BadSettings, EmbedderUnavailable, Misconfigured, RagError, StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

Precision = Literal["fp32", "int8"]

_BUILDER_VERSION: Final = 1
"""Raise it with every change of the graph: the next start builds anew."""

_LAST_LINES_KEPT: Final = 8
_ERRORS: Final[dict[str, type[RagError]]] = {
    error.__name__: error for error in (BadSettings, EmbedderUnavailable, Misconfigured, StorageUnavailable)
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFiles:
    """Where the graph and the tokenizer stand, or will stand, in a data directory."""

    graph: Path
    tokenizer: Path

    def are_there(self) -> bool:
        """Whether both can be loaded; the tokenizer is small enough to be checked each time."""
        return (
            self.graph.is_file()
            and self.tokenizer.is_file()
            and minilm.is_genuine(self.tokenizer, name=minilm.TOKENIZER)
        )


def files_in(data_dir: Path, *, precision: Precision) -> PreparedFiles:
    folder = data_dir / "models"
    digest = minilm.DIGESTS[minilm.WEIGHTS][:12]
    stem = f"{minilm.NAME}.{digest}"
    return PreparedFiles(
        graph=folder / f"{stem}.{precision}.v{_BUILDER_VERSION}.onnx",
        tokenizer=folder / f"{stem}.tokenizer.json",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the child is told, as JSON on its command line."""

    graph: str
    tokenizer: str
    precision: Precision
    folder: str
    download: bool


async def prepare(
    files: PreparedFiles,
    *,
    precision: Precision,
    folder: Path | None,
    download: bool,
    limit_seconds: float,
    report: Callable[[str], None] | None = None,
) -> None:
    """Make the files in a child process. `report` is told in short sentences how it goes; the log is told anyway.

    Raises `Misconfigured` when there are no genuine weights, `EmbedderUnavailable` when the hub fails or time runs out,
    `StorageUnavailable` when the data directory cannot be written. Cancelling ends the child.
    """
    if folder is not None:
        require_folder(folder)
    order = Order(
        graph=str(files.graph),
        tokenizer=str(files.tokenizer),
        precision=precision,
        folder="" if folder is None else str(folder),
        download=download,
    )
    try:
        async with asyncio.timeout(limit_seconds), _child(order) as process:
            await _follow(process, report)
    except TimeoutError as error:
        raise EmbedderUnavailable(
            f"Preparing the embedding model took longer than {limit_seconds:.0f} seconds; start again to go on.",
            backend="local",
        ) from error


@asynccontextmanager
async def _child(order: Order) -> AsyncGenerator[asyncio.subprocess.Process]:
    root = str(Path(__file__).parents[3])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __package__ or "",
        json.dumps({name: getattr(order, name) for name in Order.__slots__}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _follow(process: asyncio.subprocess.Process, report: Callable[[str], None] | None) -> None:
    """Pass the child's sentences on until it ends; raise what it says went wrong."""
    other_lines: deque[str] = deque(maxlen=_LAST_LINES_KEPT)
    async for line in _output_of(process):
        text = line.decode("utf-8", "replace").strip()
        message = _parsed(text)
        if message is None:
            other_lines.append(text)
        elif error := _ERRORS.get(message["kind"]):
            raise error(message["text"])
        else:
            _log.info("%s", message["text"])
            if report is not None:
                report(message["text"])
    if status := await process.wait():
        last = " / ".join(other_lines) or "it said nothing"
        raise EmbedderUnavailable(
            f"Preparing the embedding model failed (exit status {status}): {last}", backend="local"
        )


def _output_of(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    return cast("asyncio.StreamReader", process.stdout)


def _parsed(line: str) -> dict[str, str] | None:
    """A message of ours, or None for anything else that a library of the child has printed."""
    if not line.startswith('{"kind": '):
        return None
    return cast("dict[str, str]", json.loads(line))
