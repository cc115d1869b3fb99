from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.ingestion.expansion.world import ExpansionWorld, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ExpansionWorld]:
    async with opened(tmp_path) as world:
        yield world
