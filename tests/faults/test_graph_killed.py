"""The building of a graph, killed after some files and in the middle of one: the rest is read, nothing twice, as in one go."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.faults.stored import ENVIRONMENT
from tests.faults.test_rebuild_killed import footnote
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

FILES = 8
KILLS = 4
_NAMED = "JOIN graph_passages AS p ON p.id = passage"
GATED = """
import asyncio, sys
from bot import settings
from bot.composition import application
from bot.composition.layers.graph import build_graphs

def progress(record, report):
    print(record.document.title, report.read, flush=True)
    sys.stdin.readline()

async def main():
    chosen = settings.read()
    async with application.library(chosen) as library:
        (base,) = await library.catalog.knowledge_bases()
        await library.catalog.graph.switch(base.id, "rules")
        print("switched", flush=True)
        await build_graphs(chosen, library, base.id, progress)

asyncio.run(main())
"""


@pytest.fixture
async def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "files").mkdir()
    for number in range(FILES):
        # Those of several pages of passages are stored page by page.
        count = 300 if number % 4 == 0 else 20
        parts = [
            f"# Part {part}\n\nVera Lindqvist met Doctor Number{part % 50} in Port {number} about the Iron Gull {part}."
            for part in range(count)
        ]
        (tmp_path / "files" / f"{number:02}.md").write_text("\n\n".join(parts), encoding="utf-8")
    await footnote("add", str(tmp_path / "files"), "--kb", "docs")
    return tmp_path / "data"


@pytest.mark.timeout(600)
async def test_killed_again_and_again_equals_one_go(data_dir: Path, tmp_path: Path) -> None:
    whole, chance = tmp_path / "whole", random.Random(11)
    shutil.copytree(data_dir, whole)
    read: list[int] = []
    for _ in range(KILLS):
        program = await programs.start(GATED)
        assert program.stdin is not None
        assert await programs.line(program) == "switched"
        for _ in range(chance.randint(0, 2)):
            assert await programs.line(program)
            program.stdin.write(b"\n")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(chance.uniform(0, 0.15)):
                await program.wait()
        assert program.returncode is None, "it came to its end before it was killed"
        await programs.kill(program)
        read.append(len(passages(data_dir)))
        assert len(set(passages(data_dir))) == len(passages(data_dir))
    assert read == sorted(read)
    assert read[-1] > 0, "nothing was stored before the last kill"
    await footnote("kb", "graph", "docs", "on")
    await footnote("kb", "graph", "docs", "on", data_dir=whole)
    assert stored(data_dir) == stored(whole)
    assert read[-1] < len(passages(data_dir))
    assert query(data_dir, "SELECT count(*) FROM graph_jobs") == [(0,)]


def passages(data_dir: Path) -> list[tuple[object, ...]]:
    return query(data_dir, "SELECT document, key FROM graph_passages ORDER BY document, key")


def stored(data_dir: Path) -> list[list[tuple[object, ...]]]:
    """By the passages' own names: their numbers follow the order of writing."""
    return [
        query(data_dir, f"SELECT {columns} ORDER BY 1, 2, 3, 4")
        for columns in (
            "document, key, chunk, ordinal, failure FROM graph_passages",
            f"p.document, p.key, entity, name, kind, subject FROM graph_mentions {_NAMED}",
            f"p.document, p.key, subject, object, text, everywhere FROM graph_relations {_NAMED}",
        )
    ]


def query(data_dir: Path, sql: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(data_dir / "footnote.sqlite")) as database:
        return database.execute(sql).fetchall()
