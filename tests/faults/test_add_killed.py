"""`footnote add`, killed at random moments, twenty times, and repeated: index and catalog equal those made in one go."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
from pathlib import Path

import pymupdf
import pytest

from tests.faults.stored import ENVIRONMENT, stored

PROJECT = Path(__file__).parents[2]
KILLS = 20
CHANGED_BEFORE = {7: 2, 14: 3}
"""Before these rounds a third of the files changes: new versions must survive being killed too."""


@pytest.mark.timeout(600)
async def test_killed_twenty_times_and_repeated_equals_one_go(tmp_path: Path) -> None:
    folder, killed, whole = tmp_path / "files", tmp_path / "killed", tmp_path / "whole"
    folder.mkdir()
    write_files(folder, version=1)
    chance = random.Random(17)
    kills = 0
    for number in range(3 * KILLS):
        if number in CHANGED_BEFORE:
            write_files(folder, version=CHANGED_BEFORE[number])
        kills += await ingest_and_kill(
            folder, killed, after_files=chance.randint(0, 20), moment=chance.uniform(0, 0.04)
        )
        await assert_nothing_half_indexed(killed)
        if kills == KILLS:
            break
    assert kills == KILLS, "most runs came to their end before they were killed"
    await ingest(folder, killed)
    await ingest(folder, whole)
    assert await contents(killed) == await contents(whole)
    await ingest(folder, killed)
    assert await contents(killed) == await contents(whole)


def write_files(folder: Path, *, version: int) -> None:
    """Sixty files of several formats, three of them copies of another, one of them damaged; a third differs by version."""
    for number in range(56):
        label = f"v{version if number % 3 == 0 else 1}"
        suffix = ("txt", "md", "csv", "py")[number % 4]
        (folder / f"{number:02}.{suffix}").write_text(content(suffix, number, label), encoding="utf-8")
    for number in (1, 2, 5):
        original = next(folder.glob(f"{number:02}.*"))
        (folder / f"copy{original.name}").write_bytes(original.read_bytes())
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7\nnothing that could be read")
    pdf = pymupdf.open()
    for page in range(3):
        pdf.new_page().insert_text((72, 72), f"Report v{version}, page {page + 1}: the budget was approved.")
    pdf.save(folder / "report.pdf", no_new_id=True)
    pdf.close()


def content(suffix: str, number: int, label: str) -> str:
    """Some text of a format, from one chunk to many."""
    count = 1 + (number * 7) % 40
    match suffix:
        case "csv":
            rows = [f"{label} item {row},{row * number},in stock" for row in range(count)]
            return "\n".join(["name,price,state", *rows])
        case "py":
            return "\n\n".join(f'def {label}_{number}_{row}():\n    return "{row}"' for row in range(count))
        case "md":
            return "\n\n".join(
                f"# Part {row}\n\n{label} file {number} tells of topic {row}. Approved."
                for row in range(count)
            )
        case _:
            return "\n\n".join(
                f"{label} file {number}, paragraph {row}. It says little." for row in range(count)
            )


async def ingest(folder: Path, data_dir: Path) -> None:
    async with asyncio.timeout(120):
        process = await started(folder, data_dir)
        printed, _ = await process.communicate()
    assert process.returncode == 1, "the damaged file is reported"
    assert b"1 failed" in printed


async def ingest_and_kill(folder: Path, data_dir: Path, *, after_files: int, moment: float) -> bool:
    """Whether the process was killed before its end: so many files were told of, then at most so many seconds passed."""
    async with asyncio.timeout(120):
        process = await started(folder, data_dir)
        assert process.stdout is not None
        for _ in range(after_files):
            if not await process.stdout.readline():
                break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), moment)
        if process.returncode is None:
            process.kill()
        await process.communicate()
    return process.returncode == -signal.SIGKILL


async def started(folder: Path, data_dir: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "add", str(folder), "--kb", "docs"),
        cwd=PROJECT,
        env={**os.environ, **ENVIRONMENT, "FOOTNOTE_DATA_DIR": str(data_dir)},
        stdout=asyncio.subprocess.PIPE,
    )


async def assert_nothing_half_indexed(data_dir: Path) -> None:
    """Every document in the index is there with all chunks of one version."""
    async with stored(data_dir) as (catalog, index):
        for base in await catalog.knowledge_bases():
            ordinals: dict[str, list[int]] = {}
            versions: dict[str, set[str]] = {}
            async for chunk, _vector in index.scan(base.id):
                ordinals.setdefault(chunk.document, []).append(chunk.ordinal)
                versions.setdefault(chunk.document, set()).update(
                    label for label in ("v1", "v2", "v3") if label in chunk.text
                )
            assert all(found == list(range(len(found))) for found in ordinals.values())
            assert all(len(found) == 1 for found in versions.values())
            for record in await catalog.records(base.id):
                if record.state == "ready":
                    assert len(ordinals[record.document.id]) == record.chunks


async def contents(data_dir: Path) -> dict[frozenset[str], object]:
    """Everything that is stored, by the sources of each document.

    Which of several copies came first depends on the moment, and with it the document's id: ids are compared where there is
    one source.
    """
    async with stored(data_dir) as (catalog, index):
        [base] = await catalog.knowledge_bases()
        chunks: dict[str, list[object]] = {}
        copied: set[str] = set()
        found: dict[frozenset[str], object] = {}
        records = await catalog.records(base.id)
        for record in records:
            if len(await catalog.sources(record.document.id)) > 1:
                copied.add(record.document.id)
        async for chunk, vector in index.scan(base.id):
            identity = () if chunk.document in copied else (chunk.id, chunk.document, chunk.title, chunk.uri)
            place = (chunk.ordinal, chunk.text, chunk.headings, chunk.anchor, chunk.kind, chunk.language)
            # A vector of a copy may hold another file name.
            rounded = b"" if chunk.document in copied else vector.tobytes()
            chunks.setdefault(chunk.document, []).append((identity, place, rounded))
        for record in records:
            document = record.document
            identity = "" if document.id in copied else document.id
            found[frozenset(await catalog.sources(document.id))] = (
                identity,
                (document.digest, record.state, record.reason, record.chunks, record.pages),
                await catalog.sections(document.id),
                chunks.pop(document.id, []),
            )
        assert chunks == {}, "the index holds documents that the catalog does not know"
        return found
