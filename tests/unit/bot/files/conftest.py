from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.chatting import CHANNEL, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import KnowledgeBase
    from tests.unit.bot.chatting import World


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path, max_file_bytes=2_000_000) as made:
        yield made


@pytest.fixture
async def base(here: World) -> KnowledgeBase:
    return await here.town.own(CHANNEL)
