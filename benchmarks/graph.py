"""What a graph of entities, made by rules, adds to judged sets: `python -m benchmarks.graph [--sets NAME …] [--weights 0.2 …]`.

Without and with it: the share of questions all of whose documents are among the first k, and nDCG@10. Then the time to build it,
its size, and what a question takes; and the same without an index for `--chunks`.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import tempfile
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA, SETS
from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.evaluation.corpus_index import index_corpus
from rag_engine.evaluation.dataset import read_corpus, read_judgements
from rag_engine.evaluation.metrics import mean_measures
from rag_engine.graph.ranking import rank_passages
from rag_engine.ingestion.graph.builder import GraphBuilder
from rag_engine.pipeline import Inquiry
from rag_engine.ports import DocumentSave, Ports
from rag_engine.steps import fuse, graph, retrieve
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, DocumentRecord, KnowledgeBaseId, Query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence

    from rag_engine.ports import IndexContents
    from rag_engine.types import Vector

DEPTHS = (2, 4, 8, 10)
NAMES = ("hotpotqa-100", "xquad-en", "xquad-es", "scifact")


@asynccontextmanager
async def _always(record: DocumentRecord) -> AsyncGenerator[bool]:
    yield True


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltGraph:
    seconds: float
    megabytes: float
    passages: int


async def _built(
    catalog: SqliteCatalog,
    contents: IndexContents,
    base: KnowledgeBaseId,
    documents: Sequence[DocumentId],
    path: Path,
) -> BuiltGraph:
    saves: list[DocumentSave] = []
    for name in documents:
        document = Document(
            id=name, knowledge_base=base, title=name, uri=name, media_type="text/plain", digest=name
        )
        saves.append(DocumentSave(record=DocumentRecord(document=document, state="ready", chunks=1)))
    await catalog.save_all(saves)
    before = await _bytes(path)
    await catalog.graph.switch(base, "rules")
    started = time.perf_counter()
    report = await GraphBuilder(store=catalog.graph, index=contents, alone=_always).work()
    seconds = time.perf_counter() - started
    size = await _bytes(path) - before
    return BuiltGraph(seconds=seconds, megabytes=size / 1e6, passages=report.read)


async def _bytes(path: Path) -> int:
    async with connect(path) as database:
        [(pages,)], [(size,)] = [
            await database.fetch(f"PRAGMA {name}") for name in ("page_count", "page_size")
        ]
    return pages * size


async def measure(name: str, weights: Sequence[float]) -> None:
    chosen = settings.read().model_copy(update={"data_dir": DATA})
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        laboratory = await stack.enter_async_context(retrieval_laboratory(chosen, folder))
        path = folder / "footnote.sqlite"
        catalog = SqliteCatalog(await stack.enter_async_context(connect(path)))
        base = (await catalog.open("evaluation", model="any")).id
        await index_corpus(
            SETS / name,
            knowledge_base=base,
            embedder=laboratory.embedder,
            index=laboratory.index,
            splitter=laboratory.splitter,
        )
        documents = list(dict.fromkeys([chunk.document async for chunk, _ in laboratory.index.scan(base)]))
        ports = Ports(
            embedder=laboratory.embedder,
            index=laboratory.index,
            contents=laboratory.index,
            layers=catalog.expansions,
        )
        judged = await asyncio.to_thread(read_judgements, SETS / name)
        asking = partial(_ask, judged.questions, base=base)
        plain, plain_times = await asking(ports, weight=0.0)
        built = await _built(catalog, laboratory.index, base, documents, path)
        with_graph = replace(ports, graph=catalog.graph)
        print(
            f"{name}: {built.passages} passages in {built.seconds:.1f} s"
            f" ({1000 * built.seconds / built.passages:.2f} s per 1,000), {built.megabytes:.1f} MB"
        )
        print(f"{'':12}", *(f"all in {depth:<2}" for depth in DEPTHS), " nDCG@10  p50 ms  p95 ms")
        _print("without", plain, judged.grades, plain_times)
        for weight in weights:
            found, times = await asking(with_graph, weight=weight)
            _print(f"weight {weight:g}", found, judged.grades, times)


async def _ask(
    questions: Mapping[str, str], ports: Ports, *, base: KnowledgeBaseId, weight: float
) -> tuple[dict[str, list[str]], list[float]]:
    steps = (
        retrieve.build(retrieve.Settings(), ports),
        fuse.build(fuse.Settings(), ports),
        graph.build(graph.Settings(weight=weight), ports),
    )
    found: dict[str, list[str]] = {}
    times: list[float] = []
    for question, text in questions.items():
        inquiry = Inquiry(query=Query(text=text, knowledge_bases=frozenset({base})), question=text)
        started = time.perf_counter()
        for step in steps:
            inquiry = await step(inquiry)
        times.append((time.perf_counter() - started) * 1000)
        found[question] = list(dict.fromkeys(hit.chunk.document for hit in inquiry.hits))
    return found, times


def _print(
    label: str, found: dict[str, list[str]], grades: Mapping[str, Mapping[str, int]], times: Sequence[float]
) -> None:
    shares = [
        statistics.mean({*grades[question]} <= {*names[:depth]} for question, names in found.items())
        for depth in DEPTHS
    ]
    ndcg = mean_measures(found, grades)["ndcg@10"]
    p95 = statistics.quantiles(times, n=20)[-1]
    print(
        f"{label:12}",
        *(f"{share:9.2f}" for share in shares),
        f"{ndcg:8.4f} {statistics.median(times):7.1f} {p95:7.1f}",
        flush=True,
    )


async def measure_size(chunks: int) -> None:
    """Of one knowledge base of repeated paragraphs, in documents of 20, each with a name of its own and a shared one."""
    texts = [row.text for name in ("hotpotqa-100", "xquad-en") for row in read_corpus(SETS / name)]
    rows = [
        f"{texts[number % len(texts)]} It is kept by Keeper{number} and Warden{number // 7}."
        for number in range(chunks)
    ]
    pages = RepeatedChunks(rows=rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "footnote.sqlite"
        async with connect(path) as database:
            catalog = SqliteCatalog(database)
            base = (await catalog.open("evaluation", model="any")).id
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            documents = [DocumentId(str(number)) for number in range(chunks // pages.each)]
            built = await _built(catalog, pages, base, documents, path)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            times: list[float] = []
            for number in range(0, chunks, max(chunks // 200, 1)):
                started = time.perf_counter()
                await rank_passages(f"Who is Warden{number // 7}, and what of Europe?", catalog.graph, [base])
                times.append((time.perf_counter() - started) * 1000)
    print(
        f"{built.passages} passages in {built.seconds:.1f} s ({1000 * built.seconds / built.passages:.2f} s per 1,000), {built.megabytes:.1f} MB,"
        f" memory {grown:+.0f} MB; ranking p50 {statistics.median(times):.1f} ms, p95 {statistics.quantiles(times, n=20)[-1]:.1f} ms"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedChunks:
    rows: Sequence[str]
    each: int = 20

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        first = int(document) * self.each
        return [
            Chunk(
                id=ChunkId(f"{document}-{number}"),
                document=document,
                knowledge_base=knowledge_base,
                ordinal=number,
                text=self.rows[first + number],
                language="en",
            )
            for number in range(start, min(start + limit, self.each))
        ]

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return len(self.rows)

    def scan(self, knowledge_base: KnowledgeBaseId) -> AsyncIterator[tuple[Chunk, Vector]]:
        raise NotImplementedError


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(NAMES))
    parser.add_argument("--weights", type=float, nargs="+", default=[graph.Settings().weight])
    parser.add_argument(
        "--chunks", type=int, nargs="*", default=[20_000], help="sizes to build and ask instead of sets"
    )
    arguments = parser.parse_args()
    for name in arguments.sets:
        asyncio.run(measure(name, arguments.weights))
    for chunks in arguments.chunks:
        asyncio.run(measure_size(chunks))


if __name__ == "__main__":
    main()
