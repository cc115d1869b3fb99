"""Citations of a table lead to the rows used."""

from __future__ import annotations

import pytest

from rag_engine.citations.quotes import quotes
from tests.unit.prompting import passage

_TEXT = "Team | 2024 | 2025\nSales North | 12 | 13\nSales North-East | 14 | 12.5\nIT | 7 | 9"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (["Team: Sales North; 2024: 12; 2025: 13"], ["Plan!A2:C2"]),
        (["Sales North-East had 14 in 2024."], ["Plan!A3:C3"]),
        (["Sales North: 12", "IT: 7"], ["Plan!A2:C2", "Plan!A4:C4"]),
        (["Sales North has 12 and IT 7."], ["Plan!A2:C2", "Plan!A4:C4"]),
        (["The teams grew."], ["Plan!A2:C4"]),
        ([], ["Plan!A2:C4"]),
    ],
)
def test_the_rows_that_are_said(claims: list[str], expected: list[str]) -> None:
    hit = passage(_TEXT, kind="table", anchor="Plan!A2:C4")
    assert [quote.anchor for quote in quotes(hit.chunk, claims)] == expected


def test_other_places_stay_as_they_are() -> None:
    unnumbered = passage(_TEXT, kind="table", anchor="§ Plan").chunk
    assert [quote.anchor for quote in quotes(unnumbered, ["IT: 7"])] == ["§ Plan"]
    assert [quote.anchor for quote in quotes(passage("IT has 7.", anchor="p. 3").chunk, ["IT has 7."])] == [
        "p. 3"
    ]
