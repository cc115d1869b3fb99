"""`python -m benchmarks.sources [--files N]`: how long a sync of a folder takes without changes, and with one in a hundred files changed.

Setting up records the documents without their passages; the files that change are parsed and embedded in full.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.composition import application
from bot.composition.sources import Sources
from rag_engine.ports import DocumentSave
from rag_engine.sources import Surroundings, folder
from rag_engine.sync.types import StoredEntry
from rag_engine.types import Document, DocumentId, DocumentRecord
from rag_engine.web.page_client import page_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bot.composition.components import IndexingComponents
    from rag_engine.ingestion.source_sync import SourceSync
    from rag_engine.sync.types import ListedSource, SourceContent, SourceEntry, SyncedSource


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


async def _record_all(
    library: IndexingComponents, sources: Sources, source: SyncedSource, watched: Path
) -> None:
    surroundings = Surroundings(
        folder=watched, data_dir=watched.parent / "data", client=None, most_bytes=1 << 20, seconds=60
    )
    async with folder.connect(str(watched), folder.Settings(), surroundings=surroundings) as opened:
        async for batch in opened.entries():
            saves: list[DocumentSave] = []
            rows: list[StoredEntry] = []
            for entry in batch:
                digest = hashlib.sha256((watched / entry.key).read_bytes()).hexdigest()
                document = Document(
                    id=DocumentId(digest[:32]),
                    knowledge_base=source.knowledge_base,
                    title=entry.key,
                    uri=entry.uri,
                    media_type="text/markdown",
                    digest=digest,
                )
                saves.append(DocumentSave(record=DocumentRecord(document=document, state="ready")))
                row = StoredEntry(
                    key=entry.key,
                    uri=entry.uri,
                    fingerprint=entry.fingerprint,
                    digest=digest,
                    state="present",
                )
                rows.append(row)
            await library.catalog.save_all(saves)
            await sources.store.put(source.id, rows)


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
        await _record_all(library, sources, source, watched)
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
