"""`footnote add`: files and folders into a knowledge base."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bot import compose
from bot.service import sentence
from rag_engine.blobs import blob_from_path
from rag_engine.errors import CorruptFile, UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from bot.settings import Settings
    from rag_engine.storage.jobs import Job
    from rag_engine.types import Ingested, KnowledgeBaseId

_IN_FLIGHT = 4  # enough for one file to be read while others are embedded, few enough for memory to stay flat
_MOST_ATTEMPTS = 5


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """What has become of the files so far."""

    added: int = 0
    unchanged: int = 0
    passages: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def take(self, ingested: Ingested) -> None:
        """Count one file that was read to the end."""
        record = ingested.record
        if record.state == "failed":
            self.failed.append((record.document.title, record.reason))
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
        left = len(await queue.unfinished(base.id))
        if left:
            console.print(Text(f"Taking up {left} files that an earlier run left unread."))
        await queue.add(base.id, paths)
        with _progress(console, total=len(await queue.unfinished(base.id))) as progress:
            await _add_all(library=library, knowledge_base=base.id, outcome=outcome, progress=progress)
    _report(outcome, console)
    return 1 if outcome.failed else 0


async def _add_all(
    *, library: compose.Library, knowledge_base: KnowledgeBaseId, outcome: _Outcome, progress: _Shown
) -> None:
    claims = library.storage.claims

    async def work() -> None:
        while (job := await claims.claim(knowledge_base)) is not None:
            progress.start(job.path)
            try:
                ingested = await _add(job, library=library)
            except UserError as error:
                outcome.failed.append((str(job.path), str(error)))
                progress.end(job.path, str(error))
            else:
                outcome.take(ingested)
                progress.end(job.path, sentence(ingested))
            await claims.finish(job.id)

    async with asyncio.TaskGroup() as group:
        for number in range(_IN_FLIGHT):
            group.create_task(work(), name=f"add-{number}")


async def _add(job: Job, *, library: compose.Library) -> Ingested:
    if job.attempts > _MOST_ATTEMPTS:
        raise CorruptFile("Reading it stopped the program again and again, so it was set aside.")
    blob = await blob_from_path(job.path, max_bytes=library.max_file_bytes)
    return await library.ingestion.ingest(blob, knowledge_base=job.knowledge_base)


def _files(paths: Iterable[Path], outcome: _Outcome) -> Iterator[Path]:
    """Every file named, folders walked in order; hidden ones are left out, missing ones recorded."""
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            outcome.failed.append((str(path), "There is no such file or folder."))
        for file in _walk(path) if path.is_dir() else [path]:
            if file.resolve() not in seen and path.exists():
                seen.add(file.resolve())
                yield file


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent) / name for name in sorted(names) if not name.startswith("."))


def _report(outcome: _Outcome, console: Console) -> None:
    console.print(Text(outcome.summary(), style="bold"))
    for name, reason in sorted(outcome.failed):
        console.print(Text(f"  {name}: {reason}"), soft_wrap=True)


class _Shown:
    """Plain lines for a pipe: one a file, when it is done."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def start(self, path: Path) -> None:
        """A pipe is told what was done, not what is being done."""

    def end(self, path: Path, said: str) -> None:
        self._console.print(
            Text(said if said.startswith(path.name) else f"{path.name}: {said}"), soft_wrap=True
        )


class _Bar(_Shown):
    """A bar for a terminal; the reasons of what failed come with the summary."""

    def __init__(self, console: Console, bar: Progress, *, total: int) -> None:
        super().__init__(console)
        self._bar = bar
        self._task = bar.add_task("", total=total)

    def start(self, path: Path) -> None:
        self._bar.update(self._task, description=path.name)

    def end(self, path: Path, said: str) -> None:
        self._bar.advance(self._task)


def _progress(console: Console, *, total: int) -> AbstractContextManager[_Shown]:
    if not console.is_terminal:
        return nullcontext(_Shown(console))
    return _BarContext(console, total=total)


class _BarContext(AbstractContextManager[_Shown]):
    def __init__(self, console: Console, *, total: int) -> None:
        self._console, self._total = console, total
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
        )

    def __enter__(self) -> _Shown:
        self._bar.start()
        return _Bar(self._console, self._bar, total=self._total)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
