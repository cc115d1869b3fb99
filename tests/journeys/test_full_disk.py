"""On a full disk files wait, the person learns it, and later they go in by themselves.

A limit on the size of files plays the disk: it needs no rights, and can be lifted while the program runs.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from tests.journeys.conftest import environment

if TYPE_CHECKING:
    from tests.journeys.conftest import Footnote

LIMITED = PROJECT / "tests" / "journeys" / "limited.py"
FULL_AT = 600_000
"""Bytes: the empty databases have room, not the text of a book."""


def write_book(path: Path, *, chapters: int = 60) -> None:
    text = "\n\n".join(
        f"# Chapter {chapter}\n\n"
        + " ".join(f"Word{chapter}x{number} is told here." for number in range(200))
        for chapter in range(chapters)
    )
    path.write_text(text, encoding="utf-8")


async def started(tmp_path: Path, *arguments: str, **more: str) -> asyncio.subprocess.Process:
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing", **more}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, str(LIMITED), str(FULL_AT), sys.executable, "-m", "bot", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONPATH=str(PROJECT), **settings),
    )


async def test_files_wait_for_room_and_go_in_when_there_is_some(tmp_path: Path, footnote: Footnote) -> None:
    write_book(tmp_path / "book.md")
    (tmp_path / "leave.md").write_text("# Leave\n\nThe leave is 28 days.\n", encoding="utf-8")
    process = await started(tmp_path, "add", "book.md", "leave.md")
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while not (line := (await process.stdout.readline()).decode()).startswith("Waiting: "):
            assert line, "it ended without having waited"
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        out, complaints = await process.communicate()
    assert (process.returncode, complaints) == (0, b"")
    assert "could not be read or written" in line or "cannot be used" in line
    assert out.decode().splitlines()[-1].startswith("2 files: 2 added")
    assert "28 days" in (await footnote("ask", "How long is the leave?")).out
    assert "Word59x199" in (await footnote("kb", "show", "default", "book.md", "--text")).out


async def test_without_patience_it_is_one_sentence_and_nothing_is_half_taken_in(
    tmp_path: Path, footnote: Footnote
) -> None:
    write_book(tmp_path / "book.md")
    process = await started(tmp_path, "add", "book.md", FOOTNOTE_INGESTION__PATIENCE_SECONDS="0.3")
    async with asyncio.timeout(60):
        out, complaints = await process.communicate()
    assert process.returncode == 1
    assert complaints.decode().count("\n") == 1
    assert complaints.decode().startswith("footnote: ")
    assert "1 file is still queued" in out.decode()
    assert (await footnote("search", "Word3x7", "--json")).out.strip() == "[]"
    done = await footnote("add", "book.md")
    assert (done.code, done.out.splitlines()[-1][:15]) == (0, "1 file: 1 added")


_FILLED = """
umask 077
mount -t tmpfs -o size=8m,mode=0700 tmpfs data || exit 77
"$0" -m bot add leave.md || exit 1
head -c 100M /dev/zero > data/fill 2>/dev/null
for command in "ask --kb default leave?" "keys create a --kb default" "page" "kb tag default leave.md --add travel" "upgrade --check" "backup all.zip" "search leave" "kb list"; do
    "$0" -m bot $command && exit 2
done
exit 0
"""


async def test_a_disk_without_any_room_is_called_full(tmp_path: Path) -> None:
    """In a mount namespace of its own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "leave.md").write_text("# Leave\n\nThe leave is 28 days.\n", encoding="utf-8")
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _FILLED, sys.executable),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONPATH=str(PROJECT), FOOTNOTE_WEB__PORT="8787", **settings),
    )
    async with asyncio.timeout(60):
        out, complaints = await process.communicate()
    if process.returncode == 77 or complaints.startswith(b"unshare:"):
        pytest.skip("this system lets nobody mount a disk of their own")
    lines = complaints.decode().splitlines()
    assert (process.returncode, len(lines)) == (0, 8), (out, complaints)
    assert [line for line in lines if "is full" not in line or "make room" not in line] == []


@pytest.mark.parametrize(
    "words", [("--version",), ("--help",), ("kb", "--help"), ("kb", "list"), ("doctor",)]
)
async def test_output_onto_a_full_disk_is_one_sentence(words: tuple[str, ...], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:  # noqa: ASYNC230
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *words),
            stdout=full,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=environment(tmp_path, PYTHONPATH=str(PROJECT), FOOTNOTE_EMBEDDER__KIND="hashing"),
        )
        async with asyncio.timeout(60):
            _, complaints = await process.communicate()
    assert complaints.decode() == "footnote: The disk is full: make room, then try again.\n"
    assert process.returncode == 1
