from __future__ import annotations

import pytest

from rag_engine.follow_ups import is_fragment, leans_on_conversation


@pytest.mark.parametrize(
    "question",
    ["And in London?", "what about Python?", "Why?", "How long?", "Does it apply to contractors?", "Und für Teilzeit?", "Wie lange?",
     "¿Y en Madrid?", "那北京呢？", "为什么？", "それはいつですか", "How is it calculated?"],
)  # fmt: skip
def test_questions_that_need_the_conversation(question: str) -> None:
    assert leans_on_conversation(question)


@pytest.mark.parametrize(
    "question",
    ["Who wrote Hamlet?", "What is the notice period?", "Was ist Kubernetes?", "When is the office closed?",
     "How many vacation days do employees get?", "通知期是多久？", "¿Cuál es el plazo de preaviso?",
     "Which team won the cup that it lost in 2015, and who led it?", 'Which poet wrote "it is done" in a letter?'],
)  # fmt: skip
def test_questions_that_stand_alone(question: str) -> None:
    assert not leans_on_conversation(question)


def test_a_fragment_is_hardly_more_than_a_word() -> None:
    assert is_fragment("And the deadline?")
    assert not is_fragment("Does it apply to contractors?")
    assert is_fragment("")
