"""Retrieval figures on a judged folder, through the same parts as production: splitter, embedder, index, retrieval, fusion."""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.judgements import Judgements, Row, count_documents, read_corpus, read_judgements
from rag_engine.metrics import mean_measures
from rag_engine.searchable import searchable_text
from rag_engine.steps import fuse, retrieve
from rag_engine.types import Chunk, Document, DocumentId, KnowledgeBaseId, Query, Section

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from rag_engine.ports import Embedder, Index, Splitter
    from rag_engine.types import Hit, Leg, Matrix

    Progress: TypeAlias = Callable[[str, int, int], None]
    """Told what is being done, how many are done, and how many there are."""
    _RankedBy: TypeAlias = Leg | Literal["hybrid"]
    _Rankings: TypeAlias = dict[_RankedBy, list[str]]
    """Document ids, best first, for one question."""
    _Split: TypeAlias = tuple[Document, list[Chunk]]

_KNOWLEDGE_BASE = KnowledgeBaseId("evaluation")
_DEPTH = 100
"""Documents ranked for a question: what recall@100 needs."""
_DEEPEST = 1000
"""Hits asked of a leg when its candidates name fewer documents than that."""
_BATCH = 256
"""Chunks embedded in one call: enough to keep every core busy, and some 400 KB of vectors."""
_ASKERS = 4
"""Questions under way at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What was measured: the measures of each leg alone and of both, averaged over the judged questions."""

    documents: int
    chunks: int
    queries: int
    seconds: float
    lexical: Mapping[str, float]
    dense: Mapping[str, float]
    hybrid: Mapping[str, float]

    def as_json(self) -> dict[str, object]:
        """JSON values: counts, seconds, and each leg's measures by name."""
        return {
            "documents": self.documents,
            "chunks": self.chunks,
            "queries": self.queries,
            "seconds": round(self.seconds, 3),
            "lexical": dict(self.lexical),
            "dense": dict(self.dense),
            "hybrid": dict(self.hybrid),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """The parts under measurement."""

    embedder: Embedder
    index: Index
    judge: fuse.Judge


async def evaluate(
    folder: Path,
    *,
    embedder: Embedder,
    index: Index,
    splitter: Splitter,
    progress: Progress | None = None,
) -> Evaluation:
    """Put the folder's corpus into `index`, which must be empty, and ask every judged question of each leg and of both.

    A document's place is that of its best chunk. Raises `UserError` for a folder that cannot be read.
    """
    started = time.perf_counter()
    judged = await asyncio.to_thread(read_judgements, folder)
    bench = _Bench(embedder=embedder, index=index, judge=fuse.judge_of(embedder))
    documents, chunks = await _ingest(folder, bench, splitter, progress)
    rankings = await _ask(judged, bench, progress)
    return Evaluation(
        documents=documents,
        chunks=chunks,
        queries=len(rankings),
        seconds=time.perf_counter() - started,
        lexical=_measures(rankings, "lexical", judged),
        dense=_measures(rankings, "dense", judged),
        hybrid=_measures(rankings, "hybrid", judged),
    )


def _measures(
    rankings: Mapping[str, _Rankings], ranked_by: _RankedBy, judged: Judgements
) -> dict[str, float]:
    return mean_measures(
        {id_: its_rankings[ranked_by] for id_, its_rankings in rankings.items()}, judged.grades
    )


async def _ingest(
    folder: Path, bench: _Bench, splitter: Splitter, progress: Progress | None
) -> tuple[int, int]:
    """Index the corpus, one batch being written while the next is embedded; returns how many documents and chunks."""
    total = await asyncio.to_thread(count_documents, folder)
    batches = _batches(_split(row, splitter) for row in read_corpus(folder))
    documents = chunks = 0
    async with _group() as group:
        writing: asyncio.Task[None] | None = None
        while batch := await asyncio.to_thread(next, batches, None):
            texts = [searchable_text(chunk) for _, its_chunks in batch for chunk in its_chunks]
            vectors = await bench.embedder.embed(texts, side="passage")
            if writing is not None:
                await writing
            writing = group.create_task(_put(bench.index, batch, vectors), name="evaluation-put")
            documents += len(batch)
            chunks += len(texts)
            if progress:
                progress("indexing", documents, total)
    return documents, chunks


def _split(row: Row, splitter: Splitter) -> _Split:
    text, title = (row.text, row.title) if row.text.strip() else (row.title, "")
    encoded = text.encode("utf-8", "replace")
    document = Document(
        id=DocumentId(row.id),
        knowledge_base=_KNOWLEDGE_BASE,
        title=title,
        uri="",
        media_type="text/plain",
        digest=hashlib.sha256(encoded).hexdigest(),
        size=len(encoded),
    )
    return document, list(splitter(document, [Section(text=text)] if text.strip() else []))


def _batches(split: Iterable[_Split]) -> Iterator[list[_Split]]:
    """Documents in groups of about `_BATCH` chunks."""
    batch: list[_Split] = []
    chunks = 0
    for document, its_chunks in split:
        batch.append((document, its_chunks))
        chunks += len(its_chunks)
        if chunks >= _BATCH:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch


async def _put(index: Index, batch: list[_Split], vectors: Matrix) -> None:
    rows = iter(vectors)
    for document, chunks in batch:
        await index.put(document, list(zip(chunks, islice(rows, len(chunks)), strict=True)))


async def _ask(judged: Judgements, bench: _Bench, progress: Progress | None) -> dict[str, _Rankings]:
    waiting = iter(judged.questions.items())
    rankings: dict[str, _Rankings] = {}

    async def ask() -> None:
        for question, text in waiting:
            rankings[question] = await _rank(text, bench)
            if progress:
                progress("asking", len(rankings), len(judged.questions))

    async with _group() as group:
        for number in range(_ASKERS):
            group.create_task(ask(), name=f"evaluation-ask-{number}")
    return rankings


async def _rank(question: str, bench: _Bench) -> _Rankings:
    """The documents of each leg and of both, as production ranks them; a deeper search fills them up to `_DEPTH`."""
    rankings: _Rankings = await _search(question, bench, retrieve.Settings())
    if min(map(len, rankings.values())) < _DEPTH:
        deeper = await _search(question, bench, retrieve.Settings(candidates=_DEEPEST))
        rankings = {leg: _without_repeats([*rankings[leg], *deeper[leg]]) for leg in rankings}
    return {leg: documents[:_DEPTH] for leg, documents in rankings.items()}


async def _search(question: str, bench: _Bench, settings: retrieve.Settings) -> _Rankings:
    query = Query(text=question, knowledge_bases=frozenset({_KNOWLEDGE_BASE}))
    found = await retrieve.search_legs(
        question, query, embedder=bench.embedder, index=bench.index, settings=settings
    )
    fused = await fuse.fuse_rankings(
        question,
        found.rankings,
        judge=bench.judge,
        settings=fuse.Settings(),
        limit=2 * settings.candidates,
    )
    rankings: _Rankings = {"lexical": [], "dense": [], "hybrid": _documents(fused.hits)}
    for ranking in found.rankings:
        rankings[ranking.leg] = _documents(ranking.hits)
    return rankings


def _documents(hits: Iterable[Hit]) -> list[str]:
    return _without_repeats(hit.chunk.document for hit in hits)


def _without_repeats(documents: Iterable[str]) -> list[str]:
    """Each document at its best place: a ranking of chunks becomes one of documents."""
    return list(dict.fromkeys(documents))


@asynccontextmanager
async def _group() -> AsyncGenerator[asyncio.TaskGroup]:
    """A task group whose first failure leaves it as it is, not wrapped."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
