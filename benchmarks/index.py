"""The embedded index alone, on synthetic chunks: `python -m benchmarks.index [--chunks 10000 20000 100000] [--undisturbed] [--json]`.

Chunks and questions are from `benchmarks.corpus`. Latencies are whole calls in milliseconds; `both` is one call with both legs,
as a question makes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpus import CHUNKS_PER_DOCUMENT, DIMENSIONS, KNOWLEDGE_BASES, Corpus
from bot.process import allocator
from rag_engine.indexes.embedded import Settings, connect
from rag_engine.ports import IndexIdentity
from rag_engine.steps import retrieve
from rag_engine.text.analyzer import VERSION, query_tokens
from rag_engine.types import KnowledgeBaseId, Search

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from benchmarks.corpus import JudgedQuestion
    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.types import Document, Leg, Ranking

QUERIES = 100
LIMIT = 100


def _resident() -> float:
    """Anonymous resident memory in MB, without mapped file pages."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("RssAnon:")[1].split()[0]) / 1000


@contextmanager
def _undisturbed(wanted: bool) -> Generator[None]:
    """In the FIFO class of the scheduler (needs root): other programs wait for these seconds."""
    if wanted:
        _schedule(os.SCHED_FIFO, 1)
    try:
        yield
    finally:
        if wanted:
            _schedule(os.SCHED_OTHER, 0)


def _schedule(policy: int, priority: int) -> None:
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await call()
    return (time.perf_counter() - started) * 1000


def _quantiles(times: Sequence[float]) -> list[float]:
    return [round(float(np.quantile(times, share)), 2) for share in (0.5, 0.95)]


def _searches(
    question: JudgedQuestion, legs: Sequence[Leg], bases: frozenset[KnowledgeBaseId], limit: int
) -> list[Search]:
    return [
        Search(leg=leg, knowledge_bases=bases, limit=limit, tokens=query_tokens(question.text))
        if leg == "lexical"
        else Search(leg=leg, knowledge_bases=bases, limit=limit, vector=question.vector)
        for leg in legs
    ]


async def _latencies(index: EmbeddedIndex, corpus: Corpus, limit: int) -> dict[str, list[float]]:
    everything = frozenset(KnowledgeBaseId(f"base{number}") for number in range(KNOWLEDGE_BASES))
    views = {"": everything, " scoped to 1 %": frozenset({KnowledgeBaseId("base3")})}
    legs: dict[str, tuple[Leg, ...]] = {
        "lexical": ("lexical",),
        "dense": ("dense",),
        "both": ("lexical", "dense"),
    }
    questions = [corpus.question(number) for number in range(QUERIES)]
    figures: dict[str, list[float]] = {}
    for view, bases in views.items():
        for name, chosen in legs.items():
            calls = [_searches(question, chosen, bases, limit) for question in questions]
            for call in calls[:10]:
                await index.search(call)
            times = [await _timed(lambda call=call: index.search(call)) for call in calls]
            figures[f"{name}{view}"] = _quantiles(times)
    return figures


async def _recall(index: EmbeddedIndex, corpus: Corpus) -> float:
    everything = frozenset(KnowledgeBaseId(f"base{number}") for number in range(KNOWLEDGE_BASES))
    matrix = np.array(corpus.vectors)
    found = 0
    for number in range(QUERIES):
        question = corpus.question(number)
        best = np.argsort(-(matrix @ question.vector))[:10]
        exact = {f"{place // CHUNKS_PER_DOCUMENT}-{place % CHUNKS_PER_DOCUMENT}" for place in best}
        (ranking,) = await index.search(_searches(question, ("dense",), everything, 10))
        found += len(exact & {str(hit.chunk.id) for hit in ranking.hits})
    return found / (10 * QUERIES)


def _found(rankings: Sequence[Ranking], document: Document) -> bool:
    return any(hit.chunk.document == document.id for ranking in rankings for hit in ranking.hits)


async def _one_more(index: EmbeddedIndex, corpus: Corpus, first: int) -> list[float]:
    """Milliseconds from `put` until a search finds the document."""
    times: list[float] = []
    for number in range(first, first + 30):
        document, chunks = corpus.document(number)
        searches = [
            Search(
                leg="dense",
                knowledge_bases=frozenset({document.knowledge_base}),
                limit=5,
                vector=chunks[0][1],
            )
        ]
        started = time.perf_counter()
        await index.put(document, chunks)
        assert _found(await index.search(searches), document)
        times.append((time.perf_counter() - started) * 1000)
    return _quantiles(times)


async def _with_further_wordings(index: EmbeddedIndex, corpus: Corpus) -> dict[str, object]:
    """Milliseconds of one call, both legs, with a question alone and with four further wordings, in turns."""
    everything = frozenset(KnowledgeBaseId(f"base{number}") for number in range(KNOWLEDGE_BASES))
    few = retrieve.Settings().further_candidates
    further: dict[str, Callable[[JudgedQuestion], list[JudgedQuestion]]] = {
        "4 rewrites": lambda question: [corpus.rewrite(question) for _ in range(4)],
        "3 rewrites and a translation": lambda question: [
            *(corpus.rewrite(question) for _ in range(3)),
            corpus.translation(question),
        ],
    }
    figures: dict[str, object] = {}
    for name, made in further.items():
        alone: list[tuple[float, float]] = []
        together: list[tuple[float, float]] = []
        for number in range(2 * QUERIES):
            question = corpus.question(number)
            one = _searches(question, ("lexical", "dense"), everything, LIMIT)
            five = one + [
                each
                for text in made(question)
                for each in _searches(text, ("lexical", "dense"), everything, few)
            ]
            alone.append(await _spent(index, one))
            together.append(await _spent(index, five))
        figures |= {
            f"{kind}, alone and with {name}": {
                "p50": [float(np.median(times).round(2)) for times in (own, all_)],
                "ratio": round(float(np.median(all_) / np.median(own)), 2),
            }
            for kind, own, all_ in zip(
                ("processor", "clock"), zip(*alone, strict=True), zip(*together, strict=True), strict=True
            )
        }
    return figures


async def _spent(index: EmbeddedIndex, searches: Sequence[Search]) -> tuple[float, float]:
    """Milliseconds of the processor and of the clock."""
    started = time.process_time()
    passed = await _timed(lambda: index.search(searches))
    return (time.process_time() - started) * 1000, passed


async def measure(chunks: int, *, undisturbed: bool = False) -> dict[str, object]:
    corpus = Corpus()
    identity = IndexIdentity(model="synthetic", dimensions=DIMENSIONS, analyzer=VERSION)
    figures: dict[str, object] = {"chunks": chunks, "limit": LIMIT}
    with tempfile.TemporaryDirectory() as directory:
        before = _resident()
        async with connect(Settings(), data_dir=Path(directory), identity=identity) as index:
            spent = 0.0
            for number in range(chunks // CHUNKS_PER_DOCUMENT):
                document, made = corpus.document(number)
                spent += await _timed(lambda document=document, made=made: index.put(document, made))
            figures["chunks written per second"] = round(chunks / spent * 1000)
        figures["file MB"] = round((Path(directory) / "index.sqlite").stat().st_size / 1e6, 1)
        started = time.perf_counter()
        async with connect(Settings(), data_dir=Path(directory), identity=identity) as index:
            await index.count(KnowledgeBaseId("base0"))
            figures["open ms"] = round((time.perf_counter() - started) * 1000, 1)
            with _undisturbed(undisturbed):
                figures["milliseconds p50, p95"] = await _latencies(index, corpus, LIMIT)
            figures["recall@10 of the dense leg"] = await _recall(index, corpus)
            vectors = sum(vector.nbytes for vector in corpus.vectors) / 1e6
            figures["anonymous memory grown, MB, the benchmark's vectors left out"] = round(
                _resident() - before - vectors
            )
            figures["one more document searchable, ms p50, p95"] = await _one_more(index, corpus, chunks)
            with _undisturbed(undisturbed):
                figures["milliseconds"] = await _with_further_wordings(index, corpus)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 20_000])
    parser.add_argument(
        "--undisturbed", action="store_true", help="other programs wait meanwhile; needs root"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per size and line")
    arguments = parser.parse_args()
    allocator.return_large_blocks()
    for chunks in arguments.chunks:
        figures = asyncio.run(measure(chunks, undisturbed=arguments.undisturbed))
        print(json.dumps(figures) if arguments.json else _told(figures), flush=True)


def _told(figures: dict[str, object]) -> str:
    lines: list[str] = []
    for name, value in figures.items():
        if isinstance(value, dict):
            lines.extend(f"  {name}, {part}: {one}" for part, one in value.items())
        else:
            lines.append(f"  {name}: {value}")
    return "embedded index\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
