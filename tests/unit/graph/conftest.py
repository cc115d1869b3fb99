from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.graph.world import GraphWorld, graph_world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[GraphWorld]:
    async with graph_world(tmp_path) as world:
        yield world
