"""Files that give different figures for the same thing, without a language model."""

from __future__ import annotations

import pytest

from rag_engine.models.extractive.candidates import candidates, quotable
from rag_engine.models.extractive.contradictions import newest_first
from rag_engine.models.extractive.sentence_scores import Scored
from rag_engine.text.analyzer import tokens
from tests.unit.prompting import passage


def compared(*texts: str, titles: tuple[str, ...] = (), language: str = "en") -> tuple[list[str], str]:
    hits = [
        passage(text, rank=rank, title=title, language=language)
        for rank, (text, title) in enumerate(zip(texts, titles or ("a.md", "b.md", "c.md"), strict=False), 1)
    ]
    chunks = [hit.chunk for hit in hits]
    found = quotable([candidates(index, chunk) for index, chunk in enumerate(chunks)], chunks)
    chosen = [
        Scored(candidate=each, score=1.0, tokens=frozenset(tokens(each.text, language=language)))
        for each in found
    ]
    dates = {chunk.document: date for chunk, date in zip(chunks, ("2023-05-01", "2025-05-01"), strict=False)}
    ordered, difference = newest_first(chosen, hits, dates)
    return [item.candidate.text for item in ordered], difference


@pytest.mark.parametrize(
    ("language", "older", "newer"),
    [
        ("en", "Employees get 25 days of annual leave.", "Employees get 30 days of annual leave."),
        ("en", "The hotel limit is 120 EUR per night.", "The hotel limit per night is 150 EUR."),
        ("en", "Reports are due within three days.", "Reports are due within five days."),
        ("de", "Die Kündigungsfrist beträgt vier Wochen.", "Die Kündigungsfrist beträgt sechs Wochen."),
        ("es", "El límite por noche es de 120 euros.", "El límite por noche es de 150 euros."),
        ("zh", "员工每年有二十天年假。", "员工每年有二十五天年假。"),
    ],
)
def test_the_newer_of_two_figures_comes_first(language: str, older: str, newer: str) -> None:
    assert compared(older, newer, language=language) == ([newer, older], "differ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Team 1: 3 days of training.", "Team 2: 5 days of training."),
        ("Employees in Berlin get 25 days of leave.", "Employees in Munich get 30 days of leave."),
        ("In 2023 the limit was 120 EUR.", "In 2025 the limit was 120 EUR."),
        ("Employees get 25 days of leave.", "Employees get 25 days of leave each year."),
        ("Employees get 25 days of annual leave.", "The canteen closes at 14 o'clock on Fridays."),
    ],
)
def test_figures_of_different_things_are_no_difference(one: str, other: str) -> None:
    assert compared(one, other) == ([one, other], "")


def test_a_year_of_the_title_dates_a_file_before_its_properties() -> None:
    older, newer = "Employees get 25 days of leave.", "Employees get 30 days of leave."
    assert compared(newer, older, titles=("policy 2026.md", "policy 2024.md")) == ([newer, older], "differ")


def test_without_dates_the_order_stays() -> None:
    texts = ("Employees get 25 days of leave.", "Notes on parking.", "Employees get 30 days of leave.")
    assert compared(*texts) == (list(texts), "differ_undated")


def test_sentences_of_one_file_are_not_compared() -> None:
    text = "Employees get 25 days of leave. Employees get 30 days of leave."
    assert compared(text)[1] == ""
