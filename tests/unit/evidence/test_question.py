"""Which words of a question count, and what a passage must have for them."""

from __future__ import annotations

import pytest

from rag_engine.evidence.question import terms
from rag_engine.text.language.months import months


def _texts(question: str, kind: str) -> list[str]:
    return [term.text for term in terms(question) if term.kind == kind]


def test_names_and_figures_are_distinguished_from_other_words() -> None:
    question = "What did Sales North spend on travel in March 2025?"

    assert _texts(question, "name") == ["Sales", "North"]
    assert _texts(question, "figure") == ["March", "2025"]
    assert _texts(question, "word") == ["spend", "travel"]


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Umsatz im März?", "Umsatz im Mar"),
        ("sales in March", "sales in marzo"),
        ("sales in March", "продажи 15 марта"),
    ],
)
def test_a_month_has_one_form_in_all_languages(question: str, other: str) -> None:
    months = {form for term in terms(question) for form in term.forms if form.startswith("\x00")}

    assert months == {"\x00month3"}
    assert months & {form for term in terms(other) for form in term.forms}


@pytest.mark.parametrize(
    ("text", "number"),
    [("в январе", 1), ("8 мая", 5), ("3월 매출", 3), ("2026년 12월", 12), ("3개월", 0), ("13월", 0)],
)
def test_months_are_known_in_russian_cases_and_in_korean(text: str, number: int) -> None:
    assert months(text) == ({number} if number else set())


def test_german_nouns_are_no_names() -> None:
    assert not _texts("Wann verfällt der Resturlaub in der Abteilung?", "name")


def test_words_that_only_ask_count_less_or_not_at_all() -> None:
    assert _texts("Was kostet ein Festmeter Fichte?", "light") == ["kostet"]
    assert terms("What is it?") == ()


@pytest.mark.parametrize(
    ("question", "words"),
    [("病假怎么请？", ["病"]), ("怎么请假？", ["请"]), ("如何申请签证？", ["申", "请", "签", "证"])],
)
def test_please_is_no_word_of_a_chinese_question(question: str, words: list[str]) -> None:
    assert _texts(question, "word") == words


def test_chinese_characters_are_found_with_either_neighbour() -> None:
    found = {term.text: term.forms for term in terms("香港回归")}

    assert found["港"] == {"香港", "港回"}


@pytest.mark.parametrize(
    ("question", "noun", "other"),
    [
        ("Welcher Herrscher kaufte ihre Aquarelle?", "Aquarelle", "kaufte"),
        ("Who purchased the paintings?", "paintings", "purchased"),
        ("¿Quién pintó las meninas?", "meninas", "pintó"),
    ],
)
def test_a_noun_counts_more_than_a_verb(question: str, noun: str, other: str) -> None:
    weights = {term.text: term.weight for term in terms(question)}

    assert weights[noun] > 1 > weights[other]


def test_german_without_capitals_and_other_languages_are_weighed_evenly() -> None:
    assert len({term.weight for term in terms("welcher verein kaufte die bilder der malerin?")}) == 1
    assert {term.weight for term in terms("谁买了油画？")} == {1.0}


def test_chinese_words_that_only_link_or_count_weigh_less() -> None:
    question = "自从华沙成为首都以来，每个人的收入是多少？"

    assert "".join(_texts(question, "light")) == "自从成为以来每个"
    assert "".join(_texts(question, "word")) == "华沙首都人收"


@pytest.mark.parametrize(
    ("question", "year"),
    [
        ("Who played the Doctor in the 70's?", "1974"),
        ("Which firms were founded in the 1950s?", "1951"),
        ("¿Qué serie debutó en los años 80?", "1983"),
        ("Was geschah in den 1920ern?", "1929"),
        ("20世纪80年代发生了什么？", "1987"),
    ],
)
def test_a_year_is_in_its_decade(question: str, year: str) -> None:
    assert any(year in term.forms for term in terms(question))


def test_a_round_number_is_no_decade() -> None:
    assert not any("1980" in term.forms for term in terms("Which road is 80 km long and has 80 bridges?"))


def test_a_chinese_verb_of_one_character_is_a_word_where_it_is_marked_as_done() -> None:
    (verb,) = (term for term in terms("笔记本电脑丢了") if term.text == "丢")
    (other,) = (term for term in terms("笔记本电脑") if term.text == "脑")

    assert (verb.parts, other.parts) == (frozenset("丢"), frozenset())


def test_german_words_that_ask_are_not_looked_for() -> None:
    assert [term.text for term in terms("Womit reinigt man den Rohsaft?")] == ["reinigt", "Rohsaft"]
