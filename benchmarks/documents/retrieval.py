"""Structural splitting against fixed-size chunks: `python -m benchmarks documents --retrieval`.

Uses the PDF, office and HTML files of `../shared/docs`, `tests/documents/questions.jsonl`, and the default engine. A hit is right
if it is of the right file and holds the phrase; nDCG counts the first. The embedder reads 256 tokens, production's limit; the
lexical index reads whole chunks.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import tempfile
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.corpus import production_embedder
from rag_engine.indexes import embedded
from rag_engine.ports import IndexIdentity
from rag_engine.splitters import structure
from rag_engine.steps import fuse, retrieve
from rag_engine.text.analyzer import VERSION
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Document, DocumentId, KnowledgeBaseId, Query
from tests.documents import corpus
from tests.documents.questions import fixed_size, holding, questions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from rag_engine.ports import Embedder, Index
    from rag_engine.types import Chunk, Hit
    from tests.documents.questions import Question

TYPES: Final = ("pdf", "docx", "doc", "rtf", "odt", "odp", "pptx", "xlsx", "xls", "html")
LEFT_OUT: Final = (
    "made/pages-5000.pdf",
    "made/html-deep.html",
    "made/many-members.docx",
    "made/deep-xml.docx",
)
"""Long files without questions."""
DEPTH: Final = 10
PASSAGES: Final = 8
BUDGET: Final = 1_200
_OURS: Final = "along the structure, 256"
_BASE: Final = KnowledgeBaseId("documents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question: rank of the first right passage (0: none), and tokens of the best passages."""

    question: Question
    rank: int
    possible: bool
    tokens: int
    """Of the best eight."""
    within_budget: bool
    """Whether a right passage is among the best within the token budget."""


async def measure(*, verbose: bool = False) -> dict[str, list[Answered]]:
    """Prints the table; returns each question's result by splitter."""
    asked = questions()
    read = await _sections()
    found: dict[str, list[Answered]] = {}
    async with production_embedder() as (embedder, structural):
        count = embedder.count_tokens
        ways = {
            _OURS: structural,
            "256 tokens": fixed_size(count, limit=256),
            "256 tokens, with the name": fixed_size(count, limit=256, with_title=True),
            "along the structure, 512": structure.build(
                structure.Settings(), count_tokens=count, max_tokens=512
            ),
            "512 tokens, 20 % overlap": fixed_size(count, limit=512, overlap=102),
            "512 tokens, 20 %, with name": fixed_size(count, limit=512, overlap=102, with_title=True),
        }
        print(
            f"{len(asked)} questions about {len({q.file for q in asked})} of {len(read)} files\n", flush=True
        )
        print(_HEAD, flush=True)
        for name, splitter in ways.items():
            chunks = {
                path: list(splitter(_document(path), reading.sections)) for path, reading in read.items()
            }
            async with _index(chunks, embedder) as index:
                found[name] = await _ask(asked, chunks, index, embedder)
            print(_row(name, sum(map(len, chunks.values())), found[name]), flush=True)
    print("\n" + _by_kind(found))
    if verbose:
        _print_misses(found[_OURS])
    return found


async def _sections() -> dict[str, corpus.Reading]:
    rows = [row for row in corpus.manifest(TYPES) if row["type"] in TYPES and row["path"] not in LEFT_OUT]
    read = await corpus.readings(row for row in rows if row["expect"] == "text")
    return {reading.path: reading for reading in read if reading.outcome == "text"}


def _document(path: str) -> Document:
    return Document(
        id=DocumentId(path),
        knowledge_base=_BASE,
        title=Path(path).name,
        uri="",
        media_type="",
        digest="",
    )


@asynccontextmanager
async def _index(chunks: dict[str, list[Chunk]], embedder: Embedder) -> AsyncGenerator[Index]:
    identity = IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=VERSION)
    with tempfile.TemporaryDirectory() as folder:
        async with embedded.connect(embedded.Settings(), data_dir=Path(folder), identity=identity) as index:
            for path, its_chunks in chunks.items():
                texts = [searchable_text(chunk) for chunk in its_chunks]
                vectors = await embedder.embed(texts, side="passage")
                await index.put(_document(path), list(zip(its_chunks, vectors, strict=True)))
            yield index


async def _ask(
    asked: Sequence[Question], chunks: dict[str, list[Chunk]], index: Index, embedder: Embedder
) -> list[Answered]:
    judge = fuse.judge_of(embedder)
    answered: list[Answered] = []
    for question in asked:
        right = holding(question, chunks.get(question.file, ()))
        query = Query(text=question.question, knowledge_bases=frozenset({_BASE}))
        found = await retrieve.search_legs(
            question.question, query, embedder=embedder, index=index, settings=retrieve.Settings()
        )
        fused = await fuse.fuse_rankings(
            question.question, found.rankings, judge=judge, settings=fuse.Settings(), limit=50
        )
        answered.append(_answered(question, right, fused.hits, embedder.count_tokens))
    return answered


def _answered(
    question: Question, right: set[str], hits: Sequence[Hit], count: Callable[[str], int]
) -> Answered:
    rank = next((hit.rank for hit in hits[:DEPTH] if hit.chunk.id in right), 0)
    weights = [count(searchable_text(hit.chunk)) for hit in hits]
    spent, within = 0, False
    for hit, weight in zip(hits, weights, strict=True):
        spent += weight
        if spent > BUDGET:
            break
        within = within or hit.chunk.id in right
    return Answered(
        question=question,
        rank=rank,
        possible=bool(right),
        tokens=sum(weights[:PASSAGES]),
        within_budget=within,
    )


_COLUMNS: Final = (
    "hit@1",
    "hit@3",
    "hit@8",
    "MRR@10",
    "nDCG@10",
    f"in {BUDGET:,}",
    "tokens of 8",
    "held",
    "chunks",
)
_HEAD: Final = f"{'splitting':28}" + "".join(f"{column:>12}" for column in _COLUMNS)


def _row(name: str, chunks: int, answered: Sequence[Answered]) -> str:
    ranks = [one.rank for one in answered]
    figures = [
        *(f"{_share(0 < rank <= depth for rank in ranks):.1%}" for depth in (1, 3, 8)),
        f"{statistics.mean(1 / rank if rank else 0 for rank in ranks):.4f}",
        f"{statistics.mean(_gain(rank) for rank in ranks):.4f}",
        f"{_share(one.within_budget for one in answered):.1%}",
        f"{statistics.mean(one.tokens for one in answered):,.0f}",
        f"{_share(one.possible for one in answered):.1%}",
        f"{chunks:,}",
    ]
    return f"{name:28}" + "".join(f"{figure:>12}" for figure in figures)


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1) if rank else 0.0


def _share(passed: Sequence[bool] | object) -> float:
    values = list(passed)  # type: ignore[call-overload]
    return sum(values) / len(values)


def _by_kind(found: dict[str, list[Answered]]) -> str:
    kinds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, answered in found.items():
        for one in answered:
            kinds[one.question.kind][name].append(_gain(one.rank))
    names = list(found)
    lines = ["nDCG@10 by what is asked for: " + " · ".join(names)]
    for kind, ways in sorted(kinds.items()):
        figures = " ".join(f"{statistics.mean(ways[name]):8.4f}" for name in names)
        lines.append(f"{kind:12} {len(ways[names[0]]):4} {figures}")
    return "\n".join(lines)


def _print_misses(answered: Sequence[Answered]) -> None:
    for one in answered:
        if one.rank != 1:
            why = "" if one.possible else " (no chunk holds it)"
            print(f"{one.rank or '-':>3} {one.question.file}: {one.question.question}{why}")


if __name__ == "__main__":
    asyncio.run(measure())
