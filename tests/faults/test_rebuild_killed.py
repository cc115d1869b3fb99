"""`footnote kb reindex --all`, killed and repeated: the rest is done, nothing twice, and the result equals one made in one go."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import commands
from tests.faults.add_killed import content, contents
from tests.faults.stored import ENVIRONMENT
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doubles.commands import Command

FILES = 24
KILLS = 6
CHANGED = {"FOOTNOTE_EMBEDDER__MAX_TOKENS": "40"}
"""Other chunks than those of the index in use."""

GATED = """
import asyncio, sys
from bot import settings
from bot.maintenance import reindex

def progress(record):
    print(record.document.title, flush=True)
    sys.stdin.readline()

asyncio.run(reindex.rebuild(settings.read(), progress))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some files and a data directory that holds them; only to be copied."""
    folder = tmp_path_factory.mktemp("made")
    write_files(folder / "files", range(FILES), label="v1")
    asyncio.run(
        footnote("add", str(folder / "files"), "--kb", "docs", data_dir=folder / "data", **ENVIRONMENT)
    )
    return folder


@pytest.fixture
def data_dir(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with some files in it, and the environment with which it is rebuilt."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    for name, value in CHANGED.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "data"


async def test_the_second_run_does_the_rest_only(data_dir: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(data_dir, whole)
    program = await programs.start(GATED)
    printed = [await programs.line(program)]
    assert program.stdin is not None
    for _ in range(8):
        program.stdin.write(b"\n")
        printed.append(await programs.line(program))
    await programs.kill(program)
    put = rows(data_dir / "rebuilding" / "index.sqlite")
    assert len(printed) <= len(put) < FILES

    out = await footnote("kb", "reindex", "--all")

    *titles, last = out.splitlines()
    assert set(titles).isdisjoint(printed)
    assert len(set(titles)) == len(titles)
    assert last == (
        f"{FILES} documents were split and embedded again, "
        f"{FILES - len(titles)} of them by an earlier, interrupted run."
    )
    now = rows(data_dir / "index.sqlite")
    again = {document for document, row in put.items() if now[document] != row}
    # What was put, and the process killed before it could say so, is put again.
    assert len(again) <= len(put) - len(printed)
    assert FILES - len(titles) == len(put) - len(again)
    assert not (data_dir / "rebuilding").exists()
    assert not (data_dir / "rebuilding.jsonl").exists()

    await footnote("kb", "reindex", "--all", data_dir=whole)
    assert await contents(data_dir) == await contents(whole)


@pytest.mark.timeout(600)
async def test_killed_again_and_again_while_documents_change_and_go(data_dir: Path, tmp_path: Path) -> None:
    shutil.rmtree(data_dir)
    await footnote("add", str(tmp_path / "files"), "--kb", "docs", **ENVIRONMENT)
    chance = random.Random(5)
    kills = 0
    for number in range(KILLS):
        kills += await rebuild_and_kill(chance.randint(0, 10), chance.uniform(0, 0.03))
        files = tmp_path / "files"
        if number == 1:  # a document with new bytes
            write_files(files, [3, 4], label="v2")
            await footnote("add", str(files), "--kb", "docs", **ENVIRONMENT)
        elif number == 2:  # one that is gone, one that is new
            await footnote("kb", "remove", "docs", "05.md", "--yes", **ENVIRONMENT)
            write_files(files, [FILES], label="v3")
            await footnote("add", str(files / f"{FILES}.txt"), "--kb", "docs", **ENVIRONMENT)
        elif number == 3:  # a whole knowledge base that comes and goes
            await footnote("add", str(files), "--kb", "passing", **ENVIRONMENT)
        elif number == 4:
            await footnote("kb", "remove", "passing", "--yes", **ENVIRONMENT)
    assert kills >= KILLS // 2
    whole = tmp_path / "whole"
    shutil.copytree(data_dir, whole)
    shutil.rmtree(whole / "rebuilding", ignore_errors=True)
    (whole / "rebuilding.jsonl").unlink(missing_ok=True)
    await footnote("kb", "reindex", "--all", data_dir=whole)
    await footnote("kb", "reindex", "--all")
    made = await contents(data_dir)
    assert made == await contents(whole)
    assert len(made) == FILES


async def test_an_unfinished_rebuild_that_somebody_removed_is_repeated(data_dir: Path) -> None:
    await killed_in_the_middle()
    shutil.rmtree(data_dir / "rebuilding")
    out = await footnote("kb", "reindex", "--all")
    assert out.splitlines()[-1] == f"{FILES} documents were split and embedded again."
    assert len(rows(data_dir / "index.sqlite")) == FILES


async def test_an_unfinished_rebuild_with_other_settings_is_repeated(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(data_dir, whole)
    await killed_in_the_middle()
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__MAX_TOKENS", "32")
    out = await footnote("kb", "reindex", "--all")
    assert out.splitlines()[-1] == f"{FILES} documents were split and embedded again."
    await footnote("kb", "reindex", "--all", data_dir=whole)
    assert await contents(data_dir) == await contents(whole)


async def killed_in_the_middle() -> None:
    program = await programs.start(GATED)
    assert program.stdin is not None
    for _ in range(4):
        assert await programs.line(program)
        program.stdin.write(b"\n")
    assert await programs.line(program)
    await programs.kill(program)


async def rebuild_and_kill(after_lines: int, moment: float) -> bool:
    """Whether the process was killed before its end."""
    async with asyncio.timeout(60):
        process = await started("kb", "reindex", "--all")
        assert process.stdout is not None
        for _ in range(after_lines):
            if not await process.stdout.readline():
                break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), moment)
        if process.returncode is None:  # it may have ended in the same moment
            process.kill()
        await process.communicate()
    return process.returncode == -signal.SIGKILL


async def footnote(*arguments: str, data_dir: Path | str | None = None, **environment: str) -> str:
    """What the command prints; it must succeed."""
    if data_dir is not None:
        environment["FOOTNOTE_DATA_DIR"] = str(data_dir)
    process = await started(*arguments, **environment)
    async with asyncio.timeout(120):
        printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


async def started(*arguments: str, **environment: str) -> Command:
    return await commands.start(
        *arguments,
        folder=PROJECT,
        environment={**os.environ, **environment},
    )


def write_files(folder: Path, numbers: range | list[int], *, label: str) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        suffix = ("txt", "md", "csv", "py")[number % 4]
        (folder / f"{number:02}.{suffix}").write_text(content(suffix, number, label), encoding="utf-8")


def rows(file: Path) -> dict[str, tuple[int, int]]:
    """The first and last row of each document: a document that is put again has others, which are never used twice."""
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute("SELECT document, min(id), max(id) FROM chunk GROUP BY document")
        return {document: (first, last) for document, first, last in found}
