"""What `footnote add` left in a data directory, read back through the parts."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.embedders import hashing
from rag_engine.indexes import embedded
from rag_engine.ports import IndexIdentity
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.text import analyzer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex

SETTINGS = hashing.Settings(dimensions=64, max_tokens=64)
ENVIRONMENT = {
    "FOOTNOTE_EMBEDDER__KIND": "hashing",
    "FOOTNOTE_EMBEDDER__DIMENSIONS": str(SETTINGS.dimensions),
    "FOOTNOTE_EMBEDDER__MAX_TOKENS": str(SETTINGS.max_tokens),
}
"""For the command: small chunks, many to a file."""


@asynccontextmanager
async def stored(data_dir: Path) -> AsyncGenerator[tuple[SqliteCatalog, EmbeddedIndex]]:
    """The catalog and the index of a data directory."""
    async with (
        connect(data_dir / "footnote.sqlite") as database,
        hashing.connect(SETTINGS, data_dir=data_dir) as embedder,
        embedded.connect(
            embedded.Settings(),
            data_dir=data_dir,
            identity=IndexIdentity(
                model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
            ),
        ) as index,
    ):
        yield SqliteCatalog(database), index
