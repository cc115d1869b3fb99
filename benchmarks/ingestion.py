"""Ingestion against the bare embedder, its memory, and how soon a new document is searchable.

`python -m benchmarks.ingestion [--quick] [throughput | memory | one_more]`; each part runs in its own process.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.made_files import sentences, write_files
from bot.composition import application
from bot.settings import Settings
from rag_engine import plugins
from rag_engine.ingestion.ingestion import blob_from_path
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, Search

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from bot.composition.components import IndexingComponents
    from rag_engine.types import KnowledgeBaseId

_IN_FLIGHT = 4
_PARTS = ("throughput", "memory", "one_more")


_IDLE_PROCESS = """
import select, sys, time
longest, last = 0.0, time.perf_counter()
while not select.select([sys.stdin], [], [], 0.005)[0]:
    now = time.perf_counter()
    longest, last = max(longest, now - last - 0.005), now
print(longest)
"""


@dataclass(slots=True)
class LoopSamples:
    """Event loop lag in seconds, longest stretches of its thread's processor time in seconds, and memory in bytes.

    Other load delays every process, so the lag of an idle process is subtracted.
    """

    lags: list[float] = field(default_factory=list[float])
    stretches: list[float] = field(default_factory=list[float])
    idle: float = 0.0
    resident: int = 0

    def figures(self) -> str:
        return (
            f"event loop: late by {max(self.lags) * 1e3:.0f} ms at most (50 ms), 99.9 % below "
            f"{np.quantile(self.lags, 0.999) * 1e3:.0f}; an idle process at the same time {self.idle * 1e3:.0f}; "
            f"longest stretch of the loop's own work {max(self.stretches) * 1e3:.0f} ms of processor"
        )


@asynccontextmanager
async def watched() -> AsyncGenerator[LoopSamples]:
    """Samples the clock every few milliseconds, and memory occasionally."""
    samples = LoopSamples()

    async def look() -> None:
        tick, last, used = 0.005, time.perf_counter(), time.thread_time()
        for number in count():
            await asyncio.sleep(tick)
            now, using = time.perf_counter(), time.thread_time()
            samples.lags.append(now - last - tick)
            samples.stretches.append(using - used)
            last, used = now, using
            if number % 20 == 0:
                samples.resident = max(samples.resident, resident())

    idle = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _IDLE_PROCESS, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    task = asyncio.create_task(look(), name="look")
    try:
        yield samples
    finally:
        task.cancel()
        output, _ = await idle.communicate(b"")
        samples.idle = float(output)


def resident() -> int:
    """Resident bytes of this process."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def processor_seconds() -> float:
    """Of this process and its parser workers."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text(encoding="ascii").split():
            process = Path("/proc") / child
            if b"rag_engine.parsing.worker" in (process / "cmdline").read_bytes():
                fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


async def ingest_all(
    paths: Sequence[Path], library: IndexingComponents, knowledge_base: KnowledgeBaseId
) -> None:
    """Several files at a time, like `footnote add`."""
    waiting = iter(paths)

    async def work() -> None:
        for path in waiting:
            outcome = await library.ingestion.ingest(
                await blob_from_path(path), knowledge_base=knowledge_base
            )
            assert outcome.record.state == "ready", outcome.record.reason

    async with asyncio.TaskGroup() as group:
        for _ in range(_IN_FLIGHT):
            group.create_task(work())


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[tuple[IndexingComponents, KnowledgeBaseId]]:
    """A new library with loaded model and running parser workers."""
    warm = folder / "warm"
    warm.mkdir()
    write_files(warm, count=16, seed=0)
    async with application.library(Settings(data_dir=folder / "data")) as library:
        base = await library.catalog.open("warm", model=library.embedder.model)
        await ingest_all(sorted(warm.iterdir()), library, base.id)
        yield library, base.id


async def throughput(folder: Path, *, quick: bool) -> None:
    """Alternates between files and the same chunks bare, so that other load affects both equally."""
    rounds, per_round = (3, 20) if quick else (10, 30)
    chunks = files = 0
    ingesting, embedding = Spent(), Spent()
    folders = [folder / f"round{number}" for number in range(rounds)]
    for number, files_folder in enumerate(folders, start=1):
        files_folder.mkdir()
        write_files(files_folder, count=per_round, seed=number)
    async with opened(folder) as (library, _), watched() as samples, bare_embedder(folder) as embed:
        for number, files_folder in enumerate(folders):
            base = await library.catalog.open(f"round{number}", model=library.embedder.model)
            paths = sorted(files_folder.iterdir())
            with ingesting:
                await ingest_all(paths, library, base.id)
            texts = [searchable_text(chunk) async for chunk, _ in library.index.scan(base.id)]
            with embedding:
                await embed(texts)
            chunks, files = chunks + len(texts), files + len(paths)
    for name, spent in (("ingested", ingesting), ("bare embedder", embedding)):
        print(f"{files} files, {chunks} chunks, {name}: {chunks / spent.wall:.1f} chunks/s, ", end="")
        print(f"{chunks / spent.processor:.1f} a second of processor")
    print(f"ratio {embedding.wall / ingesting.wall:.3f} (0.95), by processor time ", end="")
    print(f"{embedding.processor / ingesting.processor:.3f}")
    print(samples.figures())


@dataclass(slots=True)
class Spent:
    """Total wall and processor seconds of its blocks."""

    wall: float = 0.0
    processor: float = 0.0

    def __enter__(self) -> None:
        self.wall -= time.perf_counter()
        self.processor -= processor_seconds()

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.processor += processor_seconds()


async def memory(folder: Path, *, quick: bool) -> None:
    """Growth over the loaded model while 1,000 files are added."""
    files_folder = folder / "files"
    files_folder.mkdir()
    files = 100 if quick else 1_000
    write_files(files_folder, count=files, seed=1, longest=6)
    paths = sorted(files_folder.iterdir())
    spent = Spent()
    async with opened(folder) as (library, base), watched() as samples:
        before = resident()
        with spent:
            await ingest_all(paths, library, base)
        grown = (max(samples.resident, resident()) - before) / 1e6
        chunks = await library.index.count(base)
    print(f"{files} files, {chunks} chunks in {spent.wall:.0f} s: {before / 1e6:.0f} MB before, ", end="")
    print(f"{grown:+.0f} MB at most (100 MB)")
    print(samples.figures())


async def one_more(folder: Path, *, quick: bool) -> None:
    """From the call until a search finds the document, without its embedding time."""
    wall: list[float] = []
    processor: list[float] = []
    async with opened(folder) as (library, base), bare_embedder(folder) as embed:
        await fill(library, base, chunks=2_000 if quick else 20_000)
        async with watched() as samples:
            for number in range(5 if quick else 20):
                adding, embedding = Spent(), Spent()
                path = folder / f"more{number}.md"
                text = f"# Rareword{number}\n\n{sentences(random.Random(number), 30)}"
                path.write_text(text, encoding="utf-8")
                blob = await blob_from_path(path)
                with adding:
                    outcome = await library.ingestion.ingest(blob, knowledge_base=base)
                    await must_find(library, base, f"rareword{number}", outcome.record.document.id)
                texts = await texts_of(library, base, outcome.record.document.id)
                with embedding:
                    await embed(texts)
                wall.append(adding.wall - embedding.wall)
                processor.append(adding.processor - embedding.processor)
        chunks = await library.index.count(base)
    print(f"one more document in an index of {chunks} chunks, beyond its embedding: ", end="")
    print(f"{statistics.median(wall) * 1e3:.0f} ms (50 ms), {max(wall) * 1e3:.0f} at most; ", end="")
    print(f"{statistics.median(processor) * 1e3:.0f} ms of processor")
    print(samples.figures())


async def must_find(
    library: IndexingComponents, base: KnowledgeBaseId, token: str, document: DocumentId
) -> None:
    """A search that only this document can answer."""
    search = Search(leg="lexical", knowledge_bases=frozenset([base]), limit=1, tokens=(token,))
    [ranking] = await library.index.search([search])
    assert [hit.chunk.document for hit in ranking.hits] == [document]


async def fill(library: IndexingComponents, base: KnowledgeBaseId, *, chunks: int) -> None:
    """Synthetic vectors, fifty chunks per document: the index does not care about their source."""
    generator, chance = np.random.default_rng(1), random.Random(1)
    for number in range(chunks // 50):
        name = DocumentId(f"filler{number}")
        document = Document(
            id=name, knowledge_base=base, title=f"{name}.txt", uri="", media_type="", digest=name
        )
        rows = generator.normal(size=(50, library.embedder.dimensions)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        held = [
            Chunk(
                id=ChunkId(f"{name}-{ordinal}"),
                document=name,
                knowledge_base=base,
                ordinal=ordinal,
                text=sentences(chance, 12),
                title=document.title,
                language="en",
            )
            for ordinal in range(50)
        ]
        await library.index.put(document, list(zip(held, rows, strict=True)))


async def texts_of(library: IndexingComponents, base: KnowledgeBaseId, document: DocumentId) -> list[str]:
    return [
        searchable_text(chunk) async for chunk, _ in library.index.scan(base) if chunk.document == document
    ]


@asynccontextmanager
async def bare_embedder(folder: Path) -> AsyncGenerator[Callable[[Sequence[str]], Awaitable[object]]]:
    """The embedder without the library's cache."""
    module = plugins.load("rag_engine.embedders", "local")
    async with module.connect(module.Settings(), data_dir=folder / "data") as embedder:
        await embedder.embed(["warm"], side="passage")
        yield lambda texts: embedder.embed(texts, side="passage")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.ingestion")
    parser.add_argument("part", nargs="?", choices=_PARTS)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    arguments = parser.parse_args()
    if arguments.part is None:
        for part in _PARTS:
            subprocess.run([sys.executable, "-m", "benchmarks.ingestion", part, *sys.argv[1:]], check=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        part = {"throughput": throughput, "memory": memory, "one_more": one_more}[arguments.part]
        asyncio.run(part(Path(folder), quick=arguments.quick))


if __name__ == "__main__":
    main()
