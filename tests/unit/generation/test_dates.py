from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_engine.generation.dates import days_line, local_time, today_line

EVENING = datetime(2026, 3, 1, 20, 5, tzinfo=UTC)


def test_the_day_is_the_askers() -> None:
    tokyo = local_time("Asia/Tokyo", at=EVENING)
    assert today_line(tokyo) == "Today is Monday, 2026-03-02."
    assert days_line(tokyo) == (
        "It is Monday, 2026-03-02, 05:05 in Asia/Tokyo; yesterday was 2026-03-01; tomorrow is 2026-03-03."
    )


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../../etc/passwd", "{{CURRENT_DATE}}", "\x00", "a" * 300])
def test_an_unknown_zone_is_the_servers(zone: str) -> None:
    assert local_time(zone, at=EVENING) == EVENING
    assert zone not in days_line(local_time(zone, at=EVENING)) or not zone
