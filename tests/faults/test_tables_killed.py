"""`footnote add` of a large table, killed at each step of writing it; afterwards nothing is lost, doubled or left."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
from typing import TYPE_CHECKING

import pytest

from tests.faults.add_killed import contents, started, tables_of
from tests.faults.stored import stored

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.tables.types import Value

ROWS = 8_000
STEPS = ("*.new", "*.pending", "*.sqlite")
"""Of the folder of tables, in the order in which they appear."""


def write(folder: Path, *, label: str) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"{label} item {number},{number % 97},{2000 + number % 25}-03-01" for number in range(ROWS)]
    (folder / "stock.csv").write_text("\n".join(["Name,Amount,Day", *lines]), encoding="utf-8")


async def killed(folder: Path, data_dir: Path, pattern: str, *, later: float) -> bool:
    """As soon as a file of that name is there that was not before, or a little later."""
    before = set((data_dir / "tables").rglob(pattern))
    process = await started(folder, data_dir)
    async with asyncio.timeout(120):
        while process.returncode is None and not set((data_dir / "tables").rglob(pattern)) - before:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), 0.002)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), later)
        if process.returncode is None:
            process.kill()
        await process.communicate()
    return process.returncode == -signal.SIGKILL


async def finished(folder: Path, data_dir: Path) -> None:
    process = await started(folder, data_dir)
    async with asyncio.timeout(120):
        await process.communicate()
    assert process.returncode == 0


async def rows_of(data_dir: Path) -> list[list[tuple[Value, ...]]]:
    async with stored(data_dir) as (catalog, _):
        return [
            rows
            for base in await catalog.knowledge_bases()
            for record in await catalog.records(base.id)
            for _, _, rows in await tables_of(data_dir, record.document)
        ]


@pytest.mark.timeout(600)
async def test_killed_at_each_step_of_a_table(tmp_path: Path) -> None:
    files, data_dir, whole = tmp_path / "files", tmp_path / "data", tmp_path / "whole"
    chance, kills = random.Random(7), 0
    for version, pattern in enumerate((*STEPS, *STEPS), 1):
        write(files, label=f"v{version}")
        kills += await killed(files, data_dir, pattern, later=chance.uniform(0, 0.05) if version > 3 else 0)
        for rows in await rows_of(data_dir):
            assert len(rows) == ROWS
            assert len({str(row[2]).split(" ")[0] for row in rows}) == 1
    assert kills >= 4
    await finished(files, data_dir)
    await finished(files, whole)
    assert await contents(data_dir) == await contents(whole)
    ((row, *_),) = await rows_of(data_dir)
    assert str(row[2]).startswith("v6 ")
    assert not [path for path in (data_dir / "tables").rglob("*") if path.suffix in (".new", ".pending")]
