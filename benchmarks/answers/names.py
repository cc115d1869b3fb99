"""Misspelt names and codes, and parts of them: how often their passage is among the first three.

python -m benchmarks.answers.names [--list]

Each sentence of `tests/answers/names.toml` lies in the middle of a paragraph of XQuAD in English, among its other paragraphs.
Searched by words and meaning, with and without the list of similar names.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.answers.evidence_sets import BASE, judged_set
from bot import settings
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.retrieval.queries.query_variants import QueryVariant
from rag_engine.retrieval.ranking.language_familiarity import word_check
from rag_engine.steps import fuse, retrieve
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.sentences import split_sentences
from rag_engine.types import DocumentId, Query, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.composition.laboratory import EvaluationComponents
    from rag_engine.steps.fuse import LegTrust
    from rag_engine.types import Document

_NAMES: Final = Path(__file__).parents[2] / "tests" / "answers" / "names.toml"
_ASKED: Final = "What do our files say about {}?"
_FIRST: Final = 3


async def _fill(laboratory: EvaluationComponents, passages: Sequence[str]) -> None:
    documents = (await judged_set("xquad-en")).documents
    held = [
        _with_sentence(of, sections, number, said)
        for number, ((of, sections), said) in enumerate(zip(documents, passages, strict=False))
    ]
    for document, sections in [*held, *documents[len(held) :]]:
        chunks = list(laboratory.splitter(document, sections))
        vectors = await laboratory.embedder.embed(list(map(searchable_text, chunks)), side="passage")
        await laboratory.index.put(document, list(zip(chunks, vectors, strict=True)))


def _with_sentence(
    document: Document, sections: Sequence[Section], number: int, said: str
) -> tuple[Document, Sequence[Section]]:
    sentences = split_sentences(sections[0].text)
    middle = len(sentences) // 2
    text = " ".join([*sentences[:middle], said, *sentences[middle:]])
    return replace(document, id=DocumentId(f"name{number}")), [Section(text=text)]


async def _ranks(
    question: str, laboratory: EvaluationComponents, trust: LegTrust
) -> tuple[list[str], list[str]]:
    """Documents found without and with the list of similar names."""
    found = await retrieve.search_variants(
        [QueryVariant(text=question, weight=1.0)],
        Query(text=question, knowledge_bases=frozenset({BASE})),
        embedder=laboratory.embedder,
        index=laboratory.index,
        settings=retrieve.Settings(),
        is_word=word_check(laboratory.embedder.count_tokens),
    )
    usual = [each for each in found.rankings if each.expansion != "letters"]
    both: list[list[str]] = []
    for rankings in (usual, found.rankings):
        fused = await fuse.fuse_rankings(question, rankings, judge=trust, settings=fuse.Settings(), limit=50)
        both.append([hit.chunk.document for hit in fused.hits])
    return both[0], both[1]


async def main() -> None:
    rows = tomllib.loads(_NAMES.read_text(encoding="utf-8"))["names"]
    with tempfile.TemporaryDirectory() as folder:
        async with retrieval_laboratory(settings.read(), Path(folder)) as laboratory:
            await _fill(laboratory, [row["passage"] for row in rows])
            trust = fuse.judge_of(laboratory.embedder)
            without = with_names = 0
            for number, row in enumerate(rows):
                before, after = await _ranks(_ASKED.format(row["typed"]), laboratory, trust)
                place = f"name{number}"
                without += place in before[:_FIRST]
                with_names += place in after[:_FIRST]
                if "--list" in sys.argv:
                    ranks = [found.index(place) + 1 if place in found else 0 for found in (before, after)]
                    print(*ranks, row["kind"], _ASKED.format(row["typed"]))
    print(f"of {len(rows)}: {without} without, {with_names} with similar names; {time.process_time():.0f} s")


if __name__ == "__main__":
    asyncio.run(main())
