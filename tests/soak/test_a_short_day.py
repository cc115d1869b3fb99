"""The long run, short: what `make soak` does for half an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.soak.day import day

if TYPE_CHECKING:
    from pathlib import Path


async def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    report = await day(tmp_path, questions=40, files=6, settled_seconds=3.0)
    assert (report.lost, report.doubled) == ([], [])
    assert (report.questions, report.files) == (40, 6)
    assert report.early is not None
    assert report.late is not None
    assert report.late.tasks <= report.early.tasks + 8
