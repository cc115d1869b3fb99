"""The order of a ranking, said beside it."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import memory_table

LOANS = memory_table(
    "loans.csv",
    ("Loan", "Book", "Fee"),
    [("L1", "Emma", 4), ("L2", "Dracula", 9), ("L3", "Emma", 2), ("L4", "Ulysses", 7)],
)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("top 2 loans by fee, highest first", ["L2", "L4"]),
        ("the two loans with the lowest fee, lowest one first", ["L3", "L1"]),
        ("top 3 loans by fee, in order", ["L2", "L4", "L1"]),
        ("top 2 loans by fee in descending order", ["L2", "L4"]),
    ],
)
def test_a_ranking_is_in_the_named_order(question: str, shown: list[str]) -> None:
    made = write(question, [LOANS.table])
    assert isinstance(made, WrittenQuery), made
    assert [row[0] for row in LOANS.run(made.sql)] == shown


@pytest.mark.parametrize(
    "question", ["top 2 loans by fee, lowest first", "loans of Emma by fee in ascending order"]
)
def test_another_order_is_refused(question: str) -> None:
    assert isinstance(write(question, [LOANS.table]), QueryRefusal)


@pytest.mark.parametrize("question", ["average fee over all the loans", "average fee over the entire list"])
def test_over_all_rows_is_no_comparison(question: str) -> None:
    made = write(question, [LOANS.table])
    assert isinstance(made, WrittenQuery), made
    assert LOANS.run(made.sql) == [(5.5,)]
