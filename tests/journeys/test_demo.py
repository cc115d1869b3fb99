"""`make demo`, and the commands that README names next: all use one data directory."""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
async def test_the_next_commands_of_the_readme_work_after_the_demo(
    footnote: Footnote, tmp_path: Path
) -> None:
    installed = f"{sys.prefix}/.installed"
    home = environment(tmp_path, FOOTNOTE_EMBEDDER__KIND="hashing")
    process = await asyncio.create_subprocess_exec(
        *("make", "--directory", str(PROJECT), "--old-file", installed, f"VENV={sys.prefix}", "demo"),
        env=home,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(120):
        out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    assert f'the knowledge base "samples" in {tmp_path}/.local/share/footnote' in out.decode()
    own = {"FOOTNOTE_DATA_DIR": ""}
    assert "samples" in (await footnote("kb", "list", **own)).out
    asked = await footnote("ask", "Who approves travel?", **own)
    assert asked.code == 0
    assert "[1] " in asked.out
