"""Which numbers, units, dates and names of a claim its sources do not hold."""

from __future__ import annotations

import time

import pytest

from rag_engine.citations.stated_facts import unheld


@pytest.mark.parametrize(
    ("language", "claim", "source"),
    [
        ("en", "The budget is 1.2 million euros.", "Budget: 1,200,000 EUR"),
        ("en", "The budget is €1,200,000.", "a budget of 1.2 million euros"),
        ("de", "Das Budget beträgt 1,2 Mio. Euro.", "Das Budget: 1.200.000 Euro"),
        ("zh", "预算是120万欧元。", "预算为1200000欧元。"),
        ("zh", "每年三十天。", "每年30天。"),
        ("en", "It opens at 11.30.", "It opens at 11:30."),
        ("de", "Am 3. März 2025.", "Datum: 2025-03-03"),
        ("en", "Growth was 12 percent in Q3.", "In the third quarter it grew by 12 %."),
        ("en", "There are three options.", "You can walk, cycle or drive."),
        ("en", "May I take leave? Yes.", "Leave is possible."),
        ("en", "Ask Maria Jensen's deputy.", "The deputy of Maria Jensen decides."),
        ("en", "Human Resources decides; HR keeps the form.", "human resources keep the form"),
        ("de", "Die Kündigung geht an die Abteilung Personal.", "An die Personalabteilung."),
        ("es", "Lo aprueba María Jensen.", "Aprobado por Maria Jensen."),
        ("en", "It rained in the 1970s.", "In 1974 it rained."),
        ("es", "Llovió en los años 70.", "Llovió en la década de 1970."),
        ("de", "Es regnete in den 70ern.", "Es regnete im Jahr 1974."),
        ("zh", "70年代下了雨。", "1974年下了雨。"),
        ("en", "It has Chinese-like gates.", "gates of a Chinese kind"),
    ],
)
def test_what_is_held_in_another_way_of_writing(language: str, claim: str, source: str) -> None:
    assert unheld(claim, [source], language=language) == ()


@pytest.mark.parametrize(
    ("language", "claim", "source", "words"),
    [
        ("en", "The budget is 2.1 million euros.", "a budget of 1.2 million euros", ("2.1",)),
        ("en", "Receipts within 30 weeks.", "Receipts within 30 days.", ("30",)),
        ("en", "It costs 50 dollars.", "It costs €50.", ("50",)),
        ("en", "You have six weeks.", "You have four weeks.", ("six",)),
        ("en", "It was ready in November.", "It was ready in September 2025.", ("November",)),
        ("en", "It grew in Q2.", "It grew in the third quarter.", ("Q2",)),
        ("en", "Thomas Keller decides.", "Maria Jensen decides.", ("Keller",)),
        ("en", "A new plant in Lisbon.", "A new plant in Lyon.", ("Lisbon",)),
        ("de", "Geleitet von Thomas Keller.", "Geleitet von Maria Jensen.", ("Thomas", "Keller")),
        ("de", "Frau Meier entscheidet.", "Frau Jensen entscheidet.", ("Meier",)),
        ("zh", "收据要在30周内提交。", "收据须在30天内提交。", ("30",)),
        ("zh", "先关闭V7阀门。", "请关闭V3阀门。", ("V7",)),
        ("zh", "在11月完成。", "于9月完成。", ("11", "11月")),
    ],
)
def test_what_is_not_held(language: str, claim: str, source: str, words: tuple[str, ...]) -> None:
    assert unheld(claim, [source], language=language) == words


@pytest.mark.parametrize(
    ("claim", "source", "words"),
    [
        ("The book is by Martin Luther.", "Luther wrote the book.", ()),
        ("The book is by Peter Luther.", "Luther wrote the book.", ("Peter",)),
        ("She studied at the University of Chicago.", "She studied in Chicago.", ()),
        ("She studied at the University of Boston.", "She studied in Boston.", ("University",)),
        ("The book is by Martin Luther.", "A monk wrote the book.", ("Martin", "Luther")),
    ],
)
def test_another_passage_may_complete_a_name(claim: str, source: str, words: tuple[str, ...]) -> None:
    beside = ["Martin Luther was a monk.", "The University of Chicago is old."]
    assert unheld(claim, [source], language="en", beside=beside) == words


def test_a_decade_is_not_the_next_one() -> None:
    assert unheld("It rained in the 1990s.", ["In 1983 it rained."], language="en") == ("1990s",)


def test_names_are_not_compared_across_languages() -> None:
    assert unheld("Das Werk in München.", ["The Munich plant."], language="de", names=False) == ()


@pytest.mark.parametrize(
    "unit", ["A b ", "Aa Aa ", "3 de ", "1 000 ", "三十天", "5 million ", "Q1 ", "May 1 "]
)
def test_time_is_linear(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    started = time.process_time()
    unheld(text, [text], language="en")
    assert time.process_time() - started < 2.0
