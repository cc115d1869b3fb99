from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

_DECEMBER: Final = 12

_LIMITS: Final = frozenset({"since", "before", "after", "until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """In `months`, one `day`, or from `low` to before `high` (ISO days; "" is open)."""

    year: int = 0
    months: frozenset[int] = frozenset()
    day: int = 0
    low: str = ""
    high: str = ""
    limit: str = ""
    """ "since" for "since April", until its year is known."""

    @property
    def is_range(self) -> bool:
        return bool(self.low or self.high)

    @property
    def bounds(self) -> tuple[str, str]:
        """("", "") if it has no year."""
        if self.is_range or not self.year:
            return self.low, self.high
        if self.day:
            start = date(self.year, min(self.months), self.day)
            return start.isoformat(), (start + timedelta(days=1)).isoformat()
        first, last = (min(self.months), max(self.months)) if self.months else (1, _DECEMBER)
        after = (self.year + 1, 1) if last == _DECEMBER else (self.year, last + 1)
        return f"{self.year}-{first:02}-01", f"{after[0]}-{after[1]:02}-01"

    def contains(self, other: Period) -> bool:
        """As far as both say."""
        if self.is_range or (self.year and other.year):
            low, high = self.bounds
            inner_low, inner_high = other.bounds
            if not inner_low:
                return False
            return (not low or inner_low >= low) and (not high or inner_high <= high)
        if self.day:
            return False
        return not self.months or (bool(other.months) and other.months <= self.months)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodMention:
    """`parts`: "January" and "March" of "from January to March"."""

    start: int
    end: int
    period: Period
    parts: tuple[PeriodMention, ...] = ()


def joined(first: Period, last: Period) -> Period | None:
    if not first.year and last.year and (first.months or first.day):
        first = replace(first, year=last.year)
    if first.year and not last.year and last.months:
        last = replace(last, year=first.year)
    if first.year and last.year:
        low, high = first.bounds[0], last.bounds[1]
        return Period(low=low, high=high) if low < high else None
    if first.months and last.months and not (first.day or last.day):
        begin, end = min(first.months), max(last.months)
        return Period(months=frozenset(range(begin, end + 1))) if begin <= end else None
    return None


def with_limit(period: Period, link: str) -> Period | None:
    if link in {"", "from"}:
        return period
    if not period.year:
        return replace(period, limit=link) if link in _LIMITS else None
    return limited(period, link)


def limited(period: Period, link: str) -> Period | None:
    """What is since, before, after or until a period with a year."""
    low, high = period.bounds
    return {
        "since": Period(low=low),
        "before": Period(high=low),
        "after": Period(low=high),
        "until": Period(high=high),
    }.get(link)
