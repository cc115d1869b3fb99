from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsing.pool import parser_pool
from rag_engine.parsing.processor_clock import ProcessorClock, processor_seconds
from rag_engine.types import Blob
from tests import plugins

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.process,
]

_STEADY_PARSER = """
import os, time
from rag_engine.types import Section

def parse(path):
    yield Section(text=str(os.getpid()), anchor="x" * 40_000)
    until = time.process_time() + float(path.read_text())
    while time.process_time() < until:
        pass
    yield Section(text="read")
"""

_STARTS_ANOTHER = """
import subprocess, sys
burn = "import time\\nwhile time.process_time() < 0.7: pass\\ninput()"
with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE) as other:
    input()
    other.communicate(b"\\n")
print("ended", flush=True)
input()
"""


@contextmanager
def _program(script: str) -> Generator[int]:
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def _hold_back(process: int, *, seconds: float) -> None:
    """The process gets about a fifth of the processor, as on a machine where others have priority."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        os.kill(process, signal.SIGSTOP)
        await asyncio.sleep(0.16)
        os.kill(process, signal.SIGCONT)
        await asyncio.sleep(0.04)


async def test_a_process_that_sleeps_is_charged_the_elapsed_time() -> None:
    with _program("import time; time.sleep(600)") as process:
        await asyncio.sleep(1)
        clock = ProcessorClock(process)
        assert clock.charge(0.4) == 0.4


async def test_a_process_that_is_held_back_is_charged_what_it_ran() -> None:
    with _program("while True: pass") as process:
        clock = ProcessorClock(process)
        began = time.monotonic()
        await _hold_back(process, seconds=2)
        elapsed = time.monotonic() - began
        assert elapsed / 10 <= clock.charge(elapsed) < elapsed / 2


def test_a_process_that_gets_nothing_at_all_of_the_processor_is_charged_the_least() -> None:
    with _program("while True: pass") as process:
        os.kill(process, signal.SIGSTOP)
        until = time.monotonic() + 30
        while _state(process) != "T" and time.monotonic() < until:
            time.sleep(0.01)
        assert ProcessorClock(process).charge(1.0) == 0.1


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


def test_a_program_that_a_process_starts_counts() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _STARTS_ANOTHER], stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        until = time.monotonic() + 60
        while (counted := processor_seconds(process.pid)) < 0.5 and time.monotonic() < until:
            time.sleep(0.1)
        assert counted >= 0.5
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"ended\n"
        # What ended still counts.
        assert processor_seconds(process.pid) >= 0.5
        process.kill()


def test_a_process_that_ended_has_no_time() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert processor_seconds(process.pid) == 0


async def test_a_file_is_read_on_a_busy_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins.install(tmp_path / "plugin", "steady", _STEADY_PARSER)
    monkeypatch.syspath_prepend(str(tmp_path / "plugin"))
    path = tmp_path / "a.steady"
    path.write_text("1", encoding="ascii")
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=0, uri="")
    async with (
        asyncio.timeout(60),
        parser_pool(workers=1, seconds=2, memory_bytes=1 << 30) as pool,
        aclosing(pool.parse(blob)) as batches,
    ):
        process = int((await anext(batches))[0].text)
        held_back = asyncio.ensure_future(_hold_back(process, seconds=4))
        assert (await anext(batches))[0].text == "read"
        held_back.cancel()
