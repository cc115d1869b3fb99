from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.embedders.local.encoder_threads import EncodingThreads
from rag_engine.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rag_engine.types import Vector

LIMIT = 5.0


@contextmanager
def encoding(encode: Callable[[str], Vector], *, threads: int = 2) -> Generator[EncodingThreads]:
    made = EncodingThreads(encode, dimensions=2, threads=threads)
    try:
        yield made
    finally:
        made.close()


class Gate:
    """An encoder that blocks passages until released."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.entered = threading.Semaphore(0)
        self.order: list[str] = []

    def encode(self, text: str) -> Vector:
        self.order.append(text)
        self.entered.release()
        if text.startswith("slow"):
            assert self.opened.wait(LIMIT)
        if text == "bad":
            raise EmbedderUnavailable("broken")
        return np.array([len(text), 1], np.float32)

    async def wait_for(self, count: int) -> None:
        for _ in range(count):
            assert await asyncio.to_thread(self.entered.acquire, timeout=LIMIT)


async def test_a_query_does_not_wait_for_500_passages() -> None:
    gate = Gate()
    with encoding(gate.encode) as threads:
        ingest = asyncio.create_task(threads.encode([f"slow {n}" for n in range(500)], side="passage"))
        await gate.wait_for(2)
        async with asyncio.timeout(LIMIT):
            rows = await threads.encode(["question"], side="query")
        assert rows.tolist() == [[8, 1]]
        assert not ingest.done()
        assert gate.order == ["slow 0", "slow 1", "question"]
        gate.opened.set()
        assert (await ingest).shape == (500, 2)


async def test_passage_calls_take_turns() -> None:
    gate = Gate()
    with encoding(gate.encode, threads=1) as threads:
        first = asyncio.create_task(threads.encode(["slow a", "a2", "a3", "a4"], side="passage"))
        await gate.wait_for(1)
        second = asyncio.create_task(threads.encode(["b1", "b2"], side="passage"))
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.gather(first, second)
    assert gate.order == ["slow a", "a2", "b1", "a3", "b2", "a4"]


async def test_cancelling_leaves_the_rest_undone() -> None:
    gate = Gate()
    with encoding(gate.encode) as threads:
        call = asyncio.create_task(threads.encode([f"slow {n}" for n in range(100)], side="passage"))
        await gate.wait_for(2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        gate.opened.set()
        async with asyncio.timeout(LIMIT):
            await threads.encode(["after"], side="passage")
    assert sorted(gate.order) == ["after", "slow 0", "slow 1"]


async def test_one_bad_text_fails_its_call_and_no_other() -> None:
    gate = Gate()
    with encoding(gate.encode) as threads:
        with pytest.raises(EmbedderUnavailable, match="broken"):
            await threads.encode(["fine", "bad", *["fine"] * 50], side="passage")
        assert (await threads.encode(["fine"], side="passage")).shape == (1, 2)


async def test_closing_fails_open_calls_and_later_ones() -> None:
    gate = Gate()
    with encoding(gate.encode, threads=1) as threads:
        call = asyncio.create_task(threads.encode(["slow 0", "slow 1"], side="passage"))
        await gate.wait_for(1)
        closing = asyncio.create_task(asyncio.to_thread(threads.close))
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await call
        gate.opened.set()
        await closing
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await threads.encode(["late"], side="passage")
    assert gate.order == ["slow 0"]


async def test_the_event_loop_turns_while_texts_are_encoded() -> None:
    gate = Gate()
    with encoding(gate.encode) as threads:
        call = asyncio.create_task(threads.encode(["slow"], side="passage"))
        await gate.wait_for(1)
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        assert not call.done()
        gate.opened.set()
        await call


def test_a_loop_that_is_gone_is_never_called() -> None:
    """A call abandoned with its event loop must not crash the encoding threads."""
    gate = Gate()
    with encoding(gate.encode, threads=1) as threads:

        async def give_up() -> None:
            call = asyncio.create_task(threads.encode(["slow"], side="passage"))
            await gate.wait_for(1)
            call.cancel()

        asyncio.run(give_up())
        gate.opened.set()
        rows = asyncio.run(threads.encode(["next"], side="passage"))
    assert rows.tolist() == [[4, 1]]
