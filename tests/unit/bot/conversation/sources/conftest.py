"""A library in the folder of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.files.originals import Originals
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.unit.bot.conversation.sources.shown_sources import Library, Readers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


@pytest.fixture
async def library(tmp_path: Path) -> AsyncGenerator[Library]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        catalog = SqliteCatalog(database)
        yield Library(
            folder=tmp_path,
            catalog=catalog,
            readers=Readers(),
            originals=Originals(tmp_path / "originals", catalog=catalog, most_bytes=1 << 24),
        )
