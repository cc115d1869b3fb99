"""`footnote eval`: measure retrieval on a folder of judged questions, or answers with `eval answers`.

For retrieval the folder holds corpus.jsonl, queries.jsonl and qrels.tsv; for answers questions.jsonl with corpus.jsonl or a folder
`files`. Each may be .gz.
"""

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

from bot.cli._shared import options
from bot.cli.quality import _eval_answers, _eval_feedback
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.errors import UserError
from rag_engine.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator

    from bot.settings import Settings


EXAMPLE = """footnote eval data/scifact --json
footnote eval answers data/handbook --without evidence
footnote eval answers --from-feedback data/rated"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="DIR", nargs="+", help="a judged folder; `answers DIR` measures answers instead"
    )
    parser.add_argument(
        "--index", default="", metavar="KIND", help="embedded or elasticsearch (the one in the settings)"
    )
    parser.add_argument(
        "--without",
        default="",
        metavar="STEP",
        help="answers: measure again without this step, and print the difference",
    )
    parser.add_argument(
        "--prices",
        nargs=2,
        type=float,
        metavar=("PROMPT", "REPLY"),
        help="answers: the prices of a million tokens, to print the cost",
    )
    parser.add_argument(
        "--from-feedback",
        type=options.path,
        metavar="DIR",
        help="answers: write the rated questions that may be exported into DIR, or into one FILE.jsonl, as a set",
    )
    options.add_json(
        parser,
        "{documents, chunks, queries, seconds, lexical: {ndcg@10, …}, dense: {…}, hybrid: {…}}; "
        "of answers {questions, answer_recall, quote_recall, citation_precision, abstention_recall, …}",
    )


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.from_feedback is not None:
        if arguments.what != ["answers"]:
            raise UserError("Rated questions are written by footnote eval answers --from-feedback DIR.")
        return await _eval_feedback.write(arguments.from_feedback, settings)
    *what, judged = arguments.what
    if what == ["answers"]:
        with _bar() as progress:
            return await _eval_answers.run(Path(judged), arguments, settings, progress)
    if what:
        raise UserError("Name one folder: footnote eval DIR, or footnote eval answers DIR.")
    if arguments.without or arguments.prices:
        raise UserError("--without and --prices belong to footnote eval answers DIR.")
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as folder, _bar() as progress:
        async with retrieval_laboratory(settings, Path(folder), index_kind=arguments.index) as laboratory:
            measured = await evaluate(
                Path(judged),
                embedder=laboratory.embedder,
                index=laboratory.index,
                splitter=laboratory.splitter,
                progress=progress,
            )
    if arguments.json:
        print(json.dumps(measured.as_json(), indent=2))
        return 0
    _print(measured.as_json(), Console(highlight=False))
    return 0


@contextmanager
def _bar() -> Generator[Callable[[str, int, int], None]]:
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
