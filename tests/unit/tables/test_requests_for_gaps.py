"""Rows in which something is empty are counted by the tables: quoted lines would be those that have it."""

from __future__ import annotations

import pytest

from rag_engine.tables.answers.requests import asks_to_compute


@pytest.mark.parametrize(
    "question",
    ["Which employees have no salary?", "Who lacks an approval?", "List the orders without a date.",
     "Welche Mitarbeiter haben kein Gehalt?", "Bei welchen Posten fehlt das Datum?", "¿Qué empleados no tienen salario?",
     "哪些员工没有工资？"],
)  # fmt: skip
def test_questions_about_empty_cells_are_for_the_tables(question: str) -> None:
    assert asks_to_compute(question)


@pytest.mark.parametrize(
    "question", ["Is there no canteen?", "Who manages the archive?", "Wo ist die Kantine?"]
)
def test_other_questions_are_not(question: str) -> None:
    assert not asks_to_compute(question)
