"""`python -m benchmarks.sources [--files N]`: how long a sync of a folder takes without changes, and with one in a hundred files changed.

Setting up records the documents without their passages; the files that change are parsed and embedded in full.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.composition import application
from bot.composition.sources import Sources
from rag_engine.ingestion.source_sync import SourceSync
from rag_engine.sources import Surroundings, folder
from rag_engine.types import Document, DocumentId, DocumentRecord, Ingested
from rag_engine.web.page_client import page_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from rag_engine.sync.types import ListedSource, SourceContent, SourceEntry
    from rag_engine.types import Blob, KnowledgeBaseId


@dataclass(kw_only=True)
class _Counted:
    inner: ListedSource
    listings: int = 0
    reads: int = 0

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        self.listings += 1
        async for batch in self.inner.entries():
            yield batch

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        self.reads += 1
        return await self.inner.read(entry, path, since=since)


def write(path: Path, files: int) -> None:
    for number in range(files):
        within = path / f"{number % 100:02}"
        within.mkdir(exist_ok=True)
        file = within / f"{number}.md"
        file.write_text(f"# Rule {number}\n\nRule {number} says that item {number * 7} is allowed.\n")


async def measure(path: Path, files: int) -> None:
    watched = path / "files"
    watched.mkdir()
    await asyncio.to_thread(write, watched, files)
    os.environ["FOOTNOTE_DATA_DIR"] = str(path / "data")
    read = settings.read()
    async with application.library(read) as library, page_client() as client:
        sources = Sources(settings=read, library=library)
        base = await library.catalog.open("kb", model=library.embedder.model)
        source = await sources.add(base.id, str(watched))

        async def record(blob: Blob, knowledge_base: KnowledgeBaseId) -> Ingested:
            document = Document(
                id=DocumentId(blob.digest[:32]),
                knowledge_base=knowledge_base,
                title=blob.name,
                uri=blob.uri,
                media_type=blob.media_type,
                digest=blob.digest,
            )
            stored = DocumentRecord(document=document, state="ready")
            await library.catalog.save(stored)
            return Ingested(record=stored, changed=True)

        async def run(sync: SourceSync, label: str) -> None:
            surroundings = Surroundings(
                folder=path / "own", data_dir=read.data_dir, client=client, most_bytes=1 << 20, seconds=60
            )
            async with folder.connect(source.address, folder.Settings(), surroundings=surroundings) as opened:
                counted = _Counted(inner=opened)
                started = time.perf_counter()
                outcome = await sync.run(source, counted)
                seconds = time.perf_counter() - started
            print(
                f"{label}: {seconds:.2f} s, {counted.listings} listing, {counted.reads:,} files read; {outcome.counts} {outcome.error}"
            )

        full = sources._sync()
        await run(
            SourceSync(store=full.store, ingest=record, forget=full.forget, folder=full.folder), "set-up"
        )
        await run(full, "no change")
        for number in range(0, files, 100):
            (watched / f"{number % 100:02}" / f"{number}.md").write_text(
                f"# Rule {number}\n\nChanged.\n\nNo. {number}"
            )
        await run(full, "1 % changed")
        await run(full, "no change again")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as path:
        asyncio.run(measure(Path(path), arguments.files))


if __name__ == "__main__":
    main()
