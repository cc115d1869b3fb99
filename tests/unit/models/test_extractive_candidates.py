from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.models.extractive.candidates import candidates
from rag_engine.models.extractive.sentence_scores import question_terms
from tests.unit.prompting import passage


@given(
    st.lists(
        st.sampled_from(
            ["One two.", "- item", "You need:", "a | b", "c | d", "# Head", "\n", "中文。", "1. x"]
        ),
        max_size=15,
    )
)
def test_every_word_of_a_sentence_is_in_the_passage(lines: list[str]) -> None:
    hit = passage("\n".join(lines))
    for candidate in candidates(0, hit.chunk):
        assert candidate.text.strip()
        for word in re.findall(r"\w+", candidate.text):
            assert word in hit.chunk.text


def test_a_table_within_prose_is_read_by_rows() -> None:
    hit = passage("The prices:\n\nSize | Price\nsmall | 3\nlarge | 5\n\nAll with tax.")
    assert [candidate.text for candidate in candidates(0, hit.chunk)] == [
        "The prices:", "Size: small; Price: 3", "Size: large; Price: 5", "All with tax.",
    ]  # fmt: skip


def test_a_very_long_sentence_is_shortened_between_words() -> None:
    (only,) = candidates(0, passage("word " * 500).chunk)
    assert len(only.text) < 620
    assert only.text.endswith("word …")


def test_words_that_only_ask_are_no_terms() -> None:
    assert question_terms("What is the?") == ()
    assert question_terms("How long is the notice period?") == question_terms("notice period")
    assert question_terms("Wie lange dauert die Elternzeit?") == question_terms("Elternzeit")
    assert question_terms("¿Cuánto tiempo dura el permiso?") == question_terms("permiso")
    assert question_terms("Is a long notice possible?") != question_terms("Is a notice possible?")
    assert question_terms("这是什么？") == () or all(
        "什" not in "".join(term) for term in question_terms("这是什么？")
    )


def test_a_question_is_no_answer_but_what_follows_it_may_be() -> None:
    text = "What is the salary of an engineer? Which restaurant is best? How do I reset it? Open Locker."

    (found,) = candidates(0, passage(text).chunk)

    assert (found.text, found.context) == ("Open Locker.", "How do I reset it?")
