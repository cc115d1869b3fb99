from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.web.stand import Stand, full_stand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncGenerator[Stand]:
    async with full_stand(tmp_path) as made:
        yield made
