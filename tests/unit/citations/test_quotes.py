"""Quotes are literal, short, and of the right sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.citations.quotes import LONGEST_QUOTE, quote
from tests.unit.citations.passages import hit

HANDBOOK = (
    "Welcome to the company. The notice period is four weeks to the end of a month. It can be extended by contract up to three months. "
    "Holidays are 30 days a year. Dr. Miller approves them by e-mail at least 2 weeks ahead."
)


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("You must give four weeks' notice.", "The notice period is four weeks to the end of a month."),
        ("There are 30 days of holidays.", "Holidays are 30 days a year."),
        ("Dr. Miller approves holidays.", "Dr. Miller approves them by e-mail at least 2 weeks ahead."),
    ],
)
def test_the_sentence_that_says_it(claim: str, quoted: str) -> None:
    assert quoted in quote(hit(HANDBOOK).chunk, [claim])


def test_two_sentences_where_the_claim_takes_two() -> None:
    claim = "The notice period of four weeks can be extended by contract up to three months."
    assert quote(hit(HANDBOOK).chunk, [claim]) == (
        "The notice period is four weeks to the end of a month. It can be extended by contract up to three months."
    )


def test_a_table_gives_its_row() -> None:
    chunk = hit("Kind | Days\nFull time | 30\nPart time | 15\nStudents | 12", kind="table").chunk
    assert quote(chunk, ["Part time staff get 15 days."]) == "Part time | 15"


@pytest.mark.parametrize(
    ("text", "language", "claim", "quoted"),
    [
        (
            "年假为每年三十天。食堂十一点半开门。笔记本每三年更换。",
            "zh",
            "食堂几点开门？十一点半。",
            "食堂十一点半开门。",
        ),
        (
            "有給休暇は年に30日です。食堂は11時半に開きます。",
            "ja",
            "食堂は11時半に開く。",
            "食堂は11時半に開きます。",
        ),
        (
            "Die Kantine öffnet um 11.30 Uhr. Die Kündigungsfrist beträgt vier Wochen.",
            "de",
            "Vier Wochen beträgt die Frist für Kündigungen.",
            "Die Kündigungsfrist beträgt vier Wochen.",
        ),
        (
            "El comedor abre a las 11:30. Los portátiles se cambian cada tres años.",
            "es",
            "Cada tres años se cambia el portátil.",
            "Los portátiles se cambian cada tres años.",
        ),
        (
            "The canteen opens at 11:30. Laptops are replaced every 3 years.",
            "en",
            "笔记本每3年更换。",
            "Laptops are replaced every 3 years.",
        ),
    ],
)
def test_other_languages(text: str, language: str, claim: str, quoted: str) -> None:
    assert quote(hit(text, language=language).chunk, [claim]) == quoted


def test_a_long_sentence_is_cut_round_what_is_said() -> None:
    text = "word " * 200 + "the notice period is four weeks " + "more " * 200
    found = quote(hit(text).chunk, ["The notice period is four weeks."])
    assert "the notice period is four weeks" in found
    assert len(found) <= LONGEST_QUOTE
    assert found in text


@pytest.mark.parametrize("text", ["", " \n ", "…", "👍"])
def test_a_passage_without_words_gives_what_there_is(text: str) -> None:
    assert quote(hit(text).chunk, ["Anything."]) in text


@given(
    st.one_of(
        st.text(max_size=400),
        st.lists(st.sampled_from(["the period", "Four. ", "天", "。", "\n", " | ", "30 ", "x" * 90])).map(
            "".join
        ),
    ),
    st.lists(st.text(max_size=40), max_size=3),
    st.sampled_from(["prose", "table", "code", "list"]),
)
def test_a_quote_occurs_word_for_word(text: str, claims: list[str], kind: str) -> None:
    found = quote(hit(text, kind="table" if kind == "table" else "prose", language="").chunk, claims)
    assert found in text
    assert len(found) <= LONGEST_QUOTE
    assert bool(found) == bool(text.strip())
