from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def local_time(time_zone: str = "", *, at: datetime | None = None) -> datetime:
    """The server's own for an unknown name."""
    moment = at or datetime.now(UTC)
    try:
        return moment.astimezone(ZoneInfo(time_zone) if time_zone else None)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return moment.astimezone()


def today_line(now: datetime) -> str:
    return f"Today is {now:%A}, {now.date()}."


def days_line(now: datetime) -> str:
    day = now.date()
    near = f"yesterday was {day - timedelta(days=1)}; tomorrow is {day + timedelta(days=1)}"
    zone = f" in {now.tzinfo.key}" if isinstance(now.tzinfo, ZoneInfo) else ""
    return f"It is {now:%A}, {day}, {now:%H:%M}{zone}; {near}."
