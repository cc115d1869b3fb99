"""Questions in Chinese and Spanish about English files of XQuAD, over the real index and embedder."""

from __future__ import annotations

import json
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from rag_engine import pipeline
from rag_engine.embedders import local
from rag_engine.evaluation.dataset import read_corpus, read_judgements
from rag_engine.indexes import embedded
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.steps import fuse, retrieve, understand
from rag_engine.text import analyzer
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Query
from tests.conftest import SHARED

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import LanguageModel

XQUAD = SHARED / "data"
BASE = KnowledgeBaseId("xquad")
PASSAGES, QUESTIONS = 80, 40
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not (XQUAD / "xquad-en").is_dir(), reason="../shared/data is absent"),
]


def _translator(translations: dict[str, str]) -> ScriptedModel:
    return ScriptedModel(
        [
            ScriptedLine(
                pieces=(json.dumps({"question": asked, "translations": {"en": english}}),),
                pattern=_end(asked),
            )
            for asked, english in translations.items()
        ]
    )


def _end(text: str) -> str:
    return rf"(?s)Message:\n{''.join(each if each.isalnum() else '.' for each in text)}\Z"


async def test_a_translated_question_finds_as_much_as_one_in_the_language_of_the_files(
    tmp_path: Path, model_folder: Path
) -> None:
    sets = {code: read_judgements(XQUAD / f"xquad-{code}") for code in ("en", "es", "zh")}
    rows = list(islice(read_corpus(XQUAD / "xquad-en"), PASSAGES))
    known = {row.id for row in rows}
    judged = {
        question: next(iter(grades))
        for question, grades in sets["en"].grades.items()
        if known & grades.keys()
    }
    asked = list(judged)[:: max(len(judged) // QUESTIONS, 1)][:QUESTIONS]
    async with local.connect(local.Settings(), data_dir=model_folder) as embedder:
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        async with embedded.connect(embedded.Settings(), data_dir=tmp_path, identity=identity) as index:
            document = Document(
                id=DocumentId("d"), knowledge_base=BASE, title="", uri="", media_type="", digest="d"
            )
            chunks = [
                Chunk(
                    id=ChunkId(row.id),
                    document=document.id,
                    knowledge_base=BASE,
                    ordinal=number,
                    text=row.text,
                    language="en",
                )
                for number, row in enumerate(rows)
            ]
            vectors = await embedder.embed([chunk.text for chunk in chunks], side="passage")
            await index.put(document, list(zip(chunks, vectors, strict=True)))

            async def found(code: str, *, translates: bool) -> float:
                texts = {question: sets[code].questions[question] for question in asked}
                english = {texts[question]: sets["en"].questions[question] for question in asked}
                model: LanguageModel | None = _translator(english) if translates else None
                ports = Ports(embedder=embedder, index=index, model=model)
                settings = understand.Settings(languages=("en",))
                steps = [
                    NamedStep(name="understand", run=understand.build(settings, ports)),
                    NamedStep(name="retrieve", run=retrieve.build(retrieve.Settings(), ports)),
                    NamedStep(name="fuse", run=fuse.build(fuse.Settings(), ports)),
                ]
                first = 0
                for question, text in texts.items():
                    inquiry = Inquiry(
                        query=Query(text=text, knowledge_bases=frozenset({BASE})), question=text
                    )
                    async with aclosing(pipeline.run(inquiry, steps)) as items:
                        async for item in items:
                            inquiry = item if isinstance(item, Inquiry) else inquiry
                    first += bool(inquiry.hits) and inquiry.hits[0].chunk.id == judged[question]
                return first / len(asked)

            alike = await found("en", translates=False)
            for code, most in (("zh", 0.5), ("es", 0.9)):
                assert await found(code, translates=False) < most
                assert await found(code, translates=True) >= 0.95 * alike
