from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from yarl import URL

from rag_engine.web.page_client import PageLimits, page_client
from tests.doubles.web_server import web_server
from tests.unit.ingestion.conftest import world
from tests.unit.sources.synced import Synced, Web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from tests.unit.ingestion.world import World

__all__ = ["world"]


@pytest.fixture
def synced(world: World, tmp_path: Path) -> Synced:
    return Synced(world=world, data_dir=tmp_path)


@pytest.fixture
async def small_web() -> AsyncIterator[Web]:
    async with _web() as web:
        yield web


@asynccontextmanager
async def _web() -> AsyncGenerator[Web]:
    """The client may connect to the server's port, and to nothing else."""
    async with web_server() as server:
        port = URL(server.url).port
        limits = PageLimits(bytes=200_000, seconds=5.0)
        async with page_client(limits, is_allowed=lambda _, to: to == port, parse=URL) as client:
            yield Web(server=server, client=client)
