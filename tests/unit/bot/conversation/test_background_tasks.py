from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.conversation.turn.background_tasks import BackgroundTasks
from rag_engine.errors import ModelUnavailable

if TYPE_CHECKING:
    import pytest


async def test_work_is_cancelled_by_its_key_and_at_the_end() -> None:
    tasks, ended = BackgroundTasks(), list[str]()

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    for name in ("one", "two"):
        tasks.start(name, work(name), name=name, if_failed="none")
    await asyncio.sleep(0)
    await tasks.cancel("one")
    assert ended == ["one"]
    await tasks.cancel("one")
    await tasks.close()
    assert ended == ["one", "two"]


async def test_an_expected_error_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    tasks = BackgroundTasks()

    async def fail() -> None:
        raise ModelUnavailable

    tasks.start("one", fail(), name="one", if_failed="no tags")
    for _ in range(3):
        await asyncio.sleep(0)
    assert [record.getMessage() for record in caplog.records] == ["no tags: ModelUnavailable"]


async def test_an_unexpected_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks = BackgroundTasks()

    async def fail() -> None:
        raise ZeroDivisionError

    tasks.start("one", fail(), name="one", if_failed="none")
    for _ in range(3):
        await asyncio.sleep(0)
    assert "ZeroDivisionError" in caplog.text
    await tasks.close()
