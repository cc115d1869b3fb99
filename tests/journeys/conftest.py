"""The command line as a process, with a data directory that holds the samples."""

from __future__ import annotations

import asyncio
import os
import subprocess
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.conftest import PROJECT, VOCABULARY
from tests.doubles import commands
from tests.doubles.commands import COMMAND
from tests.elastic.distribution import made_once

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = PROJECT / "samples" / "lumen-harbour"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


class Footnote(Protocol):
    """Runs one command to its end."""

    async def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> Finished: ...


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the machine's own settings; the vocabulary of the shared folder where it is there."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    vocabulary = {"TIKTOKEN_CACHE_DIR": str(VOCABULARY)} if VOCABULARY.is_dir() else {}
    return {**kept, **vocabulary, "HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1", **more}


@pytest.fixture
def footnote(tmp_path: Path) -> Footnote:
    """Commands with a data directory of the test's own, unless it names another; the quick embedder unless it says otherwise."""

    async def run(*arguments: str, stdin: str = "", **more: str) -> Finished:
        settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing", **more}
        process = await commands.start(
            *arguments,
            stdin=PIPE,
            folder=tmp_path,
            environment=environment(tmp_path, PYTHONPATH=str(PROJECT), **settings),
        )
        async with asyncio.timeout(120):
            out, err = await process.communicate(stdin.encode())
        return Finished(code=process.returncode or 0, out=out.decode(), err=err.decode())

    return run


@pytest.fixture(scope="session")
def samples_dir(run_folder: Path) -> Path:
    """A data directory with the samples, made once for all workers by the real command and the real embedder. Only to be read."""
    return made_once(run_folder / "samples", _add_samples) / "data"


@pytest.fixture(scope="session")
def hashed_samples_dir(run_folder: Path) -> Path:
    """The same with the quick embedder, where meaning does not matter."""
    add = partial(_add_samples, FOOTNOTE_EMBEDDER__KIND="hashing")
    return made_once(run_folder / "hashed-samples", add) / "data"


def _add_samples(folder: Path, **more: str) -> None:
    settings = {"PYTHONPATH": str(PROJECT), "FOOTNOTE_DATA_DIR": str(folder / "data"), **more}
    subprocess.run(
        [*COMMAND, "add", str(SAMPLES), "--kb", "samples"],
        cwd=folder,
        env=environment(folder, **settings),
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=240,
    )


@pytest.fixture
def samples(footnote: Footnote, samples_dir: Path) -> Footnote:
    """Commands over the samples, with the real embedder."""

    async def run(*arguments: str, stdin: str = "", **more: str) -> Finished:
        chosen = {"FOOTNOTE_DATA_DIR": str(samples_dir), "FOOTNOTE_EMBEDDER__KIND": "local", **more}
        return await footnote(*arguments, stdin=stdin, **chosen)

    return run
