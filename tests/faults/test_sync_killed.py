from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.sync_killed import killed_and_repeated

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(600)
@pytest.mark.parametrize("moments", [6, pytest.param(20, marks=pytest.mark.soak)])
async def test_a_sync_killed_at_random_moments_equals_one_go(tmp_path: Path, moments: int) -> None:
    assert await killed_and_repeated(tmp_path, moments=moments, seed=23) == moments
