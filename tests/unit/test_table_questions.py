"""Questions about single cells find the row, say the cell, and cite the row; the figures are in `benchmarks/answers/tables.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.answers.tables import asked, outcome
from tests.tables.questions import questions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.process
async def test_cells_are_found_said_and_cited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By words alone, which is fast; with the default embedder nearly all are right."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with asked(tmp_path) as (application, base):
        outcomes = [await outcome(application, base, question) for question in questions()]
    assert len(outcomes) >= 40
    assert len({item.question.file for item in outcomes}) >= 6

    def share(right: list[bool]) -> float:
        return sum(right) / len(right)

    assert share([0 < item.rank <= 8 for item in outcomes]) >= 0.95
    assert share([item.answered for item in outcomes]) >= 0.9
    assert share([item.exact for item in outcomes]) >= 0.85
