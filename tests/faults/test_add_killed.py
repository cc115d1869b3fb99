"""`footnote add`, killed at random moments and repeated; many more of them are tried by `make soak`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.add_killed import killed_and_repeated

if TYPE_CHECKING:
    from pathlib import Path

MOMENTS = 3


@pytest.mark.timeout(600)
async def test_killed_at_random_moments_and_repeated_equals_one_go(tmp_path: Path) -> None:
    outcome = await killed_and_repeated(tmp_path, moments=MOMENTS, seed=17)
    assert outcome.kills == MOMENTS, "most runs came to their end before they were killed"
    assert outcome.equal
    assert outcome.left == ()
