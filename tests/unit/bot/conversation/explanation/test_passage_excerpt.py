from __future__ import annotations

from bot.conversation.explanation.passage_excerpt import excerpt, statements
from rag_engine.types import Section


def test_the_excerpt_begins_where_the_question_is_answered() -> None:
    sections = [
        Section(
            text="Ours is a harbour. The lamp is changed every nine months. Nobody looks.", anchor="p. 1"
        ),
        Section(text="Another page about lamps.", anchor="p. 2"),
    ]
    assert excerpt(sections, "p. 1", "How often is the lamp changed?") == (
        "… The lamp is changed every nine months. Nobody looks."
    )
    assert excerpt(sections, "p. 9", "lamp") == ""


def test_long_text_is_cut_between_words() -> None:
    text = excerpt([Section(text="word " * 200)], "", "x")
    assert len(text) <= 250
    assert text.endswith("word …")


def test_statements_are_those_that_cite_the_number() -> None:
    answer = "Four weeks in Berlin [1]. Six in London [2][1].\n- Ask Ada [12]."
    assert statements(answer, 1) == ["Four weeks in Berlin.", "Six in London."]
    assert statements(answer, 12) == ["- Ask Ada."]
    assert statements(answer, 3) == []
