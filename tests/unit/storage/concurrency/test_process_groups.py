from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from rag_engine.storage.concurrency import process_groups

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.process

_FLOOD = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
_CHILD = "import subprocess, sys\nprint(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], stdout=subprocess.DEVNULL).pid, flush=True)\ninput()"


async def _started(code: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=PIPE, stdout=PIPE, process_group=0
    )


async def test_a_program_that_writes_without_end_is_seen_to_end() -> None:
    """While its pipe is unread, `wait` never returns: asyncio pauses at 128 KiB."""
    process = await _started(_FLOOD)
    assert process.stdout is not None
    await process.stdout.read(1)
    reader = process.stdout
    await _until(lambda: reader._paused)  # type: ignore[attr-defined]
    await process_groups.end(process, seconds=30)
    assert process.returncode == -9


async def test_what_it_started_ends_too() -> None:
    process = await _started(_CHILD)
    assert process.stdout is not None
    child = int(await process.stdout.readline())
    await process_groups.end(process, seconds=30)
    await _until(lambda: not _runs(child))
    assert process.returncode == -9


async def test_the_status_of_one_that_ended_by_itself_is_kept() -> None:
    process = await _started("print('x' * 1_000_000); raise SystemExit(3)")
    assert await process_groups.ended(process) == 3
    await process_groups.end(process, seconds=30)
    assert process.returncode == 3


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123
            return file.read().rpartition(") ")[2][:1] not in "ZX"
    except FileNotFoundError:
        return False
