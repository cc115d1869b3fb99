"""`footnote forget`, killed at random moments: the next one goes on with it, and then nothing of the document is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
from asyncio.subprocess import STDOUT
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import commands
from tests.faults.stored import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doubles.commands import Command

LONGEST_SECONDS = 0.12
PLANTED = ("jabberwockian", "snickersnee", "xylocarp")


@pytest.mark.timeout(240)
@pytest.mark.parametrize("most", [2, pytest.param(20, marks=pytest.mark.soak)])
async def test_killed_at_random_moments_it_is_forgotten_by_the_next(tmp_path: Path, most: int) -> None:
    template, folder = tmp_path / "template", tmp_path / "files"
    write_files(folder)
    await ran("add", str(folder), data_dir=template)
    for question in ("When is the snickersnee bonus paid?", "What is fact 7?"):
        await ran("ask", question, data_dir=template)
    assert standing(template) == set(PLANTED)
    chance, kills, halfway = random.Random(7), 0, 0
    for number in range(3 * most):
        data_dir = tmp_path / str(number)
        shutil.copytree(template, data_dir)
        killed = await forgotten_and_killed(data_dir, chance.uniform(0, LONGEST_SECONDS))
        kills += killed
        if killed and begun(data_dir) and not halfway:
            _, doctor = await ran("doctor", data_dir=data_dir, may_fail=True)  # the index may hold it still
            assert "`footnote forget` was interrupted at the document jabberwockian.md of default" in doctor
        halfway += bool(killed and standing(data_dir))
        # What was killed after its end has nothing to go on with: then there is no such document.
        _, told = await ran(
            "forget", "document", "default", "jabberwockian.md", "--yes", data_dir=data_dir, may_fail=True
        )
        assert standing(data_dir) == set(), told
        assert not begun(data_dir)
        if kills == most:
            break
    assert kills == most, "most came to their end before they were killed"
    assert halfway, "none was killed while something was left"
    _, answer = await ran("ask", "What is fact 7?", data_dir=data_dir)
    assert "fact 7" in answer
    _, doctor = await ran("doctor", data_dir=data_dir)
    assert "bad" not in doctor


def write_files(folder: Path) -> None:
    folder.mkdir()
    text = "\n\n".join(
        f"Paragraph {number}: the snickersnee bonus needs a xylocarp." for number in range(200)
    )
    (folder / "jabberwockian.md").write_text(text, encoding="utf-8")
    for number in range(10):
        (folder / f"{number}.md").write_text(f"This is fact {number}.\n", encoding="utf-8")


async def forgotten_and_killed(data_dir: Path, moment: float) -> bool:
    """Whether it was killed, so many seconds after it had written down what to forget."""
    process = await started("forget", "document", "default", "jabberwockian.md", "--yes", data_dir=data_dir)
    async with asyncio.timeout(60):
        while process.returncode is None and not begun(data_dir):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 0.001)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), moment)
        if process.returncode is None:
            process.kill()
        await process.communicate()
    return process.returncode == -signal.SIGKILL


def begun(data_dir: Path) -> bool:
    return (data_dir / "forgetting.json").exists()


def standing(data_dir: Path) -> set[str]:
    """The planted words in the bytes of any file."""
    contents = [path.read_bytes() for path in data_dir.rglob("*") if path.is_file()]
    return {word for word in PLANTED if any(word.encode() in content for content in contents)}


async def ran(*arguments: str, data_dir: Path, may_fail: bool = False) -> tuple[int, str]:
    """The exit code, and what was printed."""
    process = await started(*arguments, data_dir=data_dir)
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    assert may_fail or process.returncode == 0, out.decode()
    return process.returncode or 0, out.decode()


async def started(*arguments: str, data_dir: Path) -> Command:
    return await commands.start(
        *arguments,
        folder=PROJECT,
        environment={**os.environ, **ENVIRONMENT, "FOOTNOTE_DATA_DIR": str(data_dir)},
        stderr=STDOUT,
    )
