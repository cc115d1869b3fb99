"""A file lock: shared by many, or exclusive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import BadSettings, IndexUnavailable
from rag_engine.storage.concurrency.file_lock import held
from tests.unit.storage import programs

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

HOLD = """
import asyncio, sys
from pathlib import Path
from rag_engine.errors import IndexUnavailable
from rag_engine.storage.concurrency.file_lock import held

async def main():
    async with held(Path(sys.argv[1]), alone=sys.argv[2] == "alone", seconds=1, refusal=IndexUnavailable()):
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def hold(path: Path, *, alone: bool, seconds: float = 0.0) -> AbstractAsyncContextManager[None]:
    return held(path, alone=alone, seconds=seconds, refusal=IndexUnavailable("It is taken."))


async def test_many_hold_it_and_nobody_has_it_alone_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.lock"
    async with hold(path, alone=False), hold(path, alone=False):
        with pytest.raises(IndexUnavailable, match="It is taken"):
            await hold(path, alone=True).__aenter__()
    async with hold(path, alone=True):
        for alone in (False, True):
            with pytest.raises(IndexUnavailable, match="It is taken"):
                await hold(path, alone=alone).__aenter__()


async def test_it_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    first = hold(path, alone=True)
    await first.__aenter__()
    waiting = asyncio.create_task(hold(path, alone=False, seconds=5).__aenter__())
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    await first.__aexit__(None, None, None)
    async with asyncio.timeout(5):
        await waiting


@pytest.mark.parametrize("way", ["alone", "shared"])
@pytest.mark.process
async def test_a_killed_process_lets_it_go(tmp_path: Path, way: str) -> None:
    path = tmp_path / "a.lock"
    process = await programs.start(HOLD, path, way)
    assert await programs.line(process) == "held"
    with pytest.raises(IndexUnavailable):
        await hold(path, alone=True).__aenter__()
    await programs.kill(process)
    async with hold(path, alone=True, seconds=1):
        pass


async def test_a_place_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadSettings, match="not a directory"):
        await hold(tmp_path / "file" / "a.lock", alone=True).__aenter__()
