"""A few random moments, for `make soak`; `test_turn_killed.py` kills once in each state. `python -m tests.faults.random_kills` takes any number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.chats import PLATFORMS
from tests.faults.random_kills import AT_ONCE, random_kills

if TYPE_CHECKING:
    from pathlib import Path

MOMENTS = 6

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_killed_at_random_moments_each_question_has_one_answer(tmp_path: Path, platform: str) -> None:
    figures = await random_kills(platform, tmp_path, moments=MOMENTS, seed=6)
    assert figures.flawless, figures
    assert (figures.moments, figures.questions) == (MOMENTS, MOMENTS * AT_ONCE)
