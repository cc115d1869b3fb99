from __future__ import annotations

import pytest

from rag_engine.evidence.answer_kinds import asked_kind, holds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did the ship leave?", "date"),
        ("In welchem Jahr wurde sie gebaut?", "date"),
        ("¿Cuántos habitantes tiene?", "number"),
        ("这座桥有多少米？", "number"),
        ("Who wrote the handbook?", "person"),
        ("Why is the sky blue?", ""),
    ],
)
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert asked_kind(question) == kind


@pytest.mark.parametrize(
    ("kind", "passage", "question", "held"),
    [
        ("date", "It left on 3 May.", "When did it leave?", True),
        ("date", "It left in 1912.", "When in 1912 did it leave?", False),
        ("number", "There are twelve.", "How many?", True),
        ("number", "There are some.", "How many?", False),
        ("person", "Written by Ada Lovelace.", "Who wrote it?", True),
        ("person", "it was written by somebody.", "Who wrote it?", False),
        ("", "Anything.", "Why?", True),
    ],
)
def test_what_the_question_says_itself_is_no_answer(
    kind: str, passage: str, question: str, held: bool
) -> None:
    assert holds(kind, passage, question) is held  # pyright: ignore[reportArgumentType]
