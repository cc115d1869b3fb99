"""The row of each line of a table, from its anchor."""

from __future__ import annotations

import pytest

from rag_engine.text.language.months import months
from rag_engine.text.table_anchors import table_lines


@pytest.mark.parametrize(
    ("anchor", "lines", "first", "last", "expected"),
    [
        ("Budget!A2:D4", 4, 1, 1, "Budget!A2:D2"),
        ("Budget!A2:D4", 4, 2, 3, "Budget!A3:D4"),
        ("Budget!A2:D4", 3, 0, 0, "Budget!A2:D2"),
        ("a.zip › b.xlsx › My sheet!B7:B9", 4, 3, 3, "a.zip › b.xlsx › My sheet!B9"),
        ("rows 2–40", 40, 5, 9, "rows 6–10"),
        ("b.csv › row 7", 2, 1, 1, "b.csv › row 7"),
        ("rows 2–40", 40, 0, 0, ""),
    ],
)
def test_the_anchor_of_lines(anchor: str, lines: int, first: int, last: int, expected: str) -> None:
    found = table_lines(anchor, "\n".join("x" * lines))
    assert found is not None
    assert found.anchor(first, last) == expected


@pytest.mark.parametrize("anchor", ["§ Leave", "p. 3", "slide 2", "Budget!A2:D9", "rows 2–9", "", "Budget!"])
def test_where_rows_cannot_be_identified(anchor: str) -> None:
    assert table_lines(anchor, "header\nrow\nrow") is None


def test_months_in_any_form() -> None:
    assert months("March, Mar, März, marzo, 2025-03, 3月") == {3}
    assert months("May I?") == {5}
    assert months("they may march in 2025") == frozenset()
    assert months("Dez 2024 / janv. 2025") == {12, 1}
