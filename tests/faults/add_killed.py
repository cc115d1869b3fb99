"""`footnote add`, killed at random moments and repeated: index, catalog and leftovers equal those of one go.

`python -m tests.faults.add_killed --moments 50 --seed 17` does it by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf

from rag_engine.storage.concurrency.worker_liveness import remove_dead
from rag_engine.tables import table_file
from rag_engine.tables.store import TableStore
from tests.doubles import commands
from tests.faults.stored import ENVIRONMENT, stored

if TYPE_CHECKING:
    from rag_engine.tables.types import Value
    from rag_engine.types import Document
    from tests.doubles.commands import Command

PROJECT = Path(__file__).parents[2]
_MOST_RUNS = 3
"""For each moment: a run may come to its end before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was seen: `lost` and `doubled` are documents, `left` what nobody needs any more."""

    kills: int
    runs: int
    documents: int
    passages: int
    equal: bool
    left: tuple[str, ...]
    seconds: float


async def killed_and_repeated(folder: Path, *, moments: int, seed: int) -> Outcome:
    """Kill some runs, while a third of the files change twice; then let one finish, and compare.

    A moment is a time after the start of the run, or after a number of reported files.
    """
    files, killed, whole = folder / "files", folder / "killed", folder / "whole"
    files.mkdir()
    write_files(files, version=1)
    versions = {moments // 3: 2, 2 * moments // 3: 3}
    chance = random.Random(seed)
    began = time.monotonic()
    kills = runs = 0
    while kills < moments and runs < _MOST_RUNS * moments:
        if kills in versions:
            write_files(files, version=versions.pop(kills))
        runs += 1
        if chance.random() < 0.5:
            moment = {"after_files": 0, "seconds": chance.uniform(0, 4)}
        else:
            moment = {"after_files": chance.randint(0, 40), "seconds": chance.uniform(0, 0.04)}
        kills += await ingest_and_kill(files, killed, **moment)
        await assert_nothing_half_indexed(killed)
    await ingest(files, killed)
    await ingest(files, whole)
    one, other = await contents(killed), await contents(whole)
    await ingest(files, killed)
    equal = one == other == await contents(killed)
    async with stored(killed) as (catalog, index):
        (base,) = await catalog.knowledge_bases()
        documents, passages = len(await catalog.records(base.id)), await index.count(base.id)
    return Outcome(
        kills=kills,
        runs=runs,
        documents=documents,
        passages=passages,
        equal=equal,
        left=leftovers(killed),
        seconds=time.monotonic() - began,
    )


def leftovers(data_dir: Path) -> tuple[str, ...]:
    """What should be gone when nothing runs and nothing waits."""
    # Those that are a minute old are removed by any program that starts; nobody waits for that here.
    remove_dead(data_dir / "workers", new_seconds=0)
    found = [path.name for path in (data_dir / "workers").iterdir()]
    found += [path.name for path in temporary(data_dir).iterdir()]
    found += [path.name for path in (data_dir / "tables").rglob("*") if path.suffix in (".new", ".pending")]
    with contextlib.closing(sqlite3.connect(data_dir / "footnote.sqlite")) as connection:
        for table in ("jobs", "readings", "removals"):
            count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            found += [f"{count} of {table}"] if count else []
    return tuple(found)


def temporary(data_dir: Path) -> Path:
    """The temporary files of the runs over that data directory."""
    folder = data_dir.with_name(f"{data_dir.name}-temporary")
    folder.mkdir(exist_ok=True)
    return folder


def write_files(folder: Path, *, version: int) -> None:
    """Files of several formats, two of them long, three of them copies of another, one damaged; a third differs by version."""
    for number in range(56):
        label = f"v{version if number % 3 == 0 else 1}"
        suffix = ("txt", "md", "csv", "py")[number % 4]
        (folder / f"{number:02}.{suffix}").write_text(content(suffix, number, label), encoding="utf-8")
    for number in (1, 2, 5):
        original = next(folder.glob(f"{number:02}.*"))
        (folder / f"copy{original.name}").write_bytes(original.read_bytes())
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7\nnothing that could be read")
    (folder / "30-long.md").write_text(content("md", 30, f"v{version}", count=1500), encoding="utf-8")
    pdf = pymupdf.open()
    for page in range(120):
        pdf.new_page().insert_text((72, 72), f"Report v{version}, page {page + 1}: the budget was approved.")
    pdf.save(folder / "report.pdf", no_new_id=True)
    pdf.close()


def content(suffix: str, number: int, label: str, *, count: int = 0) -> str:
    """Some text of a format, from one chunk to many."""
    count = count or 1 + (number * 7) % 40
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


async def ingest_and_kill(folder: Path, data_dir: Path, *, after_files: int, seconds: float) -> bool:
    """Whether the process was killed before its end."""
    async with asyncio.timeout(120):
        process = await started(folder, data_dir)
        assert process.stdout is not None
        for _ in range(after_files):
            if not await process.stdout.readline():
                break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
        if process.returncode is None:
            process.kill()
        await process.communicate()
    return process.returncode == -signal.SIGKILL


async def started(folder: Path, data_dir: Path) -> Command:
    return await commands.start(
        *("add", str(folder), "--kb", "docs"),
        folder=PROJECT,
        environment={
            **os.environ,
            **ENVIRONMENT,
            "FOOTNOTE_DATA_DIR": str(data_dir),
            "TMPDIR": str(temporary(data_dir)),
        },
        stderr=DEVNULL,
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
                for _, _, rows in await tables_of(data_dir, record.document):
                    labels = {str(row[2]).split(" ")[0] for row in rows}
                    assert labels <= {"v1"} or labels <= {"v2"} or labels <= {"v3"}


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
                await tables_of(data_dir, document),
            )
        assert chunks == {}, "the index holds documents that the catalog does not know"
        return found


async def tables_of(data_dir: Path, document: Document) -> list[tuple[str, object, list[tuple[Value, ...]]]]:
    """The columns and rows of each table."""
    found = await TableStore(data_dir / "tables").stored(document)
    return [
        (one.table.place, [(column.name, column.kind, column.values) for column in one.table.columns], rows)
        for one in found
        for rows in [await asyncio.to_thread(lambda one=one: list(table_file.rows(one)))]
    ]


def main() -> int:
    """Print what was seen; 1 where it was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=17)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(
            killed_and_repeated(Path(folder), moments=arguments.moments, seed=arguments.seed)
        )
    print(outcome)
    return 0 if outcome.equal and not outcome.left and outcome.kills == arguments.moments else 1


if __name__ == "__main__":
    sys.exit(main())
