"""`footnote eval`: retrieval figures on a judged folder, in a throw-away index."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot import compose
from rag_engine import evaluation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator

    from bot.settings import Settings


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Index the corpus, ask every judged question of each leg and of both, and print the measures."""
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as folder, _bar() as shown:
        async with compose.laboratory(settings, Path(folder), index_kind=arguments.index) as laboratory:
            measured = await evaluation.evaluate(
                arguments.folder,
                embedder=laboratory.embedder,
                index=laboratory.index,
                splitter=laboratory.splitter,
                progress=shown,
            )
    if arguments.json:
        print(json.dumps(measured.as_json(), indent=2))
        return 0
    _print(measured.as_json(), Console(highlight=False))
    return 0


@contextmanager
def _bar() -> Generator[Callable[[str, int, int], None]]:
    """A bar on standard error, so that what is printed stays clean; nothing where that is no terminal."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("", total=None)
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total)


_LEGS = ("lexical", "dense", "hybrid")
_MEASURES = ("ndcg@10", "recall@10", "recall@100", "mrr@10")


def _print(measured: dict[str, object], console: Console) -> None:
    counts = ", ".join(f"{measured[name]} {name}" for name in ("documents", "chunks", "queries", "seconds"))
    table = Table("", *_MEASURES, box=None, pad_edge=False)
    for leg in _LEGS:
        figures = measured[leg]
        if isinstance(figures, dict):
            table.add_row(leg, *(f"{figures[measure]:.4f}" for measure in _MEASURES))
    console.print(counts)
    console.print(table)
