from __future__ import annotations

import pytest

from bot.web.charts import Series, lines, stacked


@pytest.mark.parametrize(
    ("values", "empty"), [([None, 0.0], False), ([0.0, 2.0], False), ([None, None], True)]
)
def test_answers_in_no_time_have_a_line(values: list[float | None], empty: bool) -> None:
    drawn = lines(
        "Seconds", ["Monday", "Tuesday"], [Series(name="Half within", kind="median", values=values)]
    )
    assert drawn.is_empty == empty


def test_days_without_a_question_have_no_bar() -> None:
    assert stacked("Questions", ["Monday"], [Series(name="Answered", kind="answered", values=[0])]).is_empty
