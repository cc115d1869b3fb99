"""Sources that change while they are read, contain themselves, or are followed by a clock that jumps."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from rag_engine.ingestion.source_sync import SyncLimits
from rag_engine.sync.types import SyncCounts
from tests.unit.sources.test_git import commit, repository

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from tests.unit.sources.synced import Synced

__all__ = ["repository"]

EVERY = 60.0
DAY = 86_400.0


@asynccontextmanager
async def meanwhile(change: Callable[[int], object]) -> AsyncGenerator[None]:
    """In a thread, again and again."""
    ended = threading.Event()

    def run() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            change(number)

    changing = asyncio.create_task(asyncio.to_thread(run))
    try:
        yield
    finally:
        ended.set()
        await changing


async def test_a_folder_whose_files_are_written_moved_and_removed_meanwhile(
    synced: Synced, tmp_path: Path
) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.txt").write_text(f"At first {number}.")

    def change(number: int) -> None:
        (folder / f"{number % 20}.txt").write_text(f"Version {number}. " * 50)
        (folder / f"{20 + number % 10}.txt").unlink(missing_ok=True)
        if (moved := folder / f"{30 + number % 10}.txt").exists():
            moved.rename(folder / f"moved{number}.txt")

    source = await synced.add("folder", str(folder))
    async with meanwhile(change):
        for _ in range(3):
            assert (await synced.run(source)).error == ""
    await synced.run(source)
    assert await synced.titles() == sorted(path.name for path in folder.iterdir())
    for record in await synced.world.catalog.records(synced.world.base):
        words = (folder / record.document.title).read_text().split()
        assert set(synced.world.index.text(record.document.id).split()) == set(words)


@pytest.mark.process
async def test_a_branch_that_is_pushed_to_meanwhile(synced: Synced, repository: Path) -> None:
    source = await synced.add("git", f"file://{repository}", {"paths": "docs"})
    async with synced.opened(source) as opened:
        listed = [each async for batch in opened.entries() for each in batch]
        commit(repository, docs__a="The guide of later.")
        copy = synced.data_dir / "copy"
        await opened.read(listed[0], copy, since="")
    assert copy.read_text() == "The first guide."
    await synced.run(source)
    assert (await synced.run(source)).counts == SyncCounts()


class _Endless(BaseHTTPRequestHandler):
    """Each of its folders has another one, and the same file."""

    asked = 0

    def do_GET(self) -> None:
        _Endless.asked += 1
        body = b'<a href="again/">again/</a> <a href="note.md">note.md</a>'
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002


@pytest.mark.parametrize("seconds", [600.0, 0.05])
async def test_a_listing_that_contains_itself(synced: Synced, seconds: float) -> None:
    """The deepest level or the limit of time ends it."""
    _Endless.asked = 0
    synced.limits = SyncLimits(listing_seconds=seconds)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        source = await synced.add("fsspec", f"http://127.0.0.1:{server.server_port}/docs/")
        async with asyncio.timeout(30):
            outcome = await synced.run(source)
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
    expected = (
        "The folders are more than 64 levels deep" if seconds > 1 else "Listing the source took too long."
    )
    assert outcome.error.startswith(expected)
    assert _Endless.asked < (70 if seconds > 1 else 60)
    assert await synced.titles() == []


@pytest.mark.parametrize("jump", [-365 * DAY, -DAY, -1.0, EVERY, DAY, 365 * DAY])
async def test_a_clock_that_jumps_keeps_no_source_from_its_turn(synced: Synced, jump: float) -> None:
    """After its interval at the latest, and once."""
    now = 1_790_000_000.0
    source = await synced.add("folder", "/library")

    async def ends(at: float) -> None:
        await synced.store.end(source, error="", entries=0, counts=SyncCounts(), next_at=at + EVERY)

    await ends(now)
    assert await synced.store.due(now + EVERY / 2) == []
    later = now + jump
    waits = not await synced.store.due(later)
    assert not waits or await synced.store.due(later + EVERY + 1.0)
    await ends(later)
    assert await synced.store.due(later + EVERY / 2) == []
