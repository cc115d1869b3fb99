"""Ingestion against the bare embedder, its memory, and how soon one more document is searchable.

`python -m benchmarks.ingestion [--quick] [throughput | memory | one_more]`; each part runs in a process of its own.
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
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.made_files import sentences, write_files
from bot import compose
from bot.settings import Settings
from rag_engine import plugins
from rag_engine.ingestion import blob_from_path
from rag_engine.searchable import searchable_text
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, Search

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from rag_engine.types import KnowledgeBaseId

_IN_FLIGHT = 4
_PARTS = ("throughput", "memory", "one_more")


@dataclass(slots=True)
class Watch:
    """The event loop's longest delay in seconds, and the most memory the process held in bytes."""

    lags: list[float] = field(default_factory=list[float])
    resident: int = 0

    def figures(self) -> str:
        return f"longest {max(self.lags) * 1e3:.1f} ms, 99.9 % below {np.quantile(self.lags, 0.999) * 1e3:.1f} ms"


@asynccontextmanager
async def watched() -> AsyncGenerator[Watch]:
    """Look at the clock and at the memory every few milliseconds."""
    watch = Watch()

    async def look() -> None:
        tick, last = 0.005, time.perf_counter()
        while True:
            await asyncio.sleep(tick)
            now = time.perf_counter()
            watch.lags.append(now - last - tick)
            watch.resident = max(watch.resident, resident())
            last = now

    task = asyncio.create_task(look(), name="watch")
    try:
        yield watch
    finally:
        task.cancel()


def resident() -> int:
    """Bytes of this process in memory now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def ingest_all(
    paths: Sequence[Path], library: compose.Library, knowledge_base: KnowledgeBaseId
) -> None:
    """As `footnote add` does: several files at a time."""
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
async def opened(folder: Path) -> AsyncGenerator[tuple[compose.Library, KnowledgeBaseId]]:
    """A fresh library with its model loaded and its parser workers started."""
    warm = folder / "warm"
    warm.mkdir()
    write_files(warm, count=16, seed=0)
    async with compose.library(Settings(data_dir=folder / "data")) as library:
        base = await library.catalog.open("warm", model=library.embedder.model)
        await ingest_all(sorted(warm.iterdir()), library, base.id)
        yield library, base.id


async def throughput(folder: Path, *, quick: bool) -> None:
    """Alternate between files and the same chunks bare, so that other work on the machine hurts both alike."""
    rounds, count = (3, 20) if quick else (10, 30)
    chunks = files = 0
    ingesting = embedding = 0.0
    async with opened(folder) as (library, _), watched() as watch, bare_embedder(folder) as embed:
        for number in range(rounds):
            files_folder = folder / f"round{number}"
            files_folder.mkdir()
            write_files(files_folder, count=count, seed=number + 1)
            base = await library.catalog.open(f"round{number}", model=library.embedder.model)
            paths = sorted(files_folder.iterdir())
            ingesting += await seconds_of(lambda paths=paths, base=base: ingest_all(paths, library, base.id))
            texts = [searchable_text(chunk) async for chunk, _ in library.index.scan(base.id)]
            embedding += await seconds_of(lambda texts=texts: embed(texts))
            chunks, files = chunks + len(texts), files + len(paths)
    print(f"{files} files, {chunks} chunks: {chunks / ingesting:.1f} chunks/s ingested, ", end="")
    print(f"{chunks / embedding:.1f} chunks/s by the bare embedder, ratio {embedding / ingesting:.3f} (0.95)")
    print(f"event loop: {watch.figures()} (50 ms)")


async def memory(folder: Path, *, quick: bool) -> None:
    """The growth over the loaded model while 1,000 files go in."""
    count = 100 if quick else 1_000
    files_folder = folder / "files"
    files_folder.mkdir()
    write_files(files_folder, count=count, seed=1, longest=6)
    async with opened(folder) as (library, base), watched() as watch:
        before = resident()
        seconds = await seconds_of(lambda: ingest_all(sorted(files_folder.iterdir()), library, base))
        grown = (max(watch.resident, resident()) - before) / 1e6
        chunks = await library.index.count(base)
    print(
        f"{count} files, {chunks} chunks in {seconds:.0f} s: {before / 1e6:.0f} MB with the model loaded, ",
        end="",
    )
    print(f"{grown:+.0f} MB at most (100 MB)")
    print(f"event loop: {watch.figures()} (50 ms)")


async def one_more(folder: Path, *, quick: bool) -> None:
    """From the call until a search finds the document, less what its embedding takes."""
    async with opened(folder) as (library, base), bare_embedder(folder) as embed:
        await fill(library, base, chunks=2_000 if quick else 20_000)
        beyond: list[float] = []
        texts: list[str] = []
        async with watched() as watch:
            for number in range(5 if quick else 20):
                path = folder / f"more{number}.md"
                path.write_text(
                    f"# Rareword{number}\n\n{sentences(random.Random(number), 30)}", encoding="utf-8"
                )
                blob = await blob_from_path(path)
                search = Search(
                    leg="lexical", knowledge_bases=frozenset([base]), limit=1, tokens=(f"rareword{number}",)
                )
                started = time.perf_counter()
                outcome = await library.ingestion.ingest(blob, knowledge_base=base)
                [ranking] = await library.index.search([search])
                took = time.perf_counter() - started
                assert [hit.chunk.document for hit in ranking.hits] == [outcome.record.document.id]
                texts = await texts_of(library, base, outcome.record.document.id)
                beyond.append(took - await seconds_of(lambda texts=texts: embed(texts)))
        total = await library.index.count(base)
    print(f"one more document ({len(texts)} chunks) in an index of {total} chunks: searchable ", end="")
    print(
        f"{statistics.median(beyond) * 1e3:.0f} ms beyond its embedding, at most {max(beyond) * 1e3:.0f} (50 ms)"
    )
    print(f"event loop: {watch.figures()} (50 ms)")


async def fill(library: compose.Library, base: KnowledgeBaseId, *, chunks: int) -> None:
    """Chunks with made-up vectors, fifty a document: the index does not mind where vectors come from."""
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


async def texts_of(library: compose.Library, base: KnowledgeBaseId, document: DocumentId) -> list[str]:
    """What was embedded of a document."""
    return [
        searchable_text(chunk) async for chunk, _ in library.index.scan(base) if chunk.document == document
    ]


@asynccontextmanager
async def bare_embedder(folder: Path) -> AsyncGenerator[Callable[[Sequence[str]], Awaitable[object]]]:
    """The embedder as it is, without the cache that the library puts round it."""
    module = plugins.load("rag_engine.embedders", "local")
    async with module.connect(module.Settings(), data_dir=folder / "data") as embedder:
        await embedder.embed(["warm"], side="passage")
        yield lambda texts: embedder.embed(texts, side="passage")


async def seconds_of(work: Callable[[], Awaitable[object]]) -> float:
    """Wall seconds."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


def main() -> None:
    """One part here, or each in a process of its own."""
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
