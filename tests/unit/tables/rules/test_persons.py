"""Women and men by a column of their gender, and shares of a part."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import memory_table

STAFF = memory_table(
    "staff.csv",
    ("Name", "Department", "Gender", "Hired"),
    [
        ("Ana Kerr", "IT", "F", "2021-02-01"),
        ("Bea Lund", "HR", "F", "2022-03-01"),
        ("Cid Moss", "IT", "M", "2021-04-01"),
        ("Dan Nash", "IT", "M", "2023-05-01"),
    ],
)
VISITS = memory_table(
    "visits.csv",
    ("Visit", "Guest", "Gender"),
    [("V1", "Ana Kerr", "F"), ("V2", "Ana Kerr", "F"), ("V3", "Cid Moss", "M")],
)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("how many women work in IT?", 1),
        ("how many men are there in IT?", 2),
        ("Wie viele Frauen arbeiten in HR?", 1),
        ("¿Cuántas mujeres hay en IT?", 1),
    ],
)
def test_women_and_men(question: str, shown: int) -> None:
    made = write(question, [STAFF.table])
    assert isinstance(made, WrittenQuery), made
    assert STAFF.run(made.sql) == [(shown,)]
    assert any("F" in note or "M" in note for note in made.notes)


def test_visits_are_not_counted_as_women() -> None:
    assert isinstance(write("how many women were there?", [VISITS.table]), QueryRefusal)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("what percentage of the women are in IT?", (50.0, 1, 2)),
        ("what percentage of the IT staff are female?", (33.33, 1, 3)),
    ],
)
def test_what_is_before_the_verb_is_the_whole(question: str, shown: tuple[float, int, int]) -> None:
    made = write(question, [STAFF.table])
    assert isinstance(made, WrittenQuery), made
    assert STAFF.run(made.sql) == [shown]


def test_a_period_behind_the_verb_is_not_taken_for_the_whole() -> None:
    assert isinstance(
        write("what percentage of the IT staff were hired in 2021?", [STAFF.table]), QueryRefusal
    )
