from __future__ import annotations

from rag_engine.retrieval.ranking.coverage import best_coverage, coverage
from tests.doubles.rankings import chunk


def test_every_word_in_another_form_covers_the_question() -> None:
    assert coverage("leaves of employees", chunk("a", text="an employee's leave", language="en")) == 1.0


def test_half_of_the_words() -> None:
    assert coverage("parental leave", chunk("a", text="annual leave", language="en")) == 0.5


def test_the_title_counts() -> None:
    assert (
        coverage("parental leave", chunk("a", text="see below", title="Parental leave", language="en")) == 1.0
    )


def test_a_question_in_another_language_is_not_covered() -> None:
    assert coverage("¿Cuántos días de vacaciones?", chunk("a", text="Everybody has thirty days off.")) < 0.2


def test_characters_count_where_there_are_no_words() -> None:
    assert coverage("多少天假", chunk("a", text="可以休多少天假", language="zh")) == 1.0


def test_a_question_without_words_is_not_covered() -> None:
    assert coverage("?!", chunk("a", text="anything")) == 0.0


def test_the_best_of_several_passages() -> None:
    passages = [
        chunk("a", text="annual leave"),
        chunk("b", text="parental leave"),
        chunk("c", text="nothing"),
    ]

    assert best_coverage("parental leave", passages) == 1.0
    assert best_coverage("parental leave", []) == 0.0
