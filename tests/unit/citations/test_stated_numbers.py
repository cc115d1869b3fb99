"""Which numbers are equal, and which are missing."""

from __future__ import annotations

import time

import pytest

from rag_engine.citations.stated_numbers import figures, missing


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("It costs 1,000 euros.", "The price is 1000 euros."),
        ("It costs 1000 euros.", "The price is 1,000 euros."),
        ("Es kostet 1.000 Euro.", "Der Preis ist 1000 Euro."),
        ("It costs 1000 euros.", "The price is 1 000 euros."),
        ("It is 3.5 m long.", "Es ist 3,5 m lang."),
        ("It holds 5 km.", "A range of 5km."),
        ("It is 20% more.", "20 % more"),
        ("On 1 May 2024.", "Date: 2024-05-01"),
        ("On 2024-05-01.", "On 1 May 2024"),
        ("On 2024-12-24.", "il 24 dicembre 2024"),
        ("It takes 4 weeks.", "It takes four weeks."),
        ("每年30天。", "每年30天假。"),
        ("一共３０天。", "一共30天。"),
        ("See AB-123.", "Form ab-123 applies."),
        ("The 14th floor.", "Floor 14."),
        ("1. It takes 4 weeks.", "4 weeks"),
        ("No number here.", ""),
        ("Apollo 1's crew.", "the flight Apollo 1"),
        ("From the 1980's.", "in the late 1980s"),
        ("By the 1700s.", "in the early 18th century"),
        ("Entre 1620 y 1621.", "en 1620-21"),
        ("En la 10.ª serie.", "la décima serie"),
        ("On the 3rd floor.", "the third floor"),
        ("1901年人口是711,988。", "1901年根据普查，711,988名居民"),
    ],
)
def test_the_same_number_in_another_way_of_writing(claim: str, passage: str) -> None:
    assert missing(claim, [passage]) == ()


@pytest.mark.parametrize(
    ("claim", "passage", "lacking"),
    [
        ("There are 10 boats.", "The boats are out.", ("10",)),
        ("It costs 1,000 euros.", "The price is 100 euros.", ("1,000",)),
        ("In 2024 and 2025.", "In 2024.", ("2025",)),
        ("See AB-123.", "Form AB-124.", ("AB-123",)),
        ("It is 3.5 m.", "It is 35 m.", ("3.5",)),
        ("每年31天。", "每年30天假。", ("31",)),
        ("It takes 9 weeks, 9 in all.", "It takes four weeks.", ("9",)),
        ("There are 3 floors.", "the third floor", ("3",)),
        ("On the 9th floor.", "the third floor", ("9th",)),
        ("By the 1600s.", "in the early 18th century", ("1600s",)),
        ("Until 1622.", "in 1620-21", ("1622",)),
        ("一共345人。", "2010，约三百人", ("345",)),
    ],
)
def test_what_is_missing(claim: str, passage: str, lacking: tuple[str, ...]) -> None:
    assert missing(claim, [passage]) == lacking


def test_numbers_may_come_from_several_passages() -> None:
    assert missing("From 1990 to 2000.", ["In 1990.", "In 2000."]) == ()


def test_figures_as_written() -> None:
    assert figures("2. Version v2.3 of 12:30 costs 1,234.50 by 2024-05-01.") == [
        "v2.3",
        "12:30",
        "1,234.50",
        "2024-05-01",
    ]


@pytest.mark.parametrize("unit", ["a", "a-", "a1", "1,", "1 000 ", "AB-12 ", "a_1", "1."])
def test_time_is_linear(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    started = time.process_time()
    missing(text, [text])
    assert time.process_time() - started < 1.0
