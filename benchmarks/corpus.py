"""Data for index benchmarks: synthetic chunks and the judged sets beside the project.

Synthetic vectors are clustered and of unit length; words follow Zipf's law with inflections; one document in five is Chinese.
Questions are noisy vectors plus three rare and two common words (six characters in Chinese).
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.embedders import local
from rag_engine.evaluation.dataset import read_corpus, read_judgements
from rag_engine.splitters import structure
from rag_engine.storage import vector_cache
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Section
from rag_engine.wrappers.cached_embedder import CachedEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from numpy.typing import NDArray

    from rag_engine.ports import Embedder, Splitter
    from rag_engine.types import Matrix

PROJECT = Path(__file__).parents[1]
SETS = PROJECT.parent / "shared" / "data"
DATA = PROJECT / ".footnote" / "benchmarks"
DIMENSIONS = 384
CHUNKS_PER_DOCUMENT = 8
KNOWLEDGE_BASES = 100
WORDS = 50_000
TOPICS = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    text: str
    vector: NDArray[np.float32]


class Corpus:
    """Documents generated on demand; deterministic by seed."""

    def __init__(self, seed: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        frequencies = 1 / np.arange(1, WORDS + 1) ** 1.07
        self._words = np.cumsum(frequencies / frequencies.sum())
        spectrum = 1 / np.arange(1, DIMENSIONS + 1) ** 0.2
        self._spectrum = spectrum.astype(np.float32)
        self._topics = self.random.standard_normal((TOPICS, DIMENSIONS)).astype(np.float32) * self._spectrum
        self.vectors: list[NDArray[np.float32]] = []
        self.bases: list[int] = []

    def document(self, number: int) -> tuple[Document, list[tuple[Chunk, NDArray[np.float32]]]]:
        base = KnowledgeBaseId(f"base{number % KNOWLEDGE_BASES}")
        identity = DocumentId(f"document{number}")
        document = Document(
            id=identity, knowledge_base=base, title="", uri="", media_type="text/plain", digest=""
        )
        topic = self._topics[self.random.integers(TOPICS)]
        chunks: list[tuple[Chunk, NDArray[np.float32]]] = []
        for ordinal in range(CHUNKS_PER_DOCUMENT):
            chunk = Chunk(
                id=ChunkId(f"{number}-{ordinal}"),
                document=identity,
                knowledge_base=base,
                ordinal=ordinal,
                text=self.chinese(150) if number % 5 == 0 else self.english(150),
                language="zh" if number % 5 == 0 else "en",
            )
            chunks.append((chunk, self.near(topic)))
            self.vectors.append(chunks[-1][1])
            self.bases.append(number % KNOWLEDGE_BASES)
        return document, chunks

    def near(self, topic: NDArray[np.float32], noise: float = 0.8) -> NDArray[np.float32]:
        vector = topic + noise * self._spectrum * self.random.standard_normal(DIMENSIONS).astype(np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def english(self, count: int) -> str:
        numbers = np.searchsorted(self._words, self.random.random(count))
        return " ".join(_word(int(number)) for number in numbers)

    def chinese(self, count: int) -> str:
        numbers = np.searchsorted(self._words, self.random.random(count))
        return "".join(chr(0x4E00 + int(number) % 4000) for number in numbers)

    def question(self, number: int) -> JudgedQuestion:
        near = self.vectors[int(self.random.integers(len(self.vectors)))]
        if number % 5 == 0:
            text = self.chinese(6)
        else:
            rarer, common = self.random.integers(200, 20_000, 3), self.random.integers(0, 30, 2)
            text = " ".join(_word(int(word)) for word in (*rarer, *common))
        return JudgedQuestion(text=text, vector=self.near(near * 4, noise=0.6))

    def rewrite(self, question: JudgedQuestion) -> JudgedQuestion:
        """With one rare and one common word (or two characters) replaced, at a cosine of about 0.85."""
        words = question.text.split()
        if len(words) == 1:
            text = question.text[:-2] + self.chinese(2)
        else:
            words[self.random.integers(3)] = _word(int(self.random.integers(200, 20_000)))
            words[3 + self.random.integers(2)] = _word(int(self.random.integers(0, 30)))
            text = " ".join(words)
        return JudgedQuestion(text=text, vector=self.near(question.vector * 4, noise=0.35))

    def translation(self, question: JudgedQuestion) -> JudgedQuestion:
        """In other words, at a cosine of about 0.4, as the default embedder sees the question in another language."""
        words = self.random.integers(200, 20_000, 3), self.random.integers(0, 30, 2)
        text = " ".join(_word(int(word)) for word in np.concatenate(words))
        return JudgedQuestion(text=text, vector=self.near(question.vector * 4, noise=1.3))


def _word(number: int) -> str:
    syllables = ("ka", "lo", "mi", "ren", "tu", "sor", "vel", "pon", "ga", "dri")
    stem = "".join(syllables[int(digit)] for digit in str(number // 2 + 10))
    return stem + ("s" if number % 2 else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChunks:
    """The chunks of all judged sets and questions about them, with vectors."""

    chunks: list[Chunk]
    vectors: Matrix
    questions: list[str]
    question_vectors: Matrix


async def judged_chunks(*, questions_per_set: int, sets: Path = SETS) -> JudgedChunks | None:
    """The judged sets, cut as ingestion cuts; empty if they are not on this machine.

    Vectors are cached in `.footnote/benchmarks`; the first run embeds some 18,000 passages in a few minutes.
    """
    folders = await asyncio.to_thread(_judged_folders, sets)
    if not folders:
        return None
    async with production_embedder() as (embedder, splitter):
        chunks = [chunk for folder in folders for chunk in _split(folder, splitter)]
        questions = [
            text
            for folder in folders
            for text in islice(read_judgements(folder).questions.values(), questions_per_set)
        ]
        return JudgedChunks(
            chunks=chunks,
            vectors=await embedder.embed([searchable_text(chunk) for chunk in chunks], side="passage"),
            questions=questions,
            question_vectors=await embedder.embed(questions, side="query"),
        )


def _judged_folders(sets: Path) -> list[Path]:
    return sorted(path.parent for path in sets.glob("*/qrels.tsv"))


@asynccontextmanager
async def production_embedder() -> AsyncGenerator[tuple[Embedder, Splitter]]:
    DATA.mkdir(parents=True, exist_ok=True)
    async with (
        local.connect(local.Settings(), data_dir=DATA) as embedder,
        vector_cache.connect(DATA / "vectors.sqlite") as cache,
    ):
        splitter = structure.build(
            structure.Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
        )
        yield CachedEmbedder(embedder, cache), splitter


def _split(folder: Path, splitter: Splitter) -> Iterator[Chunk]:
    for row in read_corpus(folder):
        text, title = (row.text, row.title) if row.text.strip() else (row.title, "")
        document = Document(
            id=DocumentId(f"{folder.name}/{row.id}"),
            knowledge_base=KnowledgeBaseId(folder.name),
            title=title,
            uri="",
            media_type="text/plain",
            digest="",
        )
        yield from splitter(document, [Section(text=text)] if text.strip() else [])
