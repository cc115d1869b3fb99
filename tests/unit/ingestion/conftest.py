"""A new library for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.splitters.structure import Settings, build
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.unit.ingestion.world import GatedEmbedder, LineParser, ListedIndex, World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    folder = tmp_path / "files"
    folder.mkdir()
    async with (
        connect(new_database(tmp_path / "footnote.sqlite")) as database,
        hashing.connect(hashing.Settings(max_tokens=64), data_dir=tmp_path) as inner,
    ):
        embedder, index, parser = GatedEmbedder(inner), ListedIndex(), LineParser()
        catalog = SqliteCatalog(database)
        base = await catalog.open("docs", model=embedder.model)
        ingestion = Ingestion(
            parse=parser.parse,
            splitter=build(Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens),
            embedder=embedder,
            index=index,
            catalog=catalog,
            contents=index,
        )
        yield World(ingestion, catalog, index, embedder, parser, base.id, folder, database)
