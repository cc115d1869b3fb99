"""`footnote sync`, killed at random moments while its folder changes: equal to one go."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from asyncio.subprocess import DEVNULL
from typing import TYPE_CHECKING

from tests.doubles import commands
from tests.faults.add_killed import (
    PROJECT,
    assert_nothing_half_indexed,
    contents,
    leftovers,
    temporary,
    write_files,
)
from tests.faults.stored import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doubles.commands import Command


async def killed_and_repeated(folder: Path, *, moments: int, seed: int) -> int:
    """Asserts that what remains equals one go; returns the number of kills."""
    files, killed, whole = folder / "files", folder / "killed", folder / "whole"
    files.mkdir()
    write_files(files, version=1)
    longest = await seconds_of_one_go(folder / "timed", files)
    await footnote(killed, "source", "add", str(files), "--kb", "docs", "--later")
    chance = random.Random(seed)
    kills = 0
    for moment in range(3 * moments):
        if kills == moments:
            break
        change(files, version=1 + moment % 2, fewer=moment >= moments // 2)
        kills += await run_and_kill(killed, seconds=chance.uniform(0.05, 0.9) * longest)
        await assert_nothing_half_indexed(killed)
    change(files, version=2, fewer=True)
    await footnote(killed, "sync")
    await footnote(whole, "source", "add", str(files), "--kb", "docs")
    one, other = await contents(killed), await contents(whole)
    assert one == other
    await footnote(killed, "sync")
    assert await contents(killed) == one
    assert leftovers(killed) == ()
    return kills


def change(files: Path, *, version: int, fewer: bool) -> None:
    write_files(files, version=version)
    if fewer:
        for name in ("07.py", "11.py", "22.csv"):
            (files / name).unlink()


async def seconds_of_one_go(data_dir: Path, files: Path) -> float:
    """How long the machine takes now."""
    await footnote(data_dir, "source", "add", str(files), "--kb", "docs", "--later")
    began = time.monotonic()
    await footnote(data_dir, "sync")
    return time.monotonic() - began


async def run_and_kill(data_dir: Path, *, seconds: float) -> bool:
    async with asyncio.timeout(120):
        process = await started(data_dir, "sync")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
        if process.returncode is None:
            process.kill()
        await process.communicate()
    return process.returncode == -signal.SIGKILL


async def footnote(data_dir: Path, *arguments: str) -> None:
    async with asyncio.timeout(120):
        process = await started(data_dir, *arguments)
        await process.communicate()
    assert process.returncode in (0, 1), "1: the damaged file is reported"


async def started(data_dir: Path, *arguments: str) -> Command:
    return await commands.start(
        *arguments,
        folder=PROJECT,
        environment={
            **os.environ,
            **ENVIRONMENT,
            "FOOTNOTE_DATA_DIR": str(data_dir),
            "TMPDIR": str(temporary(data_dir)),
        },
        stderr=DEVNULL,
    )
