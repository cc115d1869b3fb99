"""An index that goes away while files are added, or is away already: the command waits, says so, and goes on or gives up."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.doubles import commands, flaky_index
from tests.doubles.model_servers.embeddings_server import embeddings_server
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doubles.commands import Command
    from tests.journeys.conftest import Finished, Footnote

WAITING = f"Waiting: {flaky_index.SENTENCE}"


@pytest.fixture
def adding(footnote: Footnote, tmp_path: Path) -> Footnote:
    """Commands with the flaky index, next to three files."""
    flaky_index.install(tmp_path)
    (tmp_path / "data").mkdir(0o700)
    for name, days in (("leave", 28), ("notice", 30), ("probation", 90)):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} is {days} days.\n", encoding="utf-8")

    async def run(*arguments: str, stdin: str = "", **more: str) -> Finished:
        return await footnote(*arguments, stdin=stdin, **{**flaky_index.ENVIRONMENT, **more})

    return run


async def started(tmp_path: Path, *arguments: str, **more: str) -> Command:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    return await commands.start(
        *arguments,
        folder=tmp_path,
        environment=environment(
            tmp_path, PYTHONPATH=str(PROJECT), **{**settings, **flaky_index.ENVIRONMENT, **more}
        ),
    )


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(30):
        return (await process.stdout.readline()).decode().rstrip("\n")


@pytest.mark.parametrize("kind", [flaky_index.AWAY, flaky_index.GONE])
async def test_the_files_wait_for_the_index_and_go_in_when_it_is_back(
    adding: Footnote, tmp_path: Path, kind: str
) -> None:
    away = tmp_path / "data" / kind
    away.touch(0o600)
    process = await started(tmp_path, "add", "leave.md", "notice.md", "probation.md")
    assert await line(process) == WAITING
    away.unlink()
    async with asyncio.timeout(60):
        out, complaints = await process.communicate()
    lines = out.decode().splitlines()
    assert WAITING not in lines
    assert lines.count("Continuing.") == 1
    assert lines[-1] == "3 files: 3 added (3 passages), 0 unchanged, 0 failed"
    assert (process.returncode, complaints) == (0, b"")
    answer = await adding("ask", "How many days is the probation?")
    assert "90 days" in answer.out, answer.err


@pytest.mark.parametrize("kind", [flaky_index.AWAY, flaky_index.GONE])
async def test_after_its_patience_it_gives_up_and_the_next_run_continues(
    adding: Footnote, tmp_path: Path, kind: str
) -> None:
    away = tmp_path / "data" / kind
    away.touch(0o600)
    async with embeddings_server() as server:
        settings = {
            "FOOTNOTE_INGESTION__PATIENCE_SECONDS": "0.3",
            "FOOTNOTE_EMBEDDER__KIND": "openai",
            "FOOTNOTE_EMBEDDER__BASE_URL": server.url,
            "FOOTNOTE_EMBEDDER__API_KEY": "sk-test",
        }
        gave_up = await adding("add", "leave.md", "notice.md", **settings)
        assert gave_up.code == 1
        assert gave_up.err == f"footnote: {flaky_index.SENTENCE}\n"
        assert gave_up.out.splitlines() == [
            WAITING,
            "0 files: 0 added (0 passages), 0 unchanged, 0 failed",
            "2 files are still queued: the next `footnote add` continues with them.",
        ]
        away.unlink()
        done = await adding("add", "probation.md", **settings)
        assert (done.code, done.err) == (0, "")
        first, *_, last = done.out.splitlines()
        assert first == "2 files that another run has queued are read first."
        assert last == "3 files: 3 added (3 passages), 0 unchanged, 0 failed"
        embedded = [text for request in server.requests for text in request["input"]]
    for name in ("leave", "notice", "probation"):
        assert len([text for text in embedded if f"The {name} is" in text]) == 1


async def test_an_embedder_that_does_not_answer_is_waited_for_too(adding: Footnote, tmp_path: Path) -> None:
    async with embeddings_server() as server:
        url = server.url
    # The server is gone now, and nothing else listens there.
    settings = {
        "FOOTNOTE_INGESTION__PATIENCE_SECONDS": "0.2",
        "FOOTNOTE_EMBEDDER__KIND": "openai",
        "FOOTNOTE_EMBEDDER__BASE_URL": url,
        "FOOTNOTE_EMBEDDER__API_KEY": "sk-test",
    }
    gave_up = await adding("add", "leave.md", **settings)
    assert gave_up.code == 1
    assert gave_up.out.splitlines()[0].startswith("Waiting: ")
    assert gave_up.err.startswith("footnote: ")
    assert gave_up.err.count("\n") == 1


async def test_without_patience_it_fails_at_once(adding: Footnote, tmp_path: Path) -> None:
    (tmp_path / "data" / flaky_index.AWAY).touch(0o600)
    gave_up = await adding("add", "leave.md", FOOTNOTE_INGESTION__PATIENCE_SECONDS="0")
    assert gave_up.code == 1
    assert "Waiting" not in gave_up.out


async def test_control_c_while_it_waits_leaves_at_once_and_the_files_stay_queued(
    adding: Footnote, tmp_path: Path
) -> None:
    away = tmp_path / "data" / flaky_index.AWAY
    away.touch(0o600)
    process = await started(tmp_path, "add", "leave.md", "notice.md")
    assert await line(process) == WAITING
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(10):
        _, complaints = await process.communicate()
    assert (process.returncode, complaints) == (130, b"")
    away.unlink()
    done = await adding("add", "leave.md")
    assert done.out.splitlines()[0] == "2 files that another run has queued are read first."
    assert done.out.splitlines()[-1].startswith("2 files: 2 added")


async def test_a_rebuild_waits_too(adding: Footnote, tmp_path: Path) -> None:
    assert (await adding("add", "leave.md", "notice.md")).code == 0
    away = tmp_path / "data" / flaky_index.AWAY
    away.touch(0o600)
    process = await started(tmp_path, "kb", "reindex", "--all")
    assert await line(process) == WAITING
    away.unlink()
    async with asyncio.timeout(60):
        out, complaints = await process.communicate()
    assert (process.returncode, complaints) == (0, b"")
    assert "Continuing." in out.decode().splitlines()
    assert out.decode().splitlines()[-1] == "2 documents were split and embedded again."


async def test_a_question_does_not_wait(adding: Footnote, tmp_path: Path) -> None:
    assert (await adding("add", "leave.md")).code == 0
    for kind in (flaky_index.AWAY, flaky_index.GONE):
        (tmp_path / "data" / kind).touch(0o600)
        asked = await adding("ask", "How many days is the leave?")
        assert (asked.code, asked.out, asked.err) == (1, "", f"footnote: {flaky_index.SENTENCE}\n")
