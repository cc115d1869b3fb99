"""How often the extractive answerer quotes the answering sentence, and how often it admits finding nothing.

python -m benchmarks.answers.extraction [FOLDER…]

Each FOLDER holds `corpus.jsonl.gz`, `queries.jsonl.gz` with answers, and `qrels.tsv`; by default the XQuAD sets beside the
project. Every question is asked over the 8 best passages, over the 8 best not judged relevant (hard, because they are from the
same articles), and over passages of another set.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from rag_engine.embedders import local
from rag_engine.models import extractive
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.language import detect
from rag_engine.types import AnswerRequest, Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ports import Answerer, Embedder
    from rag_engine.types import Matrix, Side

_PASSAGES = 8
_DENSE_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotableQuestion:
    id: str
    text: str
    answers: tuple[str, ...]


def _lines(path: Path) -> list[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _corpus(folder: Path) -> list[Chunk]:
    return [
        Chunk(
            id=ChunkId(str(row["id"])),
            document=DocumentId(str(row["id"])),
            knowledge_base=KnowledgeBaseId("bench"),
            ordinal=0,
            text=str(row["text"]),
            title=str(row["title"]),
            language=detect(str(row["text"])),
        )
        for row in _lines(folder / "corpus.jsonl.gz")
    ]


def _load(folder: Path, limit: int) -> tuple[list[Chunk], list[QuotableQuestion], dict[str, set[str]]]:
    chunks = _corpus(folder)
    questions = [
        QuotableQuestion(
            id=str(row["id"]), text=str(row["text"]), answers=tuple(cast("list[str]", row["answers"]))
        )
        for row in _lines(folder / "queries.jsonl.gz")
    ]
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            relevant[query].add(document)
    return chunks, questions[:: max(1, len(questions) // limit)], relevant


def _bm25(chunks: list[Chunk]) -> list[dict[str, float]]:
    counted = [tokens(chunk.text, language=chunk.language) for chunk in chunks]
    average = sum(map(len, counted)) / len(counted)
    holding: dict[str, int] = defaultdict(int)
    for found in counted:
        for token in set(found):
            holding[token] += 1
    weights: list[dict[str, float]] = []
    for found in counted:
        norm = 1.2 * (0.25 + 0.75 * len(found) / average)
        weights.append(
            {
                token: np.log(1 + (len(chunks) - holding[token] + 0.5) / (holding[token] + 0.5))
                * found.count(token)
                / (found.count(token) + norm)
                for token in set(found)
            }
        )
    return weights


def _scaled(scores: Matrix) -> Matrix:
    return (scores - scores.min()) / (scores.max() - scores.min() + 1e-9)


def _ranked(question: str, vector: Matrix, weights: list[dict[str, float]], vectors: Matrix) -> list[int]:
    asked = set(query_tokens(question))
    lexical = np.array([sum(row[token] for token in asked & row.keys()) for row in weights])
    mixed = (1 - _DENSE_SHARE) * _scaled(lexical) + _DENSE_SHARE * _scaled(vectors @ vector)
    return [int(index) for index in np.argsort(-mixed)]


class _Remembering:
    """Embeds each text once, because sentences repeat across questions."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[str, str], Matrix] = {}
        self.model, self.dimensions, self.max_tokens = inner.model, inner.dimensions, inner.max_tokens
        self.count_tokens = inner.count_tokens

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        missing = [text for text in dict.fromkeys(texts) if (text, side) not in self._known]
        if missing:
            for text, vector in zip(missing, await self._inner.embed(missing, side=side), strict=True):
                self._known[text, side] = vector
        return np.stack([self._known[text, side] for text in texts])


async def _answer(answerer: Answerer, question: str, chunks: list[Chunk]) -> str:
    hits = tuple(Hit(chunk=chunk, score=0.0, rank=rank) for rank, chunk in enumerate(chunks, 1))
    async with answerer.answer(AnswerRequest(question=question, passages=hits)) as pieces:
        return "".join([piece async for piece in pieces])


async def _measure(folder: Path, strangers: list[Chunk], limit: int, embedder: Embedder) -> str:
    chunks, questions, relevant = _load(folder, limit)
    vectors = await embedder.embed([chunk.text for chunk in chunks], side="passage")
    asked = await embedder.embed([question.text for question in questions], side="query")
    weights = _bm25(chunks)
    held = silent = refused = refused_strangers = quotes = 0
    async with extractive.connect(extractive.Settings(), embedder=embedder) as model:
        for question, vector in zip(questions, asked, strict=True):
            order = [chunks[index] for index in _ranked(question.text, vector, weights, vectors)[:40]]
            answer = await _answer(model, question.text, order[:_PASSAGES])
            held += any(text in answer for text in question.answers)
            silent += "[" not in answer
            quotes += answer.count("[")
            without = [chunk for chunk in order if chunk.id not in relevant[question.id]][:_PASSAGES]
            refused += "[" not in await _answer(model, question.text, without)
            refused_strangers += "[" not in await _answer(model, question.text, strangers[:_PASSAGES])
    total = len(questions)
    return (
        f"{folder.name}: {total} questions; the answer is in the text {held / total:.1%}; "
        f"nothing said though it was there {silent / total:.1%}; {quotes / max(1, total - silent):.1f} sentences; "
        f"nothing said over the same articles without it {refused / total:.1%}, over other texts {refused_strangers / total:.1%}"
    )


async def _main(folders: list[Path], limit: int) -> None:
    with tempfile.TemporaryDirectory() as data:
        async with local.connect(local.Settings(), data_dir=Path(data)) as inner:
            embedder = _Remembering(inner)
            for folder in folders:
                others = (
                    folder.parent / "rgb-zh-pool"
                    if folder.name.endswith("zh")
                    else folder.parent / "cranfield"
                )
                strangers = _corpus(others)[:_PASSAGES]
                print(await _measure(folder, strangers, limit, embedder), flush=True)


if __name__ == "__main__":
    shared = Path(__file__).parents[3] / "shared" / "data"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folders",
        nargs="*",
        type=Path,
        default=[shared / f"xquad-{language}" for language in ("en", "es", "zh")],
    )
    parser.add_argument("--questions", type=int, default=400, help="about so many of each set")
    arguments = parser.parse_args()
    asyncio.run(_main(arguments.folders, arguments.questions))
