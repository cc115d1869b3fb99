"""Halves of months, years with a hyphen."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import memory_table

_FIRST = date(2025, 1, 1)
SHIFTS = memory_table(
    "shifts.csv",
    ("Date", "Employee", "Hours"),
    [((_FIRST + timedelta(days=day)).isoformat(), ("Tess", "Callum")[day % 2], 1) for day in range(120)],
)
SCHICHTEN = memory_table("schichten.csv", ("Datum", "Person", "Stunden"), SHIFTS.rows)
LOANS = memory_table(
    "loans.csv",
    ("Loan", "Borrowed", "Copies"),
    [(f"L{year}", f"{year}-05-03", 10 ** (year - 2019)) for year in range(2019, 2024)],
)
SEASONS = memory_table(
    "seasons.csv",
    ("Season", "Goals"),
    [("2019-2020", 70), ("2020-2021", 50), ("2021-2022", 65)],
)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("total hours in the first half of February 2025", 14),
        ("total hours in the second half of March 2025", 16),
        ("total hours in the first half of 2025", 120),
    ],
)
def test_half_of_a_month(question: str, shown: int) -> None:
    made = write(question, [SHIFTS.table])
    assert isinstance(made, WrittenQuery), made
    assert SHIFTS.run(made.sql) == [(shown,)]


def test_a_link_with_an_article_is_one_link() -> None:
    made = write("Wie viele Stunden seit dem 1. April 2025?", [SCHICHTEN.table])
    assert isinstance(made, WrittenQuery), made
    assert SCHICHTEN.run(made.sql) == [(30,)]


def test_half_of_a_month_without_its_year_is_no_half_year() -> None:
    assert isinstance(write("total hours in the first half of March", [SHIFTS.table]), QueryRefusal)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("total copies 2020-2022", 1_110),
        ("total copies 2020–2022", 1_110),
        ("total copies 2019-20", 11),
        ("total copies in 2020-05", 10),
    ],
)
def test_years_with_a_hyphen_include_those_between(question: str, shown: int) -> None:
    made = write(question, [LOANS.table])
    assert isinstance(made, WrittenQuery), made
    assert LOANS.run(made.sql) == [(shown,)]


def test_a_season_named_in_the_table_is_one_value() -> None:
    made = write("goals in 2020-2021", [SEASONS.table])
    assert isinstance(made, WrittenQuery), made
    assert [row[-1] for row in SEASONS.run(made.sql)] == [50]
