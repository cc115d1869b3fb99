from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.chatting import world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import World


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        yield made
