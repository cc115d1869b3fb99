"""The index on a real Elasticsearch node: `python -m benchmarks.elastic [--chunks N] [--json]`, or `--quality`.

Uses the tests' node (9.5.3 from its published artifacts, without native libraries) with the optimising compiler and vector
instructions. Everything shares the machine, so compare ratios.

- one question, both legs: the whole call against the time the server reports;
- bulk: `put` of chunks with vectors (documents of 500, refreshed each) against `elasticsearch.helpers.async_bulk` with one
  refresh at the end;
- fifty questions at once against one at a time.

`--rewrites`: processor time of the server and of this process for a question, one with four further wordings in one call, and
fifty at once.

`--quality`: nDCG@10 of each leg and of both, for the embedded index and this one, on the judged sets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from elasticsearch import AsyncElasticsearch
from elasticsearch.helpers import async_bulk

from benchmarks.corpus import DATA, DIMENSIONS, SETS, Corpus, production_embedder
from rag_engine.evaluation.evaluate import evaluate
from rag_engine.indexes import elasticsearch, embedded
from rag_engine.indexes.elasticsearch import documents, schema
from rag_engine.indexes.elasticsearch.manifests.store import Generation
from rag_engine.ports import IndexIdentity
from rag_engine.steps import retrieve
from rag_engine.text.analyzer import VERSION, query_tokens
from rag_engine.types import Document, DocumentId, KnowledgeBaseId, Search
from tests.elastic.node import THOROUGH, running_node

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from benchmarks.corpus import JudgedQuestion
    from rag_engine.ports import Index
    from rag_engine.types import Chunk, Vector

IDENTITY = IndexIdentity(model="synthetic", dimensions=DIMENSIONS, analyzer=VERSION)
BASE = KnowledgeBaseId("all")
CHUNKS_A_DOCUMENT = 500
QUESTIONS = 200
AT_ONCE = 50
WARM_UP_ROUNDS = 30
LIMIT = 100
QUALITY_SETS = ("scifact", "cranfield", "xquad-zh")
BULK_CHUNKS = 10_000


class _Clock:
    """Records the search times that the server reports."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self.requests = 0

    async def watch(self, index: elasticsearch.ElasticsearchIndex, searches: Sequence[Search]) -> float:
        started = time.perf_counter()
        await index.search(searches)
        return (time.perf_counter() - started) * 1000

    def attach(self, client: AsyncElasticsearch) -> None:
        inner = client.msearch

        async def msearch(**options: Any) -> Any:
            answer = await inner(**options)
            self.requests += 1
            self.took.append(float(answer["took"]))
            return answer

        client.msearch = msearch  # the only place that sees the server's figure


def _documents(corpus: Corpus, count: int) -> list[tuple[Document, list[tuple[Chunk, Vector]]]]:
    made: list[tuple[Document, list[tuple[Chunk, Vector]]]] = []
    pairs: list[tuple[Chunk, Vector]] = []
    number = 0
    while len(pairs) < count:
        pairs += corpus.document(number)[1]
        number += 1
    for start in range(0, count, CHUNKS_A_DOCUMENT):
        of = Document(
            id=DocumentId(f"d{start}"), knowledge_base=BASE, title="", uri="", media_type="", digest=""
        )
        made.append((of, pairs[start : start + CHUNKS_A_DOCUMENT]))
    return made


def _searches(corpus: Corpus, number: int) -> list[Search]:
    return _of(corpus.question(number))


def _of(question: JudgedQuestion, limit: int = LIMIT) -> list[Search]:
    seen = frozenset({BASE})
    return [
        Search(leg="lexical", knowledge_bases=seen, limit=limit, tokens=query_tokens(question.text)),
        Search(leg="dense", knowledge_bases=seen, limit=limit, vector=question.vector),
    ]


async def _fill(index: Index, made: Sequence[tuple[Document, list[tuple[Chunk, Vector]]]]) -> float:
    """Seconds to put them, two at a time, as `footnote add` runs several."""
    waiting = iter(made)

    async def work() -> None:
        for of, pairs in waiting:
            await index.put(of, pairs)

    started = time.perf_counter()
    await asyncio.gather(work(), work())
    return time.perf_counter() - started


async def _plain_bulk(url: str, made: Sequence[tuple[Document, list[tuple[Chunk, Vector]]]]) -> float:
    """Seconds of the client's own helper for the same documents."""
    settings = elasticsearch.Settings(url=url)
    generation = Generation(name="g", base="b", at=0)
    # Analysed before the clock starts, unlike ours; vectors as lists, as usual.
    actions = [
        {
            "_index": "plain",
            "_id": f"{of.id}-{number}",
            **json.loads(source),
            "vector": pairs[number][1].tolist(),
        }
        for of, pairs in made
        for number, (_, source) in enumerate(documents.operations(pairs, generation))
    ]
    async with AsyncElasticsearch(url, request_timeout=120) as client:
        await client.indices.create(index="plain", **schema.chunk_index(settings, IDENTITY))
        started = time.perf_counter()
        await async_bulk(client, actions, chunk_size=500)
        await client.indices.refresh(index="plain")
        seconds = time.perf_counter() - started
        await client.indices.delete(index="plain")
        return seconds


async def _bulk_ratio(url: str, corpus: Corpus, chunks: int, rounds: int = 2) -> dict[str, float]:
    """Alternates both ways, so that other load affects them equally."""
    made = _documents(corpus, chunks)
    ours: list[float] = []
    plain: list[float] = []
    await _plain_bulk(url, made[:4])
    for number in range(rounds):
        plain.append(await _plain_bulk(url, made))
        settings = elasticsearch.Settings(url=url, alias=f"bulk{number}")
        async with elasticsearch.connect(settings, data_dir=DATA, identity=IDENTITY) as index:
            ours.append(await _fill(index, made))
        await elasticsearch.remove(settings, data_dir=DATA)
    return {
        "ours_per_second": chunks / min(ours),
        "async_bulk_per_second": chunks / min(plain),
        "ratio": min(plain) / min(ours),
    }


def _quantile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


async def speed(chunks: int) -> dict[str, Any]:
    """Milliseconds, except for bulk."""
    corpus = Corpus()
    with running_node(heap="2g", options=THOROUGH) as node:
        settings = elasticsearch.Settings(url=node.url, timeout=60)
        figures: dict[str, Any] = {"chunks": chunks}
        figures["bulk"] = await _bulk_ratio(node.url, corpus, min(chunks, BULK_CHUNKS))
        async with elasticsearch.connect(settings, data_dir=DATA, identity=IDENTITY) as index:
            figures["fill_seconds"] = await _fill(index, _documents(corpus, chunks))
            asked = [_searches(corpus, number) for number in range(QUESTIONS)]
            clock = _Clock()
            clock.attach(index._cluster.reader)
            # The server compiles hot code only after some thousand searches.
            for _ in range(WARM_UP_ROUNDS):
                await asyncio.gather(*(clock.watch(index, searches) for searches in asked[:AT_ONCE]))
            for searches in asked:
                await clock.watch(index, searches)
            clock.took, clock.requests = [], 0
            alone = [await clock.watch(index, searches) for searches in asked]
            figures["one"] = {
                "p50": statistics.median(alone),
                "p95": _quantile(alone, 0.95),
                "took_p50": statistics.median(clock.took),
                "requests_each": clock.requests / len(asked),
                "limit": 2 * statistics.median(clock.took) + 5,
            }
            together: list[float] = []
            started = time.perf_counter()
            for start in range(0, QUESTIONS, AT_ONCE):
                part = asked[start : start + AT_ONCE]
                together += await asyncio.gather(*(clock.watch(index, searches) for searches in part))
            seconds = time.perf_counter() - started
            figures["fifty"] = {
                "p50": statistics.median(together),
                "p95": _quantile(together, 0.95),
                "p95_by_p50_of_one": _quantile(together, 0.95) / statistics.median(alone),
                "questions_a_second": len(together) / seconds,
                "alone_a_second": 1000 / statistics.fmean(alone),
            }
    return figures


def _server(pid: int | None) -> float:
    """Milliseconds of the processor, without the compilers."""
    spent = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # threads end
            if not (thread / "comm").read_text(encoding="utf-8").startswith(("C1 ", "C2 ")):
                spent += int((thread / "schedstat").read_text(encoding="ascii").split()[0]) / 1e6
    return spent


_ONE, _REWRITES, _TRANSLATION = "one", "with four rewrites", "with three and a translation"


def _with_further(corpus: Corpus, questions: int) -> dict[str, list[list[Search]]]:
    alone = [corpus.question(number) for number in range(questions)]
    few = retrieve.Settings().further_candidates
    five = [sum((_of(corpus.rewrite(each), few) for _ in range(4)), _of(each)) for each in alone]
    translated = [
        [*searches[:-2], *_of(corpus.translation(each), few)]
        for searches, each in zip(five, alone, strict=True)
    ]
    return {_ONE: [_of(question) for question in alone], _REWRITES: five, _TRANSLATION: translated}


async def rewrites(chunks: int, rounds: int = 8) -> list[dict[str, object]]:
    """Medians in milliseconds of questions in turns, all of whose chunks and words are in memory; then of fifty at once."""
    corpus = Corpus()
    with running_node(heap="1g", options=THOROUGH) as node:
        settings = elasticsearch.Settings(url=node.url, timeout=300, kept_chunks=chunks)
        async with elasticsearch.connect(settings, data_dir=DATA, identity=IDENTITY) as index:
            await _fill(index, _documents(corpus, chunks))
            asked = _with_further(corpus, AT_ONCE)
            for _ in range(rounds):
                for kind in asked:
                    for searches in asked[kind]:
                        await index.search(searches)
            clock = _Clock()
            spent: dict[str, list[list[float]]] = {kind: [] for kind in asked}
            for number in [*range(AT_ONCE)] * rounds:
                for kind in (_ONE, _REWRITES, _ONE, _TRANSLATION):
                    server, client = _server(node.pid), time.process_time()
                    passed = await clock.watch(index, asked[kind][number])
                    client = (time.process_time() - client) * 1000
                    server = _server(node.pid) - server
                    spent[kind].append([server, client, server + client, passed])
            server, client = _server(node.pid), time.process_time()
            times = await asyncio.gather(*(clock.watch(index, searches) for searches in asked[_ONE]))
            client = (time.process_time() - client) * 1000
            together = np.array((_server(node.pid) - server, client)) / AT_ONCE
            one = np.median(spent[_ONE], axis=0)
            medians = {kind: np.median(rows, axis=0) for kind, rows in spent.items()}
            names = ("server", "client", "both", "clock")
            found: list[dict[str, object]] = [
                {
                    "asked": kind,
                    **dict(zip(names, row.round(1).tolist(), strict=True)),
                    "times one": dict(zip(names, (row / one).round(2).tolist(), strict=True)),
                }
                for kind, row in medians.items()
            ]
            server, client = together.round(1).tolist()
            at_once = {"server": server, "client": client, "p95": round(_quantile(times, 0.95), 1)}
            return [*found, {"asked": "fifty at once", **at_once}]


async def quality(sets: Sequence[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with running_node(heap="1g", options=THOROUGH) as node:
        for name in sets:
            folder = SETS / name
            if not folder.is_dir():
                print(f"{name} is not on this machine", flush=True)
                continue
            figures[name] = {}
            for kind in ("embedded", "elasticsearch"):
                async with _opened(kind, node.url) as (index, embedder, splitter):
                    measured = await evaluate(folder, embedder=embedder, index=index, splitter=splitter)
                legs = {"lexical": measured.lexical, "dense": measured.dense, "hybrid": measured.hybrid}
                figures[name][kind] = {leg: measures["ndcg@10"] for leg, measures in legs.items()}
            print(name, json.dumps(figures[name]), flush=True)
    return figures


@asynccontextmanager
async def _opened(kind: str, url: str) -> AsyncGenerator[tuple[Index, Any, Any]]:
    async with production_embedder() as (embedder, splitter):
        identity = IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=VERSION)
        if kind == "embedded":
            with tempfile.TemporaryDirectory() as folder:
                async with embedded.connect(
                    embedded.Settings(), data_dir=Path(folder), identity=identity
                ) as index:
                    yield index, embedder, splitter
            return
        settings = elasticsearch.Settings(url=url, alias="quality", timeout=60)
        async with elasticsearch.connect(settings, data_dir=DATA, identity=identity) as index:
            yield index, embedder, splitter
        await elasticsearch.remove(settings, data_dir=DATA)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--rewrites", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    DATA.mkdir(parents=True, exist_ok=True)
    if arguments.quality:
        figures = asyncio.run(quality(QUALITY_SETS))
        worst = max(
            abs(both["embedded"][leg] - both["elasticsearch"][leg])
            for both in figures.values()
            for leg in both["embedded"]
        )
        print(f"largest difference in nDCG@10: {worst:.4f} (aim: at most 0.01)")
        return
    if arguments.rewrites:
        print(*map(json.dumps, asyncio.run(rewrites(arguments.chunks))), sep="\n")
        return
    figures = asyncio.run(speed(arguments.chunks))
    if arguments.json:
        print(json.dumps(figures))
        return
    one, fifty, bulk = figures["one"], figures["fifty"], figures["bulk"]
    print(f"{figures['chunks']:,} chunks, put in {figures['fill_seconds']:.0f} s")
    print(
        f"one question, both legs: p50 {one['p50']:.1f} ms, the server took {one['took_p50']:.1f}"
        f" (aim: at most {one['limit']:.1f}); {one['requests_each']:.2f} requests each"
    )
    print(
        f"fifty at once: p50 {fifty['p50']:.1f} ms, p95 {fifty['p95']:.1f} ="
        f" {fifty['p95_by_p50_of_one']:.1f} x the p50 of one (aim: below 5);"
        f" {fifty['questions_a_second']:.0f} questions a second, one at a time {fifty['alone_a_second']:.0f}"
    )
    print(
        f"bulk: {bulk['ours_per_second']:.0f} chunks/s, async_bulk {bulk['async_bulk_per_second']:.0f}:"
        f" {bulk['ratio']:.2f} x (aim: at least 0.8)"
    )


if __name__ == "__main__":
    main()
