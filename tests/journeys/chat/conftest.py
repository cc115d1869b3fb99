"""One bot per platform and module, with the module's `SETTINGS`; each test asks in its own channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.journeys.chat.scenario import Scenario, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def town(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scenario]:
    settings = getattr(request.module, "SETTINGS", {})
    async with scenario(request.param, tmp_path_factory.mktemp(request.param), **settings) as opened:
        yield opened
        # after every module: no limit was broken and nobody was pinged
        assert opened.chat.server.windows.violations == []
        assert opened.chat.server.pings == []
