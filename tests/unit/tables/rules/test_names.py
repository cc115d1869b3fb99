"""What names a row, a column or a unit, and what is not there."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import is_about, write
from rag_engine.tables.rules.subject import is_nowhere
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from rag_engine.tables.values import readable
from tests.tables.memory_table import MemoryTable, memory_table

BUDGET = memory_table(
    "team budget.csv", ("Item", "Planned", "Spent"), (("Travel", 10, 20), ("Tools", 15, 5), ("Books", 7, 9))
)
LOGGED = memory_table(
    "logged hours.csv", ("Project", "Hours"), (("Atlas", 3), ("Comet", 5), ("Atlas", 4), ("Beacon", 5))
)
ROOMS = memory_table("meeting rooms.xlsx", ("Room", "Seats"), (("Aurora", 12), ("Fjord", 5), ("Delta", 30)))
DISHES = memory_table(
    "menu.csv",
    ("Dish", "Calories (kcal)", "Portions"),
    (("Soup", 300, 4), ("Stew", 700, 6), ("Salad", 200, 300)),
)
MACHINES = memory_table(
    "maschinen.xlsx", ("Maschine", "Baujahr"), (("Presse", 2001), ("Säge", 1998), ("Fräse", 2015))
)
CONTRACTS = memory_table(
    "vendor contracts.xlsx",
    ("Vendor", "Fee", "End date"),
    (("Kestrel", 10, "2025-04-29"), ("Cobalt", 20, "2025-09-23"), ("Oakham", 5, "2025-07-28")),
)
COSTS = memory_table("reisekosten.csv", ("Mitarbeiter", "Kosten"), (("Uwe", 10), ("Petra", 20), ("Uwe", 5)))


@pytest.mark.parametrize(
    ("made", "question", "rows"),
    [
        (LOGGED, "Which project has the most logged hours?", [("Atlas", 7)]),
        (CONTRACTS, "How many contracts end after June 2025?", [(2,)]),
        (ROOMS, "What is the smallest meeting room by seats?", [("Fjord", 5)]),
        (DISHES, "How many dishes have fewer than 500 kcal?", [(2,)]),
        (DISHES, "How many dishes have at least 700 kcal?", [(1,)]),
        (MACHINES, "Welche Maschine ist die älteste?", [("Säge", 1998)]),
        (MACHINES, "Welche ist die jüngste Maschine?", [("Fräse", 2015)]),
        (COSTS, "Wie viel hat Uwe für Reisen ausgegeben?", [(15,)]),
        (BUDGET, "Which item has the highest planned amount?", [("Tools", 15)]),
    ],
)  # fmt: skip
def test_words_of_titles_units_and_ages(
    made: MemoryTable, question: str, rows: list[tuple[object, ...]]
) -> None:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), written
    assert [tuple(row) for row in made.run(written.sql)] == rows


def test_money_under_another_name_is_asked_for() -> None:
    refusal = write("Which item has the highest budget?", [BUDGET.table])
    assert isinstance(refusal, QueryRefusal)
    assert (refusal.missing, refusal.name, refusal.available) == ("choice", "budget", ("Planned", "Spent"))


@pytest.mark.parametrize(
    ("made", "question", "name"),
    [
        (ROOMS, "What is the ceiling height of Fjord?", "ceiling height"),
        (MACHINES, "Wie hoch ist der Stromverbrauch der Säge?", "Stromverbrauch"),
    ],
)
def test_a_missing_column_of_a_known_row_is_named(made: MemoryTable, question: str, name: str) -> None:
    assert is_about(question, [made.table], or_row=True)
    row = write(question, [made.table])
    assert isinstance(row, WrittenQuery)
    assert row.unread == name
    assert is_nowhere(name, [made.table.title, "Something about heights"])
    assert not is_nowhere(name, [f"It has a {name} of 3 m."])


def test_names_with_an_ordinal_sign_are_no_numbers() -> None:
    assert not readable("105号会议室").forms
    assert readable("105 元").unit == "元"
