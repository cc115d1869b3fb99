"""Quotes are literal, short, and of the right sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.citations.quotes import LONGEST_QUOTE, quotes
from tests.unit.citations.passages import hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk

HANDBOOK = (
    "Welcome to the company. The notice period is four weeks to the end of a month. It can be extended by contract up to three months. "
    "Holidays are 30 days a year. Dr. Miller approves them by e-mail at least 2 weeks ahead."
)


def quote(chunk: Chunk, claims: Sequence[str]) -> str:
    (only,) = quotes(chunk, claims)
    return only.text


HANDBOOK_CHUNK = hit(HANDBOOK).chunk


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


TABLE = hit("Kind | Days\nFull time | 30\nPart time | 15\nStudents | 12", kind="table").chunk


@pytest.mark.parametrize("claim", ["Part time staff get 15 days.", "Kind: Part time; Days: 15", "15 days."])
def test_a_table_gives_its_row_under_the_header(claim: str) -> None:
    assert quote(TABLE, [claim]) == "Kind | Days\nPart time | 15"


def test_each_claim_and_each_fact_of_a_claim_has_its_quote() -> None:
    said = [
        found.text for found in quotes(TABLE, ["Full time staff get 30 days, students 12.", "Part time: 15"])
    ]
    assert said == [
        "Kind | Days\nFull time | 30",
        "Kind | Days\nStudents | 12",
        "Kind | Days\nPart time | 15",
    ]
    texts = [
        found.text
        for found in quotes(HANDBOOK_CHUNK, ["There are 30 days of holidays.", "Four weeks' notice."])
    ]
    assert texts == ["Holidays are 30 days a year.", "The notice period is four weeks to the end of a month."]


def test_what_is_said_word_for_word_is_quoted_whole() -> None:
    said = "Bring the passport, " + "the form of the office with its stamp, " * 10 + "and the photo."
    chunk = hit(f"Before you come, read this. {said} Then wait.").chunk
    assert quote(chunk, [said]) == said
    code = hit(
        "import os\n\n\ndef port() -> int:\n    return 8080\n\n\ndef host() -> str:\n    return 'a'",
        kind="code",
    )
    assert quote(code.chunk, ["def port() -> int:\n    return 8080"]) == "def port() -> int:\n    return 8080"


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
    assert all(found.text in text for found in quotes(hit(text).chunk, ["Anything."]))


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
    found = quotes(hit(text, kind="table" if kind == "table" else "prose", language="").chunk, claims)
    assert bool(found) == bool(text.strip())
    for each in found:
        assert each.text
        assert len(each.text) <= LONGEST_QUOTE
        assert each.text in text or (kind == "table" and all(line in text for line in each.text.split("\n")))
