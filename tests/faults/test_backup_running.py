"""Backups while one program answers and another takes files in: each holds together when it is restored."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sqlite3
import sys
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

import pytest

from bot import settings
from bot.maintenance import backup, data_files
from bot.maintenance.restore import restore
from tests.conftest import PROJECT
from tests.faults.stored import ENVIRONMENT, stored
from tests.unit.bot.maintenance.directories import wanted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine
    from pathlib import Path

FILES = 12


@pytest.mark.timeout(240)
@pytest.mark.parametrize("backups", [8, pytest.param(40, marks=pytest.mark.soak)])
async def test_backups_while_everything_is_written(tmp_path: Path, backups: int) -> None:
    folder, data_dir = tmp_path / "files", tmp_path / "data"
    folder.mkdir()
    write(folder, version=0)
    await ran("add", str(folder), data_dir=data_dir)
    there = data_files.of(settings.read({}).model_copy(update={"data_dir": data_dir}))
    seen: list[tuple[int, int]] = []
    async with asking(data_dir), adding(folder, data_dir):
        for number in itertools.count():
            file, copy = tmp_path / f"{number}.zip", tmp_path / f"copy-{number}"
            if number == 0:
                await ran("backup", str(file), data_dir=data_dir)
                await ran("restore", str(file), data_dir=copy)
            else:
                made = await asyncio.to_thread(backup.back_up, there, file, index="embedded", check=wanted)
                assert made.held_seconds < 1
                copy.mkdir()
                other = data_files.of(settings.read({}).model_copy(update={"data_dir": copy}))
                await asyncio.to_thread(restore, other, file, index="embedded", replace=False, check=wanted)
            seen.append(await held_together(copy))
            if number + 1 >= backups and len({version for _, version in seen}) > 2:
                break
    assert seen[-1][0] > seen[0][0], "nothing was asked meanwhile"
    assert len({version for _, version in seen}) > 2, "nothing was taken in meanwhile"


async def held_together(data_dir: Path) -> tuple[int, int]:
    """How many turns there are, and the newest version of a file; every database is sound and every document whole."""
    turns = turns_of_sound_databases(data_dir)
    versions: set[int] = set()
    async with stored(data_dir) as (catalog, index):
        [base] = await catalog.knowledge_bases()
        chunks: dict[str, list[int]] = {}
        async for chunk, _ in index.scan(base.id):
            versions.add(int(chunk.text.partition("version ")[2].partition(".")[0]))
            chunks.setdefault(chunk.document, []).append(chunk.ordinal)
        ready = [record for record in await catalog.records(base.id) if record.state == "ready"]
        assert ready
        for record in ready:
            assert chunks[record.document.id] == list(range(record.chunks)), record
            assert await catalog.sections(record.document.id)
    return turns, max(versions)


def turns_of_sound_databases(data_dir: Path) -> int:
    for path in data_dir.glob("*.sqlite"):
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), path
    with closing(sqlite3.connect(data_dir / data_files.CATALOG)) as database:
        turns = database.execute("SELECT count(*) FROM turns").fetchone()[0]
        assert database.execute("SELECT count(*) FROM traces").fetchone()[0] * 2 == turns
    return turns


def write(folder: Path, *, version: int) -> None:
    """Files of some passages each, every one of another version now."""
    for number in range(FILES):
        lines = [
            f"Paragraph {line} of file {number} is of version {version}." for line in range(8 * number + 8)
        ]
        (folder / f"{number:02}.txt").write_text("\n\n".join(lines), encoding="utf-8")


@asynccontextmanager
async def asking(data_dir: Path) -> AsyncGenerator[None]:
    """`footnote run` at the console, asked one question after the other."""
    process = await started("run", data_dir=data_dir, stdin=asyncio.subprocess.PIPE)

    async def ask() -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in itertools.count():
            process.stdin.write(f"What is paragraph {number % 8} of which version?\n".encode())
            await process.stdin.drain()
            while b"[1]" not in await process.stdout.readline():
                pass

    async with background(ask(), process):
        yield


@asynccontextmanager
async def adding(folder: Path, data_dir: Path) -> AsyncGenerator[None]:
    """`footnote add`, again and again, of files that have changed."""

    async def add() -> None:
        for version in itertools.count(1):
            write(folder, version=version)
            await ran("add", str(folder), data_dir=data_dir)

    async with background(add()):
        yield


@asynccontextmanager
async def background(
    work: Coroutine[object, object, None], process: asyncio.subprocess.Process | None = None
) -> AsyncGenerator[None]:
    """The work goes on until the block ends, and must not have ended before."""
    task = asyncio.create_task(work)
    try:
        yield
        assert not task.done(), task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        if process is not None:
            process.kill()
            await process.wait()


async def ran(*arguments: str, data_dir: Path) -> None:
    process = await started(*arguments, data_dir=data_dir)
    try:
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
        assert process.returncode == 0, out.decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def started(
    *arguments: str, data_dir: Path, stdin: int = asyncio.subprocess.DEVNULL
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *arguments),
        cwd=PROJECT,
        env={**os.environ, **ENVIRONMENT, "FOOTNOTE_DATA_DIR": str(data_dir)},
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
