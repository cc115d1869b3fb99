"""`footnote add`: read files and folders into a knowledge base; safe to interrupt and repeat."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from bot.access.permissions import DEFAULT_KNOWLEDGE_BASE, stored_name
from bot.cli._shared import options, terminal, wait_notice
from bot.cli.knowledge._kb import expansion, graph
from bot.composition import application, retrieval
from bot.files.uploads import line_of
from bot.rendering import printable
from bot.resilience.retry import keep_trying, patient
from rag_engine.errors import StorageUnavailable, Unavailable, UserError, first_error
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.types import Ingested

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from rich.console import Console

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.storage.jobs import Job, JobQueue
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

EXAMPLE = "footnote add handbook.pdf notes/ --kb handbook"

_LEADS_OUT = "The link leads out of the folder: to read the file, name it."
_IN_FLIGHT = 4
_POLL_SECONDS = 0.5


@dataclass(slots=True, kw_only=True)
class _Outcome:
    added: int = 0
    unchanged: int = 0
    passages: int = 0
    partly: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def count(self, path: Path, ingested: Ingested) -> None:
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
        total = self.added + self.unchanged + len(self.failed)
        files = "1 file" if total == 1 else f"{total} files"
        passages = "1 passage" if self.passages == 1 else f"{self.passages} passages"
        return (
            f"{files}: {self.added} added ({passages}), {self.unchanged} unchanged, {len(self.failed)} failed"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        type=options.path,
        metavar="PATH",
        help="a file, or a folder with everything in it",
    )
    parser.add_argument(
        "--kb",
        default=DEFAULT_KNOWLEDGE_BASE,
        metavar="NAME",
        help=f"created if new ({DEFAULT_KNOWLEDGE_BASE})",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="no longer has an effect: files that failed are always tried again",
    )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Queued first: the next run resumes a killed one."""
    console = terminal.console()
    outcome = _Outcome()
    paths = list(_files(arguments.paths, outcome))
    if not paths:
        _report(outcome, console)
        return 1 if outcome.failed else 0
    with patient(wait_notice.patience(settings, console)):
        async with retrieval.base_components(settings) as components:
            before = await components.storage.catalog.knowledge_bases()
            name = stored_name(before, arguments.kb)
            base = await components.storage.catalog.open(name, model=components.embedder.model)
            await _queue(paths, queue=components.storage.queue, knowledge_base=base.id, console=console)
            try:
                async with application.library(settings, on=components) as library:
                    await library.ingestion.finish_removals()
                    await _add_all(
                        paths,
                        library=library,
                        base=base,
                        outcome=outcome,
                        console=console,
                    )
                    if base not in before:
                        await _remove_if_empty(base, library)
                    await expansion.make(settings, library, base.id, console)
                    await graph.make(settings, library, base.id, console)
            except Unavailable:
                left = len(await components.storage.queue.unfinished(base.id))
                _report(outcome, console)
                files = "1 file is" if left == 1 else f"{left} files are"
                console.print(Text(f"{files} still queued: the next `footnote add` continues with them."))
                raise
    _report(outcome, console)
    return 1 if outcome.failed else 0


async def _remove_if_empty(base: KnowledgeBase, library: IndexingComponents) -> None:
    if not await library.index.count(base.id) and not await library.storage.queue.unfinished(base.id):
        await library.forget(base.id)


async def _queue(
    paths: Sequence[Path], *, queue: JobQueue, knowledge_base: KnowledgeBaseId, console: Console
) -> None:
    unread = len(await queue.unfinished(knowledge_base))
    if unread:
        files = (
            "1 file that another run has queued is"
            if unread == 1
            else f"{unread} files that another run has queued are"
        )
        console.print(Text(f"{files} read first."))
    await queue.add(knowledge_base, paths)


async def _add_all(
    paths: Sequence[Path],
    *,
    library: IndexingComponents,
    base: KnowledgeBase,
    outcome: _Outcome,
    console: Console,
) -> None:
    queue = library.storage.queue
    with _progress(console, total=len(await queue.unfinished(base.id))) as progress:
        missing = set(paths)
        while True:
            missing -= await _work_through_queue(
                library=library, knowledge_base=base.id, outcome=outcome, progress=progress
            )
            if missing.isdisjoint(job.path for job in await queue.unfinished(base.id)):
                break
            await asyncio.sleep(_POLL_SECONDS)
    await _count_files_of_other_runs(missing, library=library, knowledge_base=base.id, outcome=outcome)


async def _work_through_queue(
    *,
    library: IndexingComponents,
    knowledge_base: KnowledgeBaseId,
    outcome: _Outcome,
    progress: _Lines,
) -> set[Path]:
    claims = library.storage.claims
    retry_storage = partial(keep_trying, only=StorageUnavailable)
    done: set[Path] = set()

    async def work() -> None:
        while (job := await retry_storage(lambda: claims.claim(knowledge_base))) is not None:
            progress.start(job.path)
            try:
                ingested = await retry_storage(partial(_add, job, library=library))
            except UserError as error:
                outcome.failed.append((str(job.path), str(error)))
                progress.end(job.path, str(error))
            else:
                outcome.count(job.path, ingested)
                progress.end(job.path, line_of(ingested, "en"))
            await retry_storage(partial(claims.finish, job.id))
            done.add(job.path)

    with first_error():
        async with asyncio.TaskGroup() as group:
            for number in range(_IN_FLIGHT):
                group.create_task(work(), name=f"add-{number}")
    return done


async def _count_files_of_other_runs(
    paths: set[Path], *, library: IndexingComponents, knowledge_base: KnowledgeBaseId, outcome: _Outcome
) -> None:
    for path in sorted(paths):
        record = await library.catalog.find(knowledge_base, uri=path.resolve().as_uri())
        if record is None:
            outcome.failed.append((str(path), "Another run read it and failed."))
        else:
            outcome.count(path, Ingested(record=record, changed=True))


async def _add(job: Job, *, library: IndexingComponents) -> Ingested:
    blob = await blob_from_path(job.path, max_bytes=library.max_file_bytes)
    ingested = await library.ingestion.ingest(blob, knowledge_base=job.knowledge_base)
    await library.originals.keep(blob, ingested.record)
    return ingested


def _files(paths: Iterable[Path], outcome: _Outcome) -> Iterator[Path]:
    seen: set[Path] = set()

    def fail(path: Path, error: Exception) -> None:
        reason = (
            error.strerror
            if isinstance(error, OSError) and error.strerror
            else "The link leads back to itself"
        )
        outcome.failed.append((str(path), f"{reason}."))

    for path in paths:
        try:
            status = path.stat()
        except (OSError, RuntimeError) as error:
            fail(path, error)
            continue
        is_folder = stat.S_ISDIR(status.st_mode)
        root = path.resolve()
        for file in _walk(path, fail) if is_folder else [path]:
            try:
                real = file.resolve(strict=True)
            except (OSError, RuntimeError) as error:
                fail(file, error)
                continue
            if is_folder and not real.is_relative_to(root):
                # Others may write in a shared folder.
                outcome.failed.append((str(file), _LEADS_OUT))
            elif real not in seen:
                seen.add(real)
                yield file.absolute()


def _walk(folder: Path, fail: Callable[[Path, Exception], None]) -> Iterator[Path]:
    for parent, folders, names in os.walk(
        folder, onerror=lambda error: fail(Path(str(error.filename)), error)
    ):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent) / name for name in sorted(names) if not name.startswith("."))


def _report(outcome: _Outcome, console: Console) -> None:
    console.print(Text(outcome.summary(), style="bold"))
    for name, reason in (*sorted(outcome.partly), *sorted(outcome.failed)):
        console.print(Text(f"  {printable(name)}: {printable(reason)}"))


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console

    def start(self, path: Path) -> None: ...

    def end(self, path: Path, status: str) -> None:
        line = status if status.startswith(path.name) else f"{path.name}: {status}"
        self._console.print(Text(printable(line)))


class _Bar(_Lines):
    def __init__(self, console: Console, bar: Progress, *, total: int) -> None:
        super().__init__(console)
        self._bar = bar
        self._task = bar.add_task("", total=total)

    def start(self, path: Path) -> None:
        self._bar.update(self._task, description=printable(path.name))

    def end(self, path: Path, status: str) -> None:
        self._bar.advance(self._task)


@contextmanager
def _progress(console: Console, *, total: int) -> Generator[_Lines]:
    if not console.is_terminal:
        yield _Lines(console)
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
