"""A whole retrieval against sentence-transformers embedding the question alone: `python -m benchmarks.retrieval [--chunks N …]`.

A retrieval is embedding, both legs and fusion, on the synthetic index of `benchmarks.index`. Both alternate in turns of 30
questions: compare ratios.

`--quality` prints what each leg and both find in the judged sets; vectors are cached in `.footnote/benchmarks` (the first run
embeds 18,000 passages in some minutes).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.corpus import CHUNKS_PER_DOCUMENT, DATA, DIMENSIONS, KNOWLEDGE_BASES, SETS, Corpus
from benchmarks.memoized_embedder import MemoizedEmbedder
from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.embedders import _minilm, local
from rag_engine.evaluation.evaluate import evaluate
from rag_engine.indexes import embedded
from rag_engine.ports import IndexIdentity
from rag_engine.steps import fuse, retrieve
from rag_engine.text.analyzer import VERSION
from rag_engine.types import KnowledgeBaseId, Query

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag_engine.ports import Embedder, Index

QUESTIONS = 240
TURN = 30
WARM_UP = 5
LEAST = {
    "cranfield": 0.425,
    "hotpotqa-100": 0.835,
    "rgb-zh-pool": 0.73,
    "scifact": 0.73,
    "xquad-en": 0.975,
    "xquad-es": 0.95,
    "xquad-zh": 0.965,
}
"""Minimum nDCG@10 of both legs together, by set."""


async def measure(chunks: int) -> dict[str, object]:
    """Median milliseconds on an index of `chunks`."""
    corpus = Corpus()
    encode = _sentence_transformers()
    identity = IndexIdentity(model="synthetic", dimensions=DIMENSIONS, analyzer=VERSION)
    with tempfile.TemporaryDirectory() as directory:
        async with (
            local.connect(local.Settings(), data_dir=DATA) as embedder,
            embedded.connect(embedded.Settings(), data_dir=Path(directory), identity=identity) as index,
        ):
            for number in range(chunks // CHUNKS_PER_DOCUMENT):
                await index.put(*corpus.document(number))
            questions = [corpus.question(number).text for number in range(QUESTIONS)]
            times = await _in_turns(questions, embedder, index, encode)
    medians = {name: _medians(pairs) for name, pairs in times.items()}
    wall, processor = zip(*medians.values(), strict=True)
    return {
        "chunks": chunks,
        "p50": {name: {"ms": pair[0], "processor ms": pair[1]} for name, pair in medians.items()},
        "ratio": round(wall[1] / wall[0], 2),
        "processor ratio": round(processor[1] / processor[0], 2),
    }


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    return tuple(round(statistics.median(values), 2) for values in zip(*pairs, strict=True))


async def _timed(call: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Milliseconds of wall clock and of all processors."""
    started, worked = time.perf_counter(), time.process_time()
    await call()
    return (time.perf_counter() - started) * 1000, (time.process_time() - worked) * 1000


async def _in_turns(
    questions: Sequence[str], embedder: Embedder, index: Index, encode: Callable[[str], object]
) -> dict[str, list[tuple[float, float]]]:
    judge = fuse.judge_of(embedder)
    everything = frozenset(KnowledgeBaseId(f"base{number}") for number in range(KNOWLEDGE_BASES))

    async def ask(text: str, by: Embedder) -> None:
        query = Query(text=text, knowledge_bases=everything)
        found = await retrieve.search_legs(
            text, query, embedder=by, index=index, settings=retrieve.Settings()
        )
        await fuse.fuse_rankings(text, found.rankings, judge=judge, settings=fuse.Settings(), limit=50)

    memoized = MemoizedEmbedder(embedder)
    calls: dict[str, Callable[[str], Awaitable[object]]] = {
        "sentence-transformers, the question alone": lambda text: asyncio.to_thread(encode, text),
        "whole retrieval": lambda text: ask(text, embedder),
        "all but the embedding": lambda text: ask(text, memoized),
    }
    for text in questions:
        await memoized.embed([text], side="query")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for start in range(0, len(questions), TURN):
        for name, call in calls.items():
            # Torch threads spin for a while after each call and slow the next one.
            await asyncio.sleep(0.5)
            turn = [
                await _timed(lambda text=text, call=call: call(text))
                for text in questions[start : start + TURN]
            ]
            times[name].extend(turn[WARM_UP:])
    return times


def _sentence_transformers() -> Callable[[str], object]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(_minilm.installed() or _minilm.NAME), device="cpu")
    return lambda text: model.encode([text], show_progress_bar=False)


async def quality(names: Sequence[str]) -> None:
    folders = sorted(
        folder.parent for folder in SETS.glob("*/qrels.tsv") if not names or folder.parent.name in names
    )
    if not folders:
        print("No judged sets beside the project.")
        return
    print(
        f"{'nDCG@10':14} {'lexical':>8} {'dense':>8} {'hybrid':>8} {'least':>8} {'recall@100':>11} {'chunks':>7} {'s':>5}"
    )
    chosen = settings.read().model_copy(update={"data_dir": DATA})
    for folder in folders:
        with tempfile.TemporaryDirectory() as directory:
            async with retrieval_laboratory(chosen, Path(directory)) as laboratory:
                measured = await evaluate(
                    folder,
                    embedder=laboratory.embedder,
                    index=laboratory.index,
                    splitter=laboratory.splitter,
                )
        ndcg = [leg["ndcg@10"] for leg in (measured.lexical, measured.dense, measured.hybrid)]
        least = max(LEAST.get(folder.name, 0), max(ndcg[:2]) - 0.005)
        figures = " ".join(f"{value:8.4f}" for value in (*ndcg, least))
        missed = "" if ndcg[2] >= least else "  MISSED"
        print(
            f"{folder.name:14} {figures} {measured.hybrid['recall@100']:11.4f} {measured.chunks:7} {measured.seconds:5.0f}{missed}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 20_000, 100_000])
    parser.add_argument("--quality", action="store_true", help="the judged sets instead of the times")
    parser.add_argument("--sets", nargs="*", default=[], help="only these judged sets")
    parser.add_argument("--json", action="store_true", help="one JSON object per size and line")
    arguments = parser.parse_args()
    if arguments.quality:
        asyncio.run(quality(arguments.sets))
        return
    for chunks in arguments.chunks:
        figures = asyncio.run(measure(chunks))
        print(json.dumps(figures) if arguments.json else _told(figures), flush=True)


def _told(figures: dict[str, Any]) -> str:
    rows = [
        f"  {name}: {pair['ms']} ms ({pair['processor ms']} of processors)"
        for name, pair in figures["p50"].items()
    ]
    ratios = f"  whole retrieval / sentence-transformers: {figures['ratio']} ({figures['processor ratio']} of processors)"
    return "\n".join([f"{figures['chunks']:,} chunks, p50", *rows, ratios])


if __name__ == "__main__":
    main()
