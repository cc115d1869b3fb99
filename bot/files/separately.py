"""A file is taken in by a process of its own, with the same settings: what it does to that process it does to no other.

The process is `bot.files.separate_process`. It is given one request as a line of JSON, ends when its input does, and says how far it
is in lines of JSON, of which the last tells what became of the file.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bot.files.intake import Fatal
from rag_engine import errors
from rag_engine.errors import RagError, Unavailable
from rag_engine.ingestion import IngestProgress
from rag_engine.storage.waiting import uninterrupted
from rag_engine.types import Blob, Document, DocumentRecord, Ingested, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

Line: TypeAlias = "dict[str, Any]"

_SILENT_SECONDS: Final = 900.0
"""After so long without a word it is given up: opening an index or embedding a slice takes seconds, waiting for others minutes."""
_END_SECONDS: Final = 10.0
_LONGEST_LINE: Final = 1 << 20


async def ingest(
    blob: Blob, *, knowledge_base: KnowledgeBaseId, progress: Callable[[IngestProgress], None] | None
) -> Ingested:
    """What became of the file. Raises `Fatal` when the process ended without a last word, and what ingestion raises."""
    request = {"blob": asdict(blob) | {"path": str(blob.path.resolve())}, "knowledge_base": knowledge_base}
    async with _started(request) as process:
        while (line := await _line(process)) is not None:
            if "error" in line:
                raise _error(line)
            if "record" in line:
                return ingested(line)
            if progress is not None:
                progress(IngestProgress(**line))
    raise Fatal


def said(outcome: Ingested | RagError | IngestProgress) -> Line:
    """What the process says, as one line of JSON holds it."""
    if isinstance(outcome, Ingested):
        return asdict(outcome)
    if isinstance(outcome, IngestProgress):
        return asdict(outcome)
    return {"error": type(outcome).__name__, "message": str(outcome)}


def ingested(line: Line) -> Ingested:
    """The outcome that a line tells of."""
    record = line["record"]
    document = Document(**record.pop("document"))
    return Ingested(record=DocumentRecord(document=document, **record), changed=line["changed"])


def requested(line: Line) -> tuple[Blob, KnowledgeBaseId]:
    """The request that a line holds."""
    blob = Blob(**line["blob"] | {"path": Path(line["blob"]["path"])})
    return blob, KnowledgeBaseId(line["knowledge_base"])


def _error(line: Line) -> Exception:
    kind: object = getattr(errors, str(line["error"]), None)
    if isinstance(kind, type) and issubclass(kind, RagError):
        return kind(str(line["message"]))
    return RuntimeError(f"a file could not be read separately: {line['error']}")


@asynccontextmanager
async def _started(request: Line) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The process with its request; it is gone when the block has been left."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.files.separate_process"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LONGEST_LINE,
        # Ctrl-C is for us alone, who end it in an orderly way.
        process_group=0,
    )
    try:
        if process.stdin is None:
            raise RuntimeError("a process is always started with pipes")
        process.stdin.write(json.dumps(request).encode() + b"\n")
        yield process
    finally:
        await uninterrupted(_end(process))


async def _end(process: asyncio.subprocess.Process) -> None:
    """It ends when its input does, and else by force."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _line(process: asyncio.subprocess.Process) -> Line | None:
    """The next line; None when there are no more."""
    if process.stdout is None:
        raise RuntimeError("a process is always started with pipes")
    try:
        async with asyncio.timeout(_SILENT_SECONDS):
            line = await process.stdout.readline()
    except TimeoutError as error:
        raise Unavailable("A file takes too long to be taken in; it is tried again later.") from error
    return json.loads(line) if line.endswith(b"\n") else None
