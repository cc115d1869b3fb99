"""The pool of parsing workers, met with files that behave as badly as a parser's library can."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import (
    CorruptFile,
    EmptyDocument,
    FileTooLarge,
    Unavailable,
    UnsupportedFile,
    UserError,
)
from rag_engine.parsing.pool import ParserPool, parser_pool
from rag_engine.types import Blob, Section
from tests import plugins
from tests.unit.parsing.hostile_parser import HOSTILE_PARSER

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = [
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes by Linux's pidfd"),
    pytest.mark.process,
]


MakeBlob = Callable[[str], Blob]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeBlob:
    """Makes a file that the hostile parser reads: its text is what the parser shall do."""
    plugin = tmp_path / "plugin"
    plugins.install(plugin, "hostile", HOSTILE_PARSER)
    monkeypatch.syspath_prepend(str(plugin))
    return lambda command: _blob(tmp_path / f"{len(command)}-{command.split()[0]}.hostile", command)


@pytest.fixture
async def pool() -> AsyncGenerator[ParserPool]:
    async with parser_pool(workers=2, seconds=30, memory_bytes=1 << 30) as pool:
        yield pool


def _blob(path: Path, content: str) -> Blob:
    path.write_text(content, encoding="utf-8")
    return Blob(name=path.name, media_type="", path=path, digest="", size=path.stat().st_size, uri="")


async def _read(pool: ParserPool, blob: Blob) -> list[Section]:
    async with asyncio.timeout(60):
        return [section async for batch in pool.parse(blob) for section in batch]


async def _process_of(pool: ParserPool, hostile: MakeBlob) -> int:
    return int((await _read(pool, hostile("tell hello")))[0].text)


async def _worker_of(pool: ParserPool, hostile: MakeBlob) -> int:
    return int((await _read(pool, hostile("worker of the file")))[-1].text)


async def _ends(process: int) -> bool:
    """True when the process is gone within half a minute."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        readable, _, _ = await asyncio.to_thread(select.select, [descriptor], [], [], 30)
    finally:
        os.close(descriptor)
    return bool(readable)


async def test_a_file_is_read_in_a_worker(pool: ParserPool, tmp_path: Path) -> None:
    sections = await _read(pool, _blob(tmp_path / "notes.txt", "Grüße aus Köln.\n\n季度报告。"))
    assert sections == [Section(text="Grüße aus Köln.\n\n季度报告。", anchor="lines 1–3")]


async def test_a_worker_is_not_this_process_and_is_kept_for_the_next_file(
    pool: ParserPool, hostile: MakeBlob
) -> None:
    first, second = await _worker_of(pool, hostile), await _worker_of(pool, hostile)
    assert first == second != os.getpid()


async def test_a_file_has_a_process_of_its_own_and_leaves_nothing_to_the_next(
    pool: ParserPool, hostile: MakeBlob
) -> None:
    process = await _process_of(pool, hostile)
    folder = (await _read(pool, hostile("keep it")))[-1].text
    assert await _ends(process)
    assert (await _read(pool, hostile("kept anything")))[-1].text == "False []"
    assert not await asyncio.to_thread(os.path.exists, folder)


async def test_what_a_file_left_in_the_pipe_is_not_taken_for_the_next(
    pool: ParserPool, hostile: MakeBlob, tmp_path: Path
) -> None:
    with contextlib.suppress(UserError):
        await _read(pool, hostile("forge it"))
    for number in range(2):
        blob = _blob(tmp_path / f"{number}.txt", f"page {number}")
        assert [section.text for section in await _read(pool, blob)] == [f"page {number}"]


async def test_ctrl_c_in_a_terminal_does_not_reach_a_worker(pool: ParserPool, hostile: MakeBlob) -> None:
    assert os.getpgid(await _worker_of(pool, hostile)) != os.getpgid(0)


async def test_a_bad_file_leaves_the_worker_alone(
    pool: ParserPool, hostile: MakeBlob, tmp_path: Path
) -> None:
    worker = await _worker_of(pool, hostile)
    with pytest.raises(EmptyDocument):
        await _read(pool, _blob(tmp_path / "blank.txt", "  \n"))
    with pytest.raises(UnsupportedFile, match=r"^notes\.sqlite is "):
        await _read(pool, _blob(tmp_path / "notes.sqlite", "SQLite format 3\x00"))
    assert await _worker_of(pool, hostile) == worker


async def test_a_parser_s_bug_is_a_damaged_file_and_logged(
    pool: ParserPool, hostile: MakeBlob, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(CorruptFile, match=r"^4-fail\.hostile could not be read"):
        await _read(pool, hostile("fail"))
    assert "KeyError" in caplog.text
    assert "a word of the file" not in caplog.text


@pytest.mark.parametrize("command", ["hang", "wait"])
async def test_a_file_that_takes_too_long_is_given_up(hostile: MakeBlob, command: str) -> None:
    async with parser_pool(workers=1, seconds=2, memory_bytes=1 << 30) as pool:
        process = await _process_of(pool, hostile)
        with pytest.raises(FileTooLarge, match="longer than 2 seconds"):
            await _read(pool, hostile(command))
        assert await _ends(process)
        assert await _process_of(pool, hostile) != process


async def test_a_slow_consumer_does_not_use_up_the_file_s_time(hostile: MakeBlob) -> None:
    async with (
        parser_pool(workers=1, seconds=2, memory_bytes=1 << 30) as pool,
        contextlib.aclosing(pool.parse(hostile("endless"))) as batches,
    ):
        await anext(batches)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 2.2)
        assert await anext(batches)


async def test_a_file_that_needs_too_much_memory_is_given_up(hostile: MakeBlob) -> None:
    async with parser_pool(workers=1, seconds=20, memory_bytes=256 << 20) as pool:
        with pytest.raises(FileTooLarge, match="more than 256 MB of memory"):
            await _read(pool, hostile("devour"))
        assert await _process_of(pool, hostile)


@pytest.mark.parametrize("command", ["die", "leave"])
async def test_a_crash_costs_one_file(pool: ParserPool, hostile: MakeBlob, command: str) -> None:
    with pytest.raises(CorruptFile, match=r"hostile could not be read; it may be damaged"):
        await _read(pool, hostile(command))
    assert await _process_of(pool, hostile)


async def test_a_process_that_the_system_ended_is_followed_by_another_and_nothing_is_reported_twice(
    pool: ParserPool, hostile: MakeBlob, tmp_path: Path
) -> None:
    signal = tmp_path / "memory is free again"
    texts: list[str] = []
    async with asyncio.timeout(60):
        async for batch in pool.parse(hostile(f"die_once {signal}")):
            signal.touch()
            texts += [section.text for section in batch]
    assert [text[:6] for text in texts[1:]] == ["before", "xxxxxx", "after"]


async def test_a_file_that_ends_its_process_twice_is_set_aside(
    pool: ParserPool, hostile: MakeBlob, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    poison = replace(hostile("die"), digest="d1")
    sentences: list[str] = []
    for _ in range(2):
        with pytest.raises(CorruptFile, match="as reading it crashed twice") as refused:
            await _read(pool, poison)
        sentences.append(str(refused.value))
    assert sentences[0] == sentences[1]
    assert caplog.text.count("ended with status 139") == 2
    # Its bytes are refused, not its name: fixed, it is read.
    mended = replace(_blob(tmp_path / "mended.hostile", "tell good"), name=poison.name, digest="d2")
    assert (await _read(pool, mended))[-1].text == "good"


async def test_a_file_that_is_too_much_for_the_machine_is_said_to_be_so(
    pool: ParserPool, hostile: MakeBlob, tmp_path: Path
) -> None:
    with pytest.raises(FileTooLarge, match="stopped twice by the system"):
        await _read(pool, hostile(f"die_once {tmp_path / 'never'}"))


async def test_what_a_library_prints_reaches_neither_us_nor_the_terminal(
    pool: ParserPool, hostile: MakeBlob, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (await _read(pool, hostile("chatter")))[-1].text == "said"
    assert capfd.readouterr() == ("", "")


async def test_secrets_stay_out_of_the_worker(
    pool: ParserPool, hostile: MakeBlob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    names = (await _read(pool, hostile("environment")))[-1].text.split()
    assert "PATH" in names
    assert "SLACK_BOT_TOKEN" not in names


async def test_a_worker_cannot_fill_the_disk(pool: ParserPool, hostile: MakeBlob) -> None:
    with pytest.raises(UserError):
        await _read(pool, hostile("flood"))
    assert await _process_of(pool, hostile)


async def test_files_are_read_side_by_side(pool: ParserPool, hostile: MakeBlob, tmp_path: Path) -> None:
    signal = tmp_path / "both are being read"
    async with (
        asyncio.timeout(60),
        contextlib.aclosing(pool.parse(hostile(f"meet {signal}"))) as one,
        contextlib.aclosing(pool.parse(hostile(f"meet {signal} "))) as other,
    ):
        assert (await anext(one))[0].text != (await anext(other))[0].text
        signal.touch()
        assert [(await anext(one))[0].text, (await anext(other))[0].text] == ["met", "met"]


async def test_a_hanging_file_does_not_hold_up_the_others(
    pool: ParserPool, hostile: MakeBlob, tmp_path: Path
) -> None:
    hanging = asyncio.create_task(_read(pool, hostile("wait")))
    for number in range(3):
        blob = _blob(tmp_path / f"{number}.txt", f"page {number}")
        assert (await _read(pool, blob))[0].text == f"page {number}"
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging


async def _stop_by_cancelling(pool: ParserPool, blob: Blob) -> int:
    first_batch: asyncio.Future[list[Section]] = asyncio.get_running_loop().create_future()

    async def read() -> None:
        async for batch in pool.parse(blob):
            if not first_batch.done():
                first_batch.set_result(batch)

    reading = asyncio.create_task(read())
    async with asyncio.timeout(60):
        process = int((await first_batch)[0].text)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    return process


async def _stop_by_closing(pool: ParserPool, blob: Blob) -> int:
    async with asyncio.timeout(60), contextlib.aclosing(pool.parse(blob)) as batches:
        return int((await anext(batches))[0].text)


@pytest.mark.parametrize("stop", [_stop_by_cancelling, _stop_by_closing])
@pytest.mark.parametrize("command", ["wait", "endless", "hang"])
async def test_stopping_in_the_middle_ends_the_worker(
    pool: ParserPool, hostile: MakeBlob, command: str, stop: Callable[[ParserPool, Blob], Awaitable[int]]
) -> None:
    process = await stop(pool, hostile(command))
    assert await _ends(process)
    assert await _process_of(pool, hostile) != process


async def test_closing_the_pool_ends_a_file_that_is_being_waited_for(hostile: MakeBlob) -> None:
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        batches = pool.parse(hostile("wait"))
        async with asyncio.timeout(60):
            process = int((await anext(batches))[0].text)
            waiting = asyncio.ensure_future(anext(batches))
            await asyncio.gather(pool.close(), asyncio.wait([waiting]))
        # Not the file's fault: it is taken up again.
        assert isinstance(waiting.exception(), Unavailable)
        assert await _ends(process)


async def test_nothing_is_left_when_the_pool_closes(hostile: MakeBlob) -> None:
    async with parser_pool(workers=2, seconds=30, memory_bytes=1 << 30) as pool:
        idle = await _process_of(pool, hostile)
        async with contextlib.aclosing(pool.parse(hostile("wait"))) as batches:
            busy = int((await anext(batches))[0].text)
            await pool.close()
            assert await _ends(idle)
            assert await _ends(busy)


@pytest.mark.parametrize("command", ["wait", "hang"])
async def test_workers_end_with_a_parent_that_was_killed(hostile: MakeBlob, command: str) -> None:
    script = f"""
import asyncio, os, pathlib, signal
from rag_engine.parsing.pool import parser_pool
from rag_engine.types import Blob
async def main():
    blob = Blob(name="x.hostile", media_type="", path=pathlib.Path({str(hostile(command).path)!r}), digest="", size=1, uri="")
    async with parser_pool(workers=1, seconds=60, memory_bytes=1 << 30) as pool:
        async for batch in pool.parse(blob):
            print(batch[0].text, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    parent = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", script],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert await _ends(int(parent.stdout))
