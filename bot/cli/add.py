"""`footnote add`: files and folders into a knowledge base."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bot import compose
from bot.rendering import printable
from bot.service import sentence
from rag_engine.blobs import blob_from_path
from rag_engine.errors import CorruptFile, UserError
from rag_engine.types import Ingested

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterable, Iterator

    from bot.settings import Settings
    from rag_engine.storage.jobs import Job
    from rag_engine.types import KnowledgeBaseId

_IN_FLIGHT = 4  # enough for one file to be read while others are embedded, few enough for memory to stay flat
_MOST_ATTEMPTS = 5
_POLL_SECONDS = 0.2


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """What has become of the files so far."""

    added: int = 0
    unchanged: int = 0
    passages: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def take(self, path: Path, ingested: Ingested) -> None:
        """Count one file that was read to the end."""
        record = ingested.record
        if record.state == "failed":
            self.failed.append((str(path), record.reason))
        elif ingested.changed:
            self.added += 1
            self.passages += record.chunks
        else:
            self.unchanged += 1

    def summary(self) -> str:
        """How many files went in, and how many did not."""
        total = self.added + self.unchanged + len(self.failed)
        files = "1 file" if total == 1 else f"{total} files"
        passages = "1 passage" if self.passages == 1 else f"{self.passages} passages"
        return (
            f"{files}: {self.added} added ({passages}), {self.unchanged} unchanged, {len(self.failed)} failed"
        )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Read every file, show how far it is, and say at the end what went in and what did not and why.

    The files are queued before the first is read: what a killed run left unread is taken up by the next one.
    """
    console = Console(highlight=False)
    outcome = _Outcome()
    paths = list(_files(arguments.paths, outcome))
    async with compose.library(settings) as library:
        base = await library.catalog.open(arguments.kb, model=library.embedder.model)
        queue = library.storage.queue
        waiting = len(await queue.unfinished(base.id))
        if waiting:
            console.print(Text(f"{waiting} files that another run left unread go first."))
        await queue.add(base.id, paths)
        with _progress(console, total=len(await queue.unfinished(base.id))) as progress:
            done = await _add_all(library=library, knowledge_base=base.id, outcome=outcome, progress=progress)
            await _await_others(set(paths) - done, library=library, knowledge_base=base.id, outcome=outcome)
    _report(outcome, console)
    return 1 if outcome.failed else 0


async def _add_all(
    *, library: compose.Library, knowledge_base: KnowledgeBaseId, outcome: _Outcome, progress: _Shown
) -> set[Path]:
    """Read what waits until nothing does; returns what was read here, since another run may take a part of it."""
    claims = library.storage.claims
    done: set[Path] = set()

    async def work() -> None:
        while (job := await claims.claim(knowledge_base)) is not None:
            progress.start(job.path)
            try:
                ingested = await _add(job, library=library)
            except UserError as error:
                outcome.failed.append((str(job.path), str(error)))
                progress.end(job.path, str(error))
            else:
                outcome.take(job.path, ingested)
                progress.end(job.path, sentence(ingested))
            await claims.finish(job.id)
            done.add(job.path)

    async with asyncio.TaskGroup() as group:
        for number in range(_IN_FLIGHT):
            group.create_task(work(), name=f"add-{number}")
    return done


async def _await_others(
    paths: set[Path], *, library: compose.Library, knowledge_base: KnowledgeBaseId, outcome: _Outcome
) -> None:
    """Wait for the files of ours that another run took, and count what became of them."""
    while True:
        unfinished = await library.storage.queue.unfinished(knowledge_base)
        if paths.isdisjoint(job.path for job in unfinished):
            break
        await asyncio.sleep(_POLL_SECONDS)
    for path in sorted(paths):
        record = await library.catalog.find(knowledge_base, uri=path.resolve().as_uri())
        if record is None:
            outcome.failed.append((str(path), "It was taken by another run and could not be read."))
        else:
            outcome.take(path, Ingested(record=record, changed=True))


async def _add(job: Job, *, library: compose.Library) -> Ingested:
    if job.attempts > _MOST_ATTEMPTS:
        raise CorruptFile("Reading it stopped the program again and again, so it was set aside.")
    blob = await blob_from_path(job.path, max_bytes=library.max_file_bytes)
    return await library.ingestion.ingest(blob, knowledge_base=job.knowledge_base)


def _files(paths: Iterable[Path], outcome: _Outcome) -> Iterator[Path]:
    """Every file named, absolute; folders walked in order, hidden ones left out. What cannot be reached is recorded."""
    seen: set[Path] = set()

    def missed(path: Path, error: Exception) -> None:
        reason = (
            error.strerror if isinstance(error, OSError) and error.strerror else "It leads back to itself"
        )
        outcome.failed.append((str(path), f"{reason}."))

    for path in paths:
        try:
            status = path.stat()
        except (OSError, RuntimeError) as error:
            missed(path, error)
            continue
        for file in _walk(path, missed) if stat.S_ISDIR(status.st_mode) else [path]:
            try:
                real = file.resolve(strict=True)
            except (OSError, RuntimeError) as error:
                missed(file, error)
                continue
            if real not in seen:
                seen.add(real)
                yield file.absolute()


def _walk(folder: Path, missed: Callable[[Path, Exception], None]) -> Iterator[Path]:
    for parent, folders, names in os.walk(
        folder, onerror=lambda error: missed(Path(str(error.filename)), error)
    ):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent) / name for name in sorted(names) if not name.startswith("."))


def _report(outcome: _Outcome, console: Console) -> None:
    console.print(Text(outcome.summary(), style="bold"))
    for name, reason in sorted(outcome.failed):
        console.print(Text(f"  {printable(name)}: {printable(reason)}"), soft_wrap=True)


class _Shown:
    """Plain lines for a pipe: one a file, when it is done."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def start(self, path: Path) -> None:
        """A pipe is told what was done, not what is being done."""

    def end(self, path: Path, said: str) -> None:
        line = said if said.startswith(path.name) else f"{path.name}: {said}"
        self._console.print(Text(printable(line)), soft_wrap=True)


class _Bar(_Shown):
    """A bar for a terminal; the reasons of what failed come with the summary."""

    def __init__(self, console: Console, bar: Progress, *, total: int) -> None:
        super().__init__(console)
        self._bar = bar
        self._task = bar.add_task("", total=total)

    def start(self, path: Path) -> None:
        self._bar.update(self._task, description=printable(path.name))

    def end(self, path: Path, said: str) -> None:
        self._bar.advance(self._task)


@contextmanager
def _progress(console: Console, *, total: int) -> Generator[_Shown]:
    if not console.is_terminal:
        yield _Shown(console)
        return
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    ) as bar:
        yield _Bar(console, bar, total=total)
