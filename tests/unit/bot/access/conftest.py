from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.access.knowledge import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.unit.bot.access.knowledge import Chat


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with opened(tmp_path) as made:
        yield made
