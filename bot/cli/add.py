"""`footnote add`: files and folders into a knowledge base."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bot import compose
from bot.cli import waiting
from bot.files.uploads import line_of
from bot.patience import keep_trying, patient
from bot.rendering import printable
from rag_engine.blobs import blob_from_path
from rag_engine.errors import StorageUnavailable, Unavailable, UserError
from rag_engine.types import Ingested

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from bot.library import Library
    from bot.settings import Settings
    from rag_engine.storage.jobs import Job, JobQueue
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

_IN_FLIGHT = 4  # enough for one file to be read while others are embedded, few enough for memory to stay flat
_POLL_SECONDS = 0.5


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """What has become of the files so far."""

    added: int = 0
    unchanged: int = 0
    passages: int = 0
    partly: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Files that were read, and what of them was not."""
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def take(self, path: Path, ingested: Ingested) -> None:
        """Count one file that was read to the end."""
        record = ingested.record
        if record.state == "failed":
            self.failed.append((str(path), record.reason))
        elif ingested.changed:
            self.added += 1
            self.passages += record.chunks
            if record.reason:
                self.partly.append((str(path), record.reason))
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
    with patient(waiting.patience(settings, console)):
        async with compose.foundation(settings) as foundation:
            base = await foundation.storage.catalog.open(arguments.kb, model=foundation.embedder.model)
            await _queue(paths, queue=foundation.storage.queue, knowledge_base=base.id, console=console)
            try:
                async with compose.library(settings, on=foundation) as library:
                    await library.ingestion.finish_removals()
                    await _add_all(
                        paths,
                        library=library,
                        base=base,
                        outcome=outcome,
                        console=console,
                        again=arguments.again,
                    )
            except Unavailable:
                left = len(await foundation.storage.queue.unfinished(base.id))
                _report(outcome, console)
                files = "1 file is" if left == 1 else f"{left} files are"
                console.print(
                    Text(f"{files} still queued: the next `footnote add` goes on with what is left.")
                )
                raise
    _report(outcome, console)
    return 1 if outcome.failed else 0


async def _queue(
    paths: Sequence[Path], *, queue: JobQueue, knowledge_base: KnowledgeBaseId, console: Console
) -> None:
    unread = len(await queue.unfinished(knowledge_base))
    if unread:
        files = (
            "1 file that another run left unread goes"
            if unread == 1
            else f"{unread} files that another run left unread go"
        )
        console.print(Text(f"{files} first."))
    await queue.add(knowledge_base, paths)


async def _add_all(
    paths: Sequence[Path],
    *,
    library: Library,
    base: KnowledgeBase,
    outcome: _Outcome,
    console: Console,
    again: bool,
) -> None:
    """Read the files and whatever else waits; some of them may be read by another run, which is waited for."""
    queue = library.storage.queue
    with _progress(console, total=len(await queue.unfinished(base.id))) as progress:
        missing = set(paths)
        while True:
            missing -= await _work_off(
                library=library, knowledge_base=base.id, outcome=outcome, progress=progress, again=again
            )
            if missing.isdisjoint(job.path for job in await queue.unfinished(base.id)):
                break
            await asyncio.sleep(_POLL_SECONDS)
    await _count_others(missing, library=library, knowledge_base=base.id, outcome=outcome)


async def _work_off(
    *,
    library: Library,
    knowledge_base: KnowledgeBaseId,
    outcome: _Outcome,
    progress: _Shown,
    again: bool,
) -> set[Path]:
    """Read what waits until nothing does; returns what was read here, since another run may take a part of it."""
    claims = library.storage.claims
    with_room = partial(keep_trying, only=StorageUnavailable)
    done: set[Path] = set()

    async def work() -> None:
        while (job := await with_room(lambda: claims.claim(knowledge_base))) is not None:
            progress.start(job.path)
            try:
                ingested = await with_room(partial(_add, job, library=library, again=again))
            except UserError as error:
                outcome.failed.append((str(job.path), str(error)))
                progress.end(job.path, str(error))
            else:
                outcome.take(job.path, ingested)
                progress.end(job.path, line_of(ingested, "en"))
            await with_room(partial(claims.finish, job.id))
            done.add(job.path)

    try:
        async with asyncio.TaskGroup() as group:
            for number in range(_IN_FLIGHT):
                group.create_task(work(), name=f"add-{number}")
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return done


async def _count_others(
    paths: set[Path], *, library: Library, knowledge_base: KnowledgeBaseId, outcome: _Outcome
) -> None:
    """Count what became of the files of ours that another run took."""
    for path in sorted(paths):
        record = await library.catalog.find(knowledge_base, uri=path.resolve().as_uri())
        if record is None:
            outcome.failed.append((str(path), "It was taken by another run and could not be read."))
        else:
            outcome.take(path, Ingested(record=record, changed=True))


async def _add(job: Job, *, library: Library, again: bool) -> Ingested:
    blob = await blob_from_path(job.path, max_bytes=library.max_file_bytes)
    ingested = await library.intake.ingest(blob, knowledge_base=job.knowledge_base, again=again)
    await library.originals.keep(blob, ingested.record)
    return ingested


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
    for name, reason in (*sorted(outcome.partly), *sorted(outcome.failed)):
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
