"""Over the real splitter and the real index, with vectors that need no model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import EmbedderUnavailable, UserError
from rag_engine.evaluation.evaluate import Evaluation, evaluate
from rag_engine.evaluation.metrics import MEASURES
from rag_engine.indexes import embedded
from rag_engine.ports import IndexIdentity
from rag_engine.splitters import structure
from rag_engine.text import analyzer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rag_engine.ports import Embedder
    from rag_engine.types import Matrix, Side

_TOPICS = (
    "leave",
    "printer",
    "canteen",
    "parking",
    "security",
    "travel",
    "laptop",
    "salary",
    "badge",
    "meeting",
)


def _folder(path: Path, *, sentences: int = 3) -> Path:
    """Ten documents on one topic each, asked for by its word and by a word at the document's end."""
    path.mkdir(exist_ok=True)
    rows = [
        {
            "id": topic,
            "title": f"About the {topic}",
            "text": " ".join(
                f"Rule {number} of the house is about the {topic}." for number in range(sentences)
            )
            + f" Last word: {topic}zebra.",
        }
        for topic in _TOPICS
    ]
    rows += [
        {"id": "title only", "title": "Telephone", "text": ""},
        {"id": "empty", "title": "", "text": " "},
    ]
    queries = [
        {"id": f"{topic}{number}", "text": text}
        for topic in _TOPICS
        for number, text in enumerate((f"{topic} rule", f"{topic}zebra"))
    ]
    queries += [{"id": "phone", "text": "telephone"}, {"id": "unjudged", "text": "weather"}]
    qrels = [f"{topic}{number}\t{topic}\t1" for topic in _TOPICS for number in (0, 1)] + [
        "phone\ttitle only\t1"
    ]
    (path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    (path / "qrels.tsv").write_text("\n".join(qrels), encoding="utf-8")
    return path


async def _evaluate(
    folder: Path,
    data_dir: Path,
    *,
    progress: Callable[[str, int, int], None] | None = None,
    wrap: Callable[[Embedder], Embedder] = lambda embedder: embedder,
) -> Evaluation:
    async with hashing.connect(hashing.Settings(), data_dir=data_dir) as made:
        embedder = wrap(made)
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        splitter = structure.build(
            structure.Settings(maximum_tokens=64),
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
        )
        async with embedded.connect(embedded.Settings(), data_dir=data_dir, identity=identity) as index:
            return await evaluate(
                folder, embedder=embedder, index=index, splitter=splitter, progress=progress
            )


async def test_every_leg_is_measured(tmp_path: Path) -> None:
    measured = await _evaluate(_folder(tmp_path / "set"), tmp_path)

    assert (measured.documents, measured.chunks, measured.queries) == (12, 11, 21)
    assert measured.lexical["ndcg@10"] == 1.0
    assert measured.hybrid["ndcg@10"] == 1.0
    assert measured.hybrid["recall@100"] == 1.0
    assert 0.5 < measured.dense["ndcg@10"] <= 1.0


@pytest.mark.slow
async def test_a_long_document_counts_once_at_its_best_chunk(tmp_path: Path) -> None:
    measured = await _evaluate(_folder(tmp_path / "set", sentences=120), tmp_path)

    assert measured.chunks > 10 * len(_TOPICS)
    assert measured.lexical["mrr@10"] > 0.9
    assert (
        measured.lexical["recall@100"] == measured.dense["recall@100"] == measured.hybrid["recall@100"] == 1.0
    )


async def test_the_json_is_what_people_depend_on(tmp_path: Path) -> None:
    values = json.loads(json.dumps((await _evaluate(_folder(tmp_path / "set"), tmp_path)).as_json()))

    assert list(values) == ["documents", "chunks", "queries", "seconds", "lexical", "dense", "hybrid"]
    assert list(values["hybrid"]) == list(MEASURES) == ["ndcg@10", "recall@10", "recall@100", "mrr@10"]
    assert values["seconds"] > 0


async def test_progress_is_reported_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []

    await _evaluate(_folder(tmp_path / "set"), tmp_path, progress=lambda *news: told.append(news))

    assert ("indexing", 12, 12) in told
    assert told[-1] == ("asking", 21, 21)


async def test_a_folder_that_cannot_be_read_is_reported_before_anything_is_indexed(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "set")
    (folder / "qrels.tsv").unlink()

    with pytest.raises(UserError, match=r"qrels\.tsv"):
        await _evaluate(folder, tmp_path)


async def test_an_embedder_that_fails_ends_it_with_its_own_error(tmp_path: Path) -> None:
    class Failing:
        def __init__(self, embedder: Embedder) -> None:
            self.model, self.dimensions, self.max_tokens = (
                embedder.model,
                embedder.dimensions,
                embedder.max_tokens,
            )
            self.count_tokens = embedder.count_tokens

        async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
            raise EmbedderUnavailable

    with pytest.raises(EmbedderUnavailable):
        await _evaluate(_folder(tmp_path / "set"), tmp_path, wrap=Failing)
