"""A verified answer is first for its question, and names it when it was asked in other words."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.answer_events import Delta
from rag_engine.metadata.verified_answer import VerifiedAnswer, Verifier
from rag_engine.steps.verified import put_first
from rag_engine.types import DocumentId
from rag_engine.verified.best_match import QuestionMatcher
from rag_engine.verified.reply import verified_events
from tests.unit.steps.shelf import BASE, Shelf

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.types import Matrix, Side

QUESTION = "What was said?"
ANSWER = VerifiedAnswer(
    id=DocumentId("saved"),
    knowledge_base=BASE,
    question=QUESTION,
    answer="Nothing.",
    author=Verifier(name="Ada"),
    written_at=0.0,
)


class Answers:
    async def read(self, knowledge_bases: Collection[str]) -> Sequence[VerifiedAnswer]:
        return [ANSWER]


class OneVector:
    model, dimensions, max_tokens = "one", 1, 256

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        return np.ones((len(texts), 1), dtype=np.float32)


async def _contrast() -> float:
    return 1.0


async def _asked(question: str, *, has_model: bool = False) -> Inquiry:
    shelf = Shelf(saved=1, minutes=1)
    inquiry = shelf.inquiry(("minutes", 0), ("saved", 0), question=question)
    matcher = QuestionMatcher(embedder=OneVector(), contrast=_contrast)
    return await put_first(inquiry, answers=Answers(), contents=shelf, matcher=matcher, has_model=has_model)


async def _said(inquiry: Inquiry) -> str:
    assert inquiry.verified is not None
    async with aclosing(verified_events(inquiry.verified, inquiry, language="en")) as events:
        return "".join([event.text async for event in events if isinstance(event, Delta)])


async def test_the_same_words_get_the_answer_alone() -> None:
    inquiry = await _asked("what was said")
    assert inquiry.hits[0].chunk.document == "saved"
    assert await _said(inquiry) == "Nothing. [1]"


async def test_other_words_get_the_question_too() -> None:
    assert await _said(await _asked("And what was said?")) == f"Answer to “{QUESTION}”:\n\nNothing. [1]"


@pytest.mark.parametrize(("has_model", "kept"), [(False, ["minutes"]), (True, ["minutes", "saved"])])
async def test_an_answer_to_another_question_is_not_quoted(has_model: bool, kept: list[str]) -> None:
    inquiry = await _asked("How long is the notice period for tenants?", has_model=has_model)
    assert inquiry.verified is None
    found = [hit.chunk.document for hit in inquiry.hits]
    assert found == kept
