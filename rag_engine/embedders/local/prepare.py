"""In a child process, whose end returns its 490 MB. Files appear by rename, so concurrent builds are safe."""

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

from rag_engine.embedders import _minilm
from rag_engine.embedders.local.weights import require_folder
from rag_engine.errors import BadSettings, EmbedderUnavailable, Misconfigured, RagError, StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

Precision = Literal["fp32", "int8"]

_BUILDER_VERSION: Final = 1
"""Raise it when the graph changes, to force a rebuild."""

_LAST_LINES_KEPT: Final = 8
_ERRORS: Final[dict[str, type[RagError]]] = {
    error.__name__: error for error in (BadSettings, EmbedderUnavailable, Misconfigured, StorageUnavailable)
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFiles:
    graph: Path
    tokenizer: Path

    def are_there(self) -> bool:
        return (
            self.graph.is_file()
            and self.tokenizer.is_file()
            and _minilm.is_genuine(self.tokenizer, name=_minilm.TOKENIZER)
        )


def files_in(data_dir: Path, *, precision: Precision) -> PreparedFiles:
    folder = data_dir / "models"
    digest = _minilm.DIGESTS[_minilm.WEIGHTS][:12]
    stem = f"{_minilm.NAME}.{digest}"
    return PreparedFiles(
        graph=folder / f"{stem}.{precision}.v{_BUILDER_VERSION}.onnx",
        tokenizer=folder / f"{stem}.tokenizer.json",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
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
    """Progress goes to the log and to `report`.

    Raises `Misconfigured` without genuine weights, `EmbedderUnavailable` if the hub fails or time runs out,
    `StorageUnavailable`.
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
    if not line.startswith('{"kind": '):
        return None
    return cast("dict[str, str]", json.loads(line))
