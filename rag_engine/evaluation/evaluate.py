from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.errors import first_error
from rag_engine.evaluation.corpus_index import index_corpus
from rag_engine.evaluation.dataset import Dataset, read_judgements
from rag_engine.evaluation.metrics import mean_measures
from rag_engine.steps import fuse, retrieve
from rag_engine.types import KnowledgeBaseId, Query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping
    from pathlib import Path

    from rag_engine.evaluation.corpus_index import Progress
    from rag_engine.ports import Embedder, Index, Splitter
    from rag_engine.types import Hit, Leg

    _RankedBy: TypeAlias = Leg | Literal["hybrid"]
    _Rankings: TypeAlias = dict[_RankedBy, list[str]]

_KNOWLEDGE_BASE = KnowledgeBaseId("evaluation")
_DEPTH = 100
_DEEPEST = 1000
_ASKERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    documents: int
    chunks: int
    queries: int
    seconds: float
    lexical: Mapping[str, float]
    dense: Mapping[str, float]
    hybrid: Mapping[str, float]

    def as_json(self) -> dict[str, object]:
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
    embedder: Embedder
    index: Index
    judge: fuse.LegTrust


async def evaluate(
    folder: Path,
    *,
    embedder: Embedder,
    index: Index,
    splitter: Splitter,
    progress: Progress | None = None,
) -> Evaluation:
    """Each leg, and both; `index` must be empty. A document ranks at its best chunk. Raises `UserError`."""
    started = time.perf_counter()
    judged = await asyncio.to_thread(read_judgements, folder)
    bench = _Bench(embedder=embedder, index=index, judge=fuse.judge_of(embedder))
    documents, chunks = await index_corpus(
        folder,
        knowledge_base=_KNOWLEDGE_BASE,
        embedder=embedder,
        index=index,
        splitter=splitter,
        progress=progress,
    )
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


def _measures(rankings: Mapping[str, _Rankings], ranked_by: _RankedBy, judged: Dataset) -> dict[str, float]:
    return mean_measures(
        {id_: its_rankings[ranked_by] for id_, its_rankings in rankings.items()}, judged.grades
    )


async def _ask(judged: Dataset, bench: _Bench, progress: Progress | None) -> dict[str, _Rankings]:
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
        if not ranking.is_hypothetical:
            rankings[ranking.leg] = _documents(ranking.hits)
    return rankings


def _documents(hits: Iterable[Hit]) -> list[str]:
    return _without_repeats(hit.chunk.document for hit in hits)


def _without_repeats(documents: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(documents))


@asynccontextmanager
async def _group() -> AsyncGenerator[asyncio.TaskGroup]:
    with first_error():
        async with asyncio.TaskGroup() as group:
            yield group
