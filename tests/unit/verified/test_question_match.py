"""The sets of `benchmarks/answers/verified_questions.toml` by the local embedder, and what no vector decides."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import local
from rag_engine.metadata.verified_answer import VerifiedAnswer, Verifier
from rag_engine.types import DocumentId, KnowledgeBaseId
from rag_engine.verified.best_match import QuestionMatcher
from rag_engine.verified.question_match import differences, spelled_out

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

FILE = Path(__file__).parents[3] / "benchmarks" / "answers" / "verified_questions.toml"
SETS = tomllib.loads(FILE.read_text(encoding="utf-8"))
ENTRIES = [*SETS["entry"], *SETS["later"]]
GERMANY = "How many vacation days do employees in Germany get?"


def answer(number: int, question: str) -> VerifiedAnswer:
    return VerifiedAnswer(
        id=DocumentId(str(number)),
        knowledge_base=KnowledgeBaseId("k"),
        question=question,
        answer="",
        author=Verifier(name="Ann"),
        written_at=0,
    )


ANSWERS = [answer(number, entry["question"]) for number, entry in enumerate(ENTRIES)]


@pytest.fixture
async def matcher(model_folder: Path) -> AsyncGenerator[QuestionMatcher]:
    async def contrast() -> float:
        return 1.0

    async with local.connect(local.Settings(), data_dir=model_folder) as embedder:
        yield QuestionMatcher(embedder=embedder, contrast=contrast)


@pytest.mark.process
async def test_paraphrases_find_their_answer_and_near_misses_none(matcher: QuestionMatcher) -> None:
    found = [await matcher.compare((entry["paraphrase"],), ANSWERS) for entry in ENTRIES]
    right = [number for number, each in enumerate(found) if each.best is ANSWERS[number]]
    wrong = [number for number, each in enumerate(found) if each.best not in (None, ANSWERS[number])]
    assert len([number for number in right if number < 40]) >= 38, right
    assert wrong == []
    taken = [
        entry["near_miss"]
        for entry in ENTRIES
        if (await matcher.compare((entry["near_miss"],), ANSWERS)).best is not None
    ]
    assert taken == []


@pytest.mark.parametrize(
    ("asked", "verified"),
    [
        ("How many vacation days do employees in france get", GERMANY),
        ("How many vacation days do employees in Germany get in 2025?", GERMANY),
        ("How many vacation days do employees in Germany not get?", GERMANY),
        ("What was the budget in 2023?", "What was the budget in 2024?"),
        ("When is the deadline in May?", "When is the deadline in June?"),
        ("May I use my work phone for private mail?", "May I use my private phone for work mail?"),
        ("How do I disable sign-on?", "How do I enable sign-on?"),
        ("Is it open on Saturdays?", "Is it open on Fridays?"),
        ("What does E4021 mean?", "What does E4012 mean?"),
        ("Who cleans the third floor?", "Who cleans the second floor?"),
        ("Wie viele Tage haben wir nicht frei?", "Wie viele Tage haben wir frei?"),
    ],
)
def test_figures_names_negation_and_opposites_must_agree(asked: str, verified: str) -> None:
    assert differences(asked, verified) is None


def test_the_same_words_need_no_vector() -> None:
    found = differences(GERMANY.lower().rstrip("?"), GERMANY)
    assert found is not None
    assert found.same_words


def test_initials_are_spelled_out() -> None:
    written = spelled_out("How do I switch on SSO?", "How do we enable single sign-on for a customer?")
    assert written == "How do I switch on single sign-on?"
