"""The vector cache keeps its size, drops the least recently used, and survives losing its file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.errors import BadSettings
from rag_engine.storage import vector_cache

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Vector

MEGABYTE = 1 << 20


def made(start: int, count: int = 100) -> dict[bytes, Vector]:
    return {
        number.to_bytes(32, "big"): np.full(384, number, dtype=np.float32)
        for number in range(start, start + count)
    }


async def test_the_file_stays_within_its_size_and_the_newest_stay_in_it(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    async with vector_cache.connect(path, max_bytes=MEGABYTE) as cache:
        for start in range(0, 4_000, 100):
            await cache.write("m", made(start))
        assert len(await cache.read("m", list(made(3_900)))) == 100
        assert await cache.read("m", list(made(0))) == {}
    assert path.stat().st_size < 1.5 * MEGABYTE


async def test_what_was_used_lately_outlives_what_was_not(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    async with vector_cache.connect(path, max_bytes=MEGABYTE) as cache:
        await cache.write("m", made(0, 300))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vectors SET used = used - 30")
    async with vector_cache.connect(path, max_bytes=MEGABYTE) as cache:
        assert len(await cache.read("m", list(made(0, 100)))) == 100  # used today
        await cache.write("m", made(1_000, 300))
        assert len(await cache.read("m", list(made(0, 100)))) == 100
        assert len(await cache.read("m", list(made(100, 200)))) < 200


async def test_a_cache_that_was_deleted_starts_afresh(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    async with vector_cache.connect(path) as cache:
        await cache.write("m", made(0))
        path.unlink()  # while it is open
        assert len(await cache.read("m", list(made(0)))) == 100
    async with vector_cache.connect(path) as cache:
        assert await cache.read("m", list(made(0))) == {}


@pytest.mark.parametrize("damage", ["garbage", "newer"])
async def test_a_cache_that_cannot_be_read_is_made_afresh(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "vectors.sqlite"
    async with vector_cache.connect(path) as cache:
        await cache.write("m", made(0))
    if damage == "garbage":
        path.write_bytes(b"garbage" * 1_000)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
    async with vector_cache.connect(path) as cache:
        assert await cache.read("m", list(made(0))) == {}
        await cache.write("m", made(0))
        assert len(await cache.read("m", list(made(0)))) == 100
    assert "created again" in caplog.text


async def test_a_place_that_cannot_be_written_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("precious", encoding="utf-8")
    with pytest.raises(BadSettings):
        async with vector_cache.connect(tmp_path / "data" / "vectors.sqlite"):
            pass
    assert (tmp_path / "data").read_text(encoding="utf-8") == "precious"
