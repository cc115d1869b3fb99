"""Right SQL over made tables gives the right rows with the rows they rest on; and how answers are judged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.tables.answers.requests import asks_to_compute
from rag_engine.tables.execution import TableQueries
from rag_engine.tables.rules import is_about
from tests.tables.computed.classification import ShownAnswer, verdict
from tests.tables.computed.development import DEVELOPMENT
from tests.tables.computed.eighth import EIGHTH
from tests.tables.computed.fifth import FIFTH
from tests.tables.computed.fourteenth import FOURTEENTH
from tests.tables.computed.fourth import FOURTH
from tests.tables.computed.fresh import FRESH
from tests.tables.computed.held_out import HELD_OUT
from tests.tables.computed.ninth import NINTH
from tests.tables.computed.question_set import ComputedQuestion, QuestionSet, resolved
from tests.tables.computed.seventh import SEVENTH
from tests.tables.computed.sixth import SIXTH
from tests.tables.computed.thirteenth import THIRTEENTH
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.tables.types import ComputedAnswer

SUM = ComputedQuestion(text="Sum?", kind="sum", gold=(1234.5,))
GROUPS = ComputedQuestion(text="By country?", kind="group", gold=(2, 3))
FIRST = ComputedQuestion(text="Top 2?", kind="top", gold=("Ada", "Ben"))
LISTED = ComputedQuestion(text="Which are open?", kind="filter", gold=("Ada", "Ben"))
CELL = ComputedQuestion(text="Which?", kind="lookup", gold=(7,))
NOTHING = ComputedQuestion(text="Denmark?", kind="none", gold=())


@pytest.mark.parametrize(
    ("question", "shown", "expected"),
    [
        (SUM, ShownAnswer(text="1,234.50 €", rows=[(1234.5,)]), "right"),
        (SUM, ShownAnswer(text="1.234,50 €", rows=[(1234.5,)]), "right"),
        (SUM, ShownAnswer(text="1,234.50 €", rows=[(1234.5,)], cited=False), "wrong"),
        (SUM, ShownAnswer(text="234.50", rows=[(234.5,)]), "wrong"),
        (SUM, ShownAnswer(text="234.50", rows=[(234.5,)], warnings=1), "warned"),
        (SUM, ShownAnswer(text="1,300", rows=[(1234.5,)]), "wrong"),
        (SUM, ShownAnswer(text="1000\n1234.5", rows=[(1000, 1234.5), (234.5, 1234.5)]), "right"),
        (SUM, ShownAnswer(text="1000\n1234.5", rows=[(1000,), (1234.5,)]), "wrong"),
        (SUM, ShownAnswer(text="There is no column Sum."), "refused"),
        (SUM, ShownAnswer(text="x | 1234.5 [1]", quotes=["x | 1234.5 [1]"]), "quoted"),
        (GROUPS, ShownAnswer(text="A 3 B 2", rows=[("A", 3), ("B", 2)]), "right"),
        (GROUPS, ShownAnswer(text="A 3", rows=[("A", 3)]), "wrong"),
        (GROUPS, ShownAnswer(text="A 3 B 3", rows=[("A", 3), ("B", 3)]), "wrong"),
        (FIRST, ShownAnswer(text="Ada Ben", rows=[("Ada", 9), ("Ben", 8)]), "right"),
        (FIRST, ShownAnswer(text="Ben Ada", rows=[("Ben", 9), ("Ada", 8)]), "wrong"),
        (LISTED, ShownAnswer(text="Ada Ben", rows=[("Ben", 8), ("Ada", 9)]), "right"),
        (LISTED, ShownAnswer(text="Ada Ben Eve", rows=[("Ada", 9), ("Ben", 8), ("Eve", 7)]), "wrong"),
        (CELL, ShownAnswer(text="x | 7 [1]", quotes=["x | 7 [1]"]), "right"),
        (CELL, ShownAnswer(text="x | 17 [1]", quotes=["x | 17 [1]"]), "quoted"),
        (NOTHING, ShownAnswer(text="There is no Denmark."), "refused"),
        (NOTHING, ShownAnswer(text="0", rows=[(0,)]), "wrong"),
        (NOTHING, ShownAnswer(text="quote [1]", quotes=["quote [1]"]), "quoted"),
    ],
)
def test_an_answer_is_judged(question: ComputedQuestion, shown: ShownAnswer, expected: str) -> None:
    assert verdict(question, shown) == expected


@pytest.mark.process
@pytest.mark.parametrize(
    ("half", "searched"),
    [
        (DEVELOPMENT, []),
        (HELD_OUT, []),
        (FRESH, ["In welcher Halle steht die Presse?"]),
        (FOURTH, []),
        (FIFTH, None),
        (SIXTH, None),
        (SEVENTH, None),
        (EIGHTH, None),
        (NINTH, None),
        (THIRTEENTH, None),
        (FOURTEENTH, None),
    ],
    ids=[
        *("development", "held out", "fresh", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
        *("thirteenth", "fourteenth"),
    ],
)
async def test_right_sql_gives_the_right_rows_and_names_what_they_rest_on(
    half: QuestionSet, searched: list[str] | None, tmp_path: Path
) -> None:
    """For `searched` no model is asked for a query; None: for at most a fifth."""
    files = tmp_path / "files"
    files.mkdir()
    for name, make in half.makers.items():
        make(files / name)
    _, stored = await stored_tables(tmp_path / "tables", sorted(files.iterdir()))
    tables, queries = [one.table for one in stored], TableQueries(processes=3)
    asked = [one for one in half.questions() if one.sql and set(one.files) <= set(half.makers)]
    assert len(asked) >= 50

    async def verdict_of(question: ComputedQuestion) -> str:
        answer = await queries.run(resolved(question, tables), stored)
        return verdict(question, _shown(answer))

    verdicts = await asyncio.gather(*map(verdict_of, asked))
    assert [one.text for one, found in zip(asked, verdicts, strict=True) if found != "right"] == []
    unasked = [one.text for one in asked if not asks_to_compute(one.text) and not is_about(one.text, tables)]
    assert unasked == searched if searched is not None else len(unasked) <= len(asked) / 5


def _shown(answer: ComputedAnswer) -> ShownAnswer:
    text = "\n".join(" | ".join(map(str, row)) for row in answer.rows)
    is_cited = bool(answer.sources) and all(source.count for source in answer.sources)
    return ShownAnswer(text=text, rows=answer.rows, cited=is_cited)
