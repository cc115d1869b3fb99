from __future__ import annotations

import asyncio

import pytest

from bot.files.pending_removals import removing
from rag_engine.errors import Unavailable

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    "error", [Unavailable("No index.", backend="index", reason="failed"), ValueError("a bug")]
)
async def test_no_error_ends_it_and_each_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    tries, worked = 0, asyncio.Event()

    async def finish() -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise error
        worked.set()

    async with removing(finish, every_seconds=0.0):
        await asyncio.wait_for(worked.wait(), 5)
    (logged,) = caplog.records
    assert "pending removals failed" in logged.message or "unexpected error" in logged.message
