"""Empty cells, whose a value is, what rows are called, and questions with two figures for an answer."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import is_about, write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

PAYROLL = memory_table(
    "payroll staff.csv",
    ("Employee", "Team", "Salary", "Mentor"),
    (
        ("Ada Quist", "Sales", 52_000, "Karl Ubo"),
        ("Cato Lind", "Sales", None, "Ada Quist"),
        ("Karl Ubo", "Support", 61_000, None),
    ),
)
FLEET = memory_table(
    "van fleet.xlsx",
    ("Plate", "Depot", "Mileage", "Next inspection"),
    (
        ("QV-1", "Alder", 40_000, "2026-03-02"),
        ("QV-2", "Cedar", 90_000, "2026-04-11"),
        ("QV-3", "Cedar", 20_000, "2026-03-30"),
    ),
)
TREES = memory_table(
    "baumkataster.csv",
    ("Baumnummer", "Straße", "Pfleger"),
    (("B1", "Amselweg", "Kurz"), ("B2", "Amselweg", None), ("B3", "Domplatz", "Lang")),
)
WORKSHOPS = memory_table(
    "talleres.csv",
    ("Taller", "Ciudad", "Asistentes"),
    (("Danza", "Soria", 7), ("Danza", "Soria", 22), ("Pintura", "Soria", 30), ("Danza", "Cuenca", 9)),
)
GRID = memory_table("grid.pptx", ("ColA", "ColB"), ((1, 2), (7, 8), (13, 14)))


@pytest.mark.parametrize(
    ("question", "table", "rows"),
    [
        ("Which employees have no salary?", PAYROLL, [("Cato Lind",)]),
        ("Who is the mentor of Karl Ubo?", PAYROLL, [("Karl Ubo", None)]),
        ("Who is the mentor of Ada Quist?", PAYROLL, [("Ada Quist", "Karl Ubo")]),
        ("How many vans are at the Cedar depot?", FLEET, [(2,)]),
        ("How many vans have a mileage of more than 30000?", FLEET, [(2,)]),
        ("Wie viele Bäume stehen im Amselweg?", TREES, [(2,)]),
        ("Wie viele Bäume haben keinen Pfleger?", TREES, [(1,)]),
        ("¿Cuántos talleres hubo en Soria?", WORKSHOPS, [(3, 2)]),
        ("What is the sum of ColA?", GRID, [(21,)]),
    ],
)
def test_it_is_computed(question: str, table: MemoryTable, rows: list[tuple[object, ...]]) -> None:
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    assert table.run(written.sql) == rows


def test_rows_are_listed_by_a_day_without_a_column_that_is_asked() -> None:
    written = write("Which vans have their next inspection in March 2026?", [FLEET.table])
    assert isinstance(written, WrittenQuery), written
    assert [row[0] for row in FLEET.run(written.sql)] == ["QV-1", "QV-3"]


def test_a_question_for_empty_cells_is_about_the_table() -> None:
    assert is_about("Which employees have no salary?", [PAYROLL.table])
    assert not is_about("Is there no salary?", [FLEET.table])


def test_of_several_columns_that_fit_none_is_picked() -> None:
    table = memory_table(
        "projects.xlsx",
        ("Item", "Planned budget", "Approved budget", "Spent"),
        (("Lift", 10, 20, 30), ("Roof", 40, 15, 5)),
    ).table
    refusal = write("Which item has the highest budget?", [table])
    assert isinstance(refusal, QueryRefusal)
    assert (refusal.missing, refusal.available) == ("choice", ("Planned budget", "Approved budget"))


PLAYERS = memory_table(
    "players.csv",
    ("Name", "Goals", "Fine", "Captain", "Insured"),
    (("Ana", 1, None, 0, 1), ("Bo", 0, 5, 0, 1), ("Cy", 0, 0, 1, 0)),
)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many players have no goals?", [(2,)]),
        ("How many players are without goals?", [(2,)]),
        ("Who has no goals?", [("Bo", 0), ("Cy", 0)]),
        ("How many players have no goals and are not insured?", [(1,)]),
        ("How many players have missing goals?", [(0,)]),
        ("How many players have an empty fine?", [(1,)]),
    ],
)
def test_none_of_what_every_row_counts_is_zero_and_empty_is_empty(
    question: str, rows: list[tuple[object, ...]]
) -> None:
    written = write(question, [PLAYERS.table])
    assert isinstance(written, WrittenQuery), written
    assert PLAYERS.run(written.sql) == rows


def test_zeros_and_empty_cells_beside_each_other_are_no_answer() -> None:
    refusal = write("How many players have no fine?", [PLAYERS.table])
    assert isinstance(refusal, QueryRefusal)
    assert (refusal.missing, refusal.name) == ("unclear", "have no fine")
