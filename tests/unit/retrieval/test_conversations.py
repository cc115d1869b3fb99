"""Sixty follow-ups in four languages, over the real index and embedder, with and without a language model."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from rag_engine import pipeline
from rag_engine.embedders import local
from rag_engine.indexes import embedded
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.steps import fuse, retrieve, understand
from rag_engine.text import analyzer
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Query
from tests.conftest import PROJECT
from tests.unit.prompting import conversation

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.ports import Embedder, Index, LanguageModel

pytestmark = pytest.mark.process
"""The embedder builds its model in a process of its own."""

SET = tomllib.loads((PROJECT / "tests" / "data" / "conversations.toml").read_text(encoding="utf-8"))
LANGUAGES = tuple(SET)
GROUPS = ("fitting", "held_out")
BEST = 3
"""A passage is found if it is among so many, of 27."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    language: str
    said: tuple[str, ...]
    asked: str
    meant: str
    passage: str


def follow_ups(group: str) -> list[FollowUp]:
    return [
        FollowUp(**{**each, "said": tuple(each["said"])}, language=language)
        for language in LANGUAGES
        for each in SET[language][group]["conversations"]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    index: Index
    embedder: Embedder

    async def rank(self, follow_up: FollowUp, model: LanguageModel | None) -> tuple[int, Inquiry]:
        """The rank of the right passage; 0 if it is not found."""
        base = KnowledgeBaseId(follow_up.language)
        query = Query(text=follow_up.asked, knowledge_bases=frozenset({base}))
        inquiry = Inquiry(query=query, question=query.text, history=conversation(*follow_up.said))
        ports = Ports(embedder=self.embedder, index=self.index, model=model)
        steps = [
            NamedStep(name=module.__name__, run=module.build(module.Settings(), ports))
            for module in (understand, retrieve, fuse)
        ]
        async for item in pipeline.run(inquiry, steps):
            if isinstance(item, Inquiry):
                inquiry = item
        wanted = ChunkId(f"{follow_up.language}-{follow_up.passage}")
        return next((hit.rank for hit in inquiry.hits if hit.chunk.id == wanted), 0), inquiry


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Library]:
    folder = tmp_path_factory.mktemp("conversations")
    async with local.connect(local.Settings(), data_dir=model_folder) as embedder:
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        async with embedded.connect(embedded.Settings(), data_dir=folder, identity=identity) as index:
            for language in LANGUAGES:
                await _fill(index, embedder, language)
            yield Library(index=index, embedder=embedder)


async def _fill(index: Index, embedder: Embedder, language: str) -> None:
    base, title = KnowledgeBaseId(language), "handbook"
    document = Document(
        id=DocumentId(language), knowledge_base=base, title=title, uri="", media_type="", digest=language
    )
    chunks = [
        Chunk(
            id=ChunkId(f"{language}-{name}"),
            document=document.id,
            knowledge_base=base,
            ordinal=number,
            text=text,
            language=language,
        )
        for number, (name, text) in enumerate(SET[language]["passages"].items())
    ]
    vectors = await embedder.embed([chunk.text for chunk in chunks], side="passage")
    await index.put(document, list(zip(chunks, vectors, strict=True)))


def _found(ranks: Sequence[int]) -> float:
    return sum(0 < rank <= BEST for rank in ranks) / len(ranks)


def rewriter(asked: Sequence[FollowUp]) -> ScriptedModel:
    """A model that completes each question rightly."""
    return ScriptedModel(
        [
            ScriptedLine(
                pieces=(json.dumps({"route": "search", "question": each.meant}),),
                pattern=rf"{re.escape(each.said[-2])}[\s\S]*Message:\n{re.escape(each.asked)}\Z",
            )
            for each in asked
        ]
    )


def test_the_set_has_sixty_follow_ups_in_four_languages() -> None:
    asked = [*follow_ups("fitting"), *follow_ups("held_out")]
    assert len(asked) == 60
    assert {each.language for each in asked} == {"en", "de", "es", "zh"}
    assert all(each.passage in SET[each.language]["passages"] for each in asked)


@pytest.mark.asyncio(loop_scope="module")
async def test_without_a_model_most_follow_ups_find_their_passage(shelf: Library) -> None:
    for group in GROUPS:
        asked = follow_ups(group)
        ranks = [(await shelf.rank(each, None))[0] for each in asked]
        for language in LANGUAGES:
            own = [rank for each, rank in zip(asked, ranks, strict=True) if each.language == language]
            assert _found(own) >= 0.7, (group, language, own)
        assert ranks.count(1) / len(ranks) >= 0.7, (group, ranks)


@pytest.mark.asyncio(loop_scope="module")
async def test_every_follow_up_reaches_the_model_and_finds_its_passage(shelf: Library) -> None:
    for group in GROUPS:
        asked = follow_ups(group)
        model = rewriter(asked)
        found = [await shelf.rank(each, model) for each in asked]
        assert [inquiry.details.get("understood_by") for _, inquiry in found] == ["model"] * len(asked)
        assert len(model.prompts) == len(asked)
        ranks = [rank for rank, _ in found]
        assert _found(ranks) == 1, (group, ranks)
        assert ranks.count(1) / len(ranks) >= 0.9, (group, ranks)
