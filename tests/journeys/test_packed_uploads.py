"""`footnote add` of a file that is small and holds very much needs little memory and ends in one sentence."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

import pytest

from benchmarks.documents.upload_memory import FILES, tree_memory
from tests.conftest import PROJECT
from tests.journeys.conftest import COMMAND, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")

_MOST: Final = 300 << 20
_PERIOD: Final = 0.05
_QUICK: Final = ("deep.json",)
_LONG: Final = (
    *("repeated-lines.zip", "other-text.zip", "million-cells.csv", "million-cells.xlsx", "mails.mbox"),
    *("keys.yaml", "code.py"),
)


async def _added(folder: Path, path: Path) -> tuple[int, str, int]:
    """Exit code, output, and the most memory in bytes of the command and the processes it started."""
    data = {"FOOTNOTE_DATA_DIR": str(folder / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("add", str(path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env=environment(folder, PYTHONPATH=str(PROJECT), **data),
    )
    output = asyncio.create_task(process.communicate())
    peak = 0
    while not output.done():
        peak = max(peak, await asyncio.to_thread(tree_memory, process.pid))
        await asyncio.wait([output], timeout=_PERIOD)
    text, _ = await output
    assert process.returncode is not None
    return process.returncode, text.decode(), peak


@pytest.mark.process
@pytest.mark.parametrize("name", [*_QUICK, *(pytest.param(name, marks=pytest.mark.soak) for name in _LONG)])
async def test_a_packed_file_needs_little_memory(tmp_path: Path, name: str) -> None:
    small, packed = tmp_path / "small.txt", tmp_path / name
    small.write_text("A few plain words. " * 200)
    packed.write_bytes(FILES[name]())
    _, _, usual = await _added(tmp_path, small)
    code, text, most = await _added(tmp_path, packed)
    lines = [line for line in text.splitlines() if line.startswith(name)]
    assert (code, len(lines)) in {(0, 1), (1, 1)}, text
    assert "Traceback" not in text
    assert most - usual < _MOST, f"{(most - usual) >> 20} MB"
