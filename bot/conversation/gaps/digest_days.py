from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_HOUR: Final = 9


def next_monday(after: float, time_zone: str) -> float:
    zone = _zone(time_zone)
    moment = datetime.fromtimestamp(after, zone)
    day = moment.date() - timedelta(days=moment.weekday())
    for monday in (day, day + timedelta(days=7)):
        due = datetime(monday.year, monday.month, monday.day, _HOUR, tzinfo=zone).timestamp()
        if due > after:
            return due
    raise AssertionError("the Monday after this week's is later")


def week_of(at: float, time_zone: str) -> str:
    year, week, _ = datetime.fromtimestamp(at, _zone(time_zone)).isocalendar()
    return f"{year}-W{week:02}"


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
