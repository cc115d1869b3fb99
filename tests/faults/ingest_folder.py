"""`python -m tests.faults.ingest_folder FOLDER DATA_DIR`: take a folder in, three files at a time, telling of each step."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine import analysis
from rag_engine.embedders import hashing
from rag_engine.indexes import embedded
from rag_engine.ingestion import Ingestion, IngestProgress, blob_from_path
from rag_engine.parsing import parser_pool
from rag_engine.ports import IndexIdentity
from rag_engine.splitters import structure
from rag_engine.storage import sqlite
from rag_engine.storage.catalog import SqliteCatalog

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.indexes.embedded import EmbeddedIndex

_AT_ONCE = 3


@asynccontextmanager
async def stored(
    data_dir: Path,
) -> AsyncGenerator[tuple[SqliteCatalog, EmbeddedIndex, hashing.HashingEmbedder]]:
    """The catalog, the index and the embedder of a data directory."""
    async with (
        sqlite.connect(data_dir / "footnote.sqlite") as database,
        hashing.connect(hashing.Settings(dimensions=64, max_tokens=64), data_dir=data_dir) as embedder,
        embedded.connect(
            embedded.Settings(),
            data_dir=data_dir,
            identity=IndexIdentity(
                model=embedder.model, dimensions=embedder.dimensions, analyzer=analysis.VERSION
            ),
        ) as index,
    ):
        yield SqliteCatalog(database), index, embedder


async def ingest(paths: list[Path], data_dir: Path) -> None:
    """Every file, in order."""
    async with (
        stored(data_dir) as (catalog, index, embedder),
        parser_pool(workers=2, seconds=60, memory_bytes=1 << 30) as pool,
    ):
        base = await catalog.open("docs", model=embedder.model)
        ingestion = Ingestion(
            parse=pool.parse,
            splitter=structure.build(
                structure.Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
            ),
            embedder=embedder,
            index=index,
            catalog=catalog,
        )
        waiting = iter(paths)

        async def work() -> None:
            for path in waiting:
                await ingestion.ingest(await blob_from_path(path), knowledge_base=base.id, progress=tell)

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(work())


def tell(progress: IngestProgress) -> None:
    """A line for the process that watches."""
    print(progress.name, progress.state, flush=True)


if __name__ == "__main__":
    asyncio.run(ingest(sorted(Path(sys.argv[1]).iterdir()), Path(sys.argv[2])))
