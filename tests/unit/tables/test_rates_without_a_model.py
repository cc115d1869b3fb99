"""Sets that were written without sight of the rules, by the rules alone; `benchmarks/answers/table_questions.py` prints them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from benchmarks.answers.table_questions import measure

if TYPE_CHECKING:
    from benchmarks.answers.table_questions import JudgedAnswer

SETS = ("held_out", "fourth", "sixth", "eighth", "thirteenth", "fourteenth")


@pytest.mark.slow
@pytest.mark.process
async def test_most_is_computed_hardly_anything_is_wrong_and_what_is_not_there_is_refused() -> None:
    found: list[JudgedAnswer] = []
    for judged in await asyncio.gather(
        *(measure(name, "rules", is_direct=True, is_made=True) for name in SETS)
    ):
        found += judged
    counts = {
        kind: Counter(one.verdict for one in found if _kind(one) == kind)
        for kind in ("computed", "lookup", "none")
    }
    assert counts["computed"]["right"] >= 0.6 * counts["computed"].total()
    assert counts["lookup"]["right"] >= 0.9 * counts["lookup"].total()
    assert sum(one.verdict == "wrong" for one in found) < 0.03 * len(found)
    is_said = counts["none"]["refused"] + counts["none"]["warned"]
    """Refused, or the row with the words that it has nothing for."""
    assert is_said == counts["none"].total()


def _kind(judged: JudgedAnswer) -> str:
    kind = judged.question.kind
    return kind if kind in ("lookup", "none") else "computed"
