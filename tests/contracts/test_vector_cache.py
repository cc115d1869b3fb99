"""What every `VectorCache` must do."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.storage import vector_cache

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.ports import VectorCache
    from rag_engine.types import Vector


@pytest.fixture(params=["sqlite"])
async def cache(tmp_path: Path) -> AsyncIterator[VectorCache]:
    async with vector_cache.connect(tmp_path / "vectors.sqlite") as opened:
        yield opened


def made(count: int, *, start: int = 0, dimensions: int = 384) -> dict[bytes, Vector]:
    random = np.random.default_rng(start)
    rows = random.standard_normal((count, dimensions), dtype=np.float32)
    return {hashlib.sha256(str(start + number).encode()).digest(): row for number, row in enumerate(rows)}


async def test_vectors_come_back_bit_for_bit(cache: VectorCache) -> None:
    written = made(3)
    await cache.write("m", written)
    read = await cache.read("m", list(written))
    assert set(read) == set(written)
    for text_hash, vector in written.items():
        assert read[text_hash].dtype == np.float32
        assert np.array_equal(read[text_hash], vector)


async def test_unknown_hashes_are_left_out(cache: VectorCache) -> None:
    written = made(2)
    await cache.write("m", written)
    assert set(await cache.read("m", [*written, b"unknown", *written])) == set(written)
    assert await cache.read("m", []) == {}


async def test_models_do_not_see_each_other(cache: VectorCache) -> None:
    (text_hash, vector), *_ = made(1).items()
    await cache.write("a", {text_hash: vector})
    await cache.write("b", {text_hash: vector * 2})
    assert np.array_equal((await cache.read("a", [text_hash]))[text_hash], vector)
    assert np.array_equal((await cache.read("b", [text_hash]))[text_hash], vector * 2)
    assert await cache.read("c", [text_hash]) == {}


async def test_writing_again_replaces(cache: VectorCache) -> None:
    (text_hash, vector), *_ = made(1).items()
    await cache.write("m", {text_hash: vector})
    await cache.write("m", {text_hash: -vector})
    assert np.array_equal((await cache.read("m", [text_hash]))[text_hash], -vector)


async def test_more_than_one_batch_is_read_and_written(cache: VectorCache) -> None:
    written = made(1_234, dimensions=8)
    await cache.write("m", written)
    assert len(await cache.read("m", list(written))) == 1_234


async def test_reading_five_hundred_is_quick(cache: VectorCache) -> None:
    written = made(500)
    await cache.write("m", written)
    # Other programs may use the machine at one moment, hardly at each of fifty.
    for _ in range(50):
        started = time.perf_counter()
        await cache.read("m", list(written))
        if time.perf_counter() - started < 0.1:
            return
    pytest.fail("it never read them within 0.1 seconds")
