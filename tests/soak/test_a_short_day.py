"""A short version of the day that `make soak` runs for half an hour, to try the run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.soak.day import day

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.soak


async def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    report = await day(tmp_path, questions=40, files=6, settled_seconds=3.0)
    assert (report.lost, report.doubled) == ([], [])
    assert (report.questions, report.files) == (40, 6)
    assert report.early is not None
    assert report.late is not None
    assert report.late.tasks <= report.early.tasks + 8
