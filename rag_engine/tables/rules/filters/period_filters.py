"""The rows or columns of a table that a period of the question is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.interpretation import title_periods
from rag_engine.tables.rules.language.question_words import words
from rag_engine.tables.rules.mentions import periods, time_spans
from rag_engine.tables.rules.mentions.joins import JoinedTable
from rag_engine.tables.rules.query import RangeFilter, TextFilter
from rag_engine.tables.rules.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.time_spans import Period, PeriodMention
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.rules.refusals import Unanswered
    from rag_engine.tables.types import TypedColumn

_SHARE_OF_PERIODS = 0.8
_LATER = frozenset({"shipped", "due", "ended", "closed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPeriod:
    """`columns`: under the period; `by`: the filtered column."""

    filters: tuple[Filter, ...] = ()
    columns: tuple[TypedColumn, ...] = ()
    by: TypedColumn | None = None


def placed(reading: Interpretation, mention: PeriodMention, dates: Sequence[TypedColumn]) -> PlacedPeriod:
    """`dates`: named columns. Raises `Unanswered`."""
    titled = title_periods(reading.table, reading.question.language)
    asked = mention.period
    found = _placed(reading, mention, asked, dates, titled)
    if found is None and asked.year and any(one.year == asked.year and not one.months for one in titled):
        found = _placed(reading, mention, replace(asked, year=0), dates, titled)
    if found is None:
        raise _no_period(reading, mention, titled)
    return found


def date_column(reading: Interpretation, dates: Sequence[TypedColumn]) -> TypedColumn | None:
    """The only one, or the one called "date"."""
    if dates:
        return dates[0] if len(dates) == 1 else None
    found = _date_columns(reading)
    if len(found) == 1:
        return found[0]
    plain = [
        column
        for column in found
        if column_names.header(column.name, reading.question.language).concepts == frozenset({"date"})
        and len(column_names.header(column.name, reading.question.language).required) == 1
    ]
    if len(plain) == 1:
        return plain[0]
    first = [column for column in found if not _is_later(reading, column)]
    return first[0] if len(first) == 1 and first[0] is found[0] else None


def _date_columns(reading: Interpretation) -> list[TypedColumn]:
    table = reading.table
    found = [column for column in table.columns if column.kind == "date"]
    return [one for one in found if table.is_first(one)] if isinstance(table, JoinedTable) else found


def _assumed_date_column(reading: Interpretation) -> TypedColumn | None:
    found = _date_columns(reading)
    said = [column for column in found if _is_of_rows(reading, column)]
    if len(said) == 1:
        return said[0]
    return found[0] if found and not _is_later(reading, found[0]) else None


def _is_of_rows(reading: Interpretation, column: TypedColumn) -> bool:
    own = {
        form
        for word in column_names.header(column.name, reading.question.language).words
        for form in word.forms
    }
    things = (*reading.titles, *reading.columns)
    words = reading.question.words
    return any(not own.isdisjoint(words[at].forms) for one in things for at in range(one.start, one.end))


def _is_later(reading: Interpretation, column: TypedColumn) -> bool:
    return bool(column_names.header(column.name, reading.question.language).concepts & _LATER)


def year_column(reading: Interpretation) -> TypedColumn | None:
    return _number_column(reading, "year")


def _placed(
    reading: Interpretation,
    mention: PeriodMention,
    asked: Period,
    dates: Sequence[TypedColumn],
    titled: Sequence[Period],
) -> PlacedPeriod | None:
    if not asked.limit and _is_in_named_header(reading, asked):
        return PlacedPeriod()
    under = None if asked.limit else _under_headers(reading, mention, asked, titled)
    if under is not None:
        return under
    if not dates and _names_timed(reading):
        return None
    if not dates and not asked.months and not asked.limit and _is_caption_year(reading, asked):
        return PlacedPeriod()
    if dates or _date_columns(reading):
        return _by_date(reading, mention, asked, dates)
    if asked.limit:
        return None
    by_values = _by_values(reading, asked)
    if by_values is not None:
        return by_values
    is_titled = any(asked.contains(one) for one in titled if one.year or not asked.year)
    return PlacedPeriod() if is_titled and not asked.day else None


def _is_caption_year(reading: Interpretation, asked: Period) -> bool:
    table = reading.table
    found = [period for _, _, period in periods.within(words(table.caption, reading.question.language))]
    years = {one.year for one in found if not one.months}
    return years == {asked.year} and len(_date_columns(reading)) > 1


def _is_in_named_header(reading: Interpretation, asked: Period) -> bool:
    language = reading.question.language
    if column_names.timed_columns(reading.table, language):
        return False
    named = (
        column_names.header(column.name, language).period for one in reading.columns for column in one.columns
    )
    return any(period is not None and asked.contains(period) for period in named)


def _names_timed(reading: Interpretation) -> bool:
    timed = column_names.timed_columns(reading.table, reading.question.language)
    return any(all(column in timed for column in one.columns) for one in reading.columns)


def _under_headers(
    reading: Interpretation, mention: PeriodMention, asked: Period, titled: Sequence[Period]
) -> PlacedPeriod | None:
    language = reading.question.language
    found: list[TypedColumn] = []
    years: set[int] = set()
    for column in column_names.timed_columns(reading.table, language):
        period = column_names.header(column.name, language).period
        if period is None or not asked.contains(period):
            continue
        if asked.year and not period.year and not any(one.year == asked.year for one in titled):
            continue
        found.append(column)
        years.add(period.year)
    if not found:
        return None
    if len(years) > 1 and not asked.year and not asked.is_range:
        raise refused("choice", reading.table, _said(reading, mention), map(str, sorted(years)))
    return PlacedPeriod(columns=tuple(found))


def _by_date(
    reading: Interpretation, mention: PeriodMention, asked: Period, dates: Sequence[TypedColumn]
) -> PlacedPeriod | None:
    column = date_column(reading, dates) or (None if dates else _assumed_date_column(reading))
    if column is None:
        names = [one.name for one in dates or reading.table.columns if one.kind == "date"]
        raise refused("choice", reading.table, _said(reading, mention), names)
    least, greatest = str(column.least or "")[:10], str(column.greatest or "")[:10]
    if not asked.is_range and not asked.year:
        link, asked = asked.limit, _with_year(reading, mention, replace(asked, limit=""), least, greatest)
        asked = (time_spans.limited(asked, link) if link else asked) or asked
    low, high = asked.bounds
    if not (low or high):
        return None
    if least and ((high and _start(high) <= least) or (low and _start(low) > greatest)):
        raise refused("period", reading.table, _said(reading, mention), (least, greatest))
    return PlacedPeriod(
        filters=(RangeFilter(column=column, low=_start(low) or None, high=_start(high) or None),), by=column
    )


def _start(day: str) -> str:
    return day.removesuffix("-01-01") if day.endswith("-01-01") else day.removesuffix("-01")


def _with_year(
    reading: Interpretation, mention: PeriodMention, asked: Period, least: str, greatest: str
) -> Period:
    years = range(int(least[:4] or 0), int(greatest[:4] or 0) + 1) if least and greatest else range(0)
    possible = [
        dated
        for year in years
        for dated in [replace(asked, year=year)]
        if _start(dated.bounds[1]) > least and _start(dated.bounds[0]) <= greatest
    ]
    if not possible:
        raise refused("period", reading.table, _said(reading, mention), (least, greatest))
    if len(possible) > 1:
        raise refused("choice", reading.table, _said(reading, mention), [str(one.year) for one in possible])
    return possible[0]


def _by_values(reading: Interpretation, asked: Period) -> PlacedPeriod | None:
    year = _number_column(reading, "year")
    if year is not None and (asked.year or asked.is_range):
        return _by_year(reading, asked, year)
    texts = _period_texts(reading, asked)
    if texts is not None:
        return texts
    month = _number_column(reading, "month")
    if month is not None and asked.months and not asked.year and not asked.day:
        return _between(month, min(asked.months), max(asked.months))
    return None


def _by_year(reading: Interpretation, asked: Period, column: TypedColumn) -> PlacedPeriod | None:
    if asked.day:
        return None
    if asked.months:
        rest = _by_values_without_year(reading, replace(asked, year=0))
        own = _between(column, asked.year, asked.year)
        return None if rest is None or own is None else replace(own, filters=(*own.filters, *rest.filters))
    if not asked.is_range:
        return _between(column, asked.year, asked.year)
    low, high = asked.bounds
    if any(bound and not bound.endswith("-01-01") for bound in (low, high)):
        return None
    return _between(column, int(low[:4]) if low else None, int(high[:4]) - 1 if high else None)


def _by_values_without_year(reading: Interpretation, asked: Period) -> PlacedPeriod | None:
    texts = _period_texts(reading, asked)
    if texts is not None:
        return texts
    month = _number_column(reading, "month")
    return _between(month, min(asked.months), max(asked.months)) if month is not None else None


def _between(column: TypedColumn, low: int | None, high: int | None) -> PlacedPeriod | None:
    least, greatest = column.least, column.greatest
    if not isinstance(least, int | float) or not isinstance(greatest, int | float):
        return None
    if (high is not None and high < least) or (low is not None and low > greatest):
        return None
    found = RangeFilter(column=column, low=low, high=high, includes_high=True)
    return PlacedPeriod(filters=(found,), by=column)


def _period_texts(reading: Interpretation, asked: Period) -> PlacedPeriod | None:
    language = reading.question.language
    for column in reading.table.columns:
        if column.kind != "text" or not column.values or not column.has_all_values:
            continue
        read = {text: periods.whole(words(text, language)) for text in column.values}
        if sum(period is not None for period in read.values()) < _SHARE_OF_PERIODS * len(read):
            continue
        fitting = {text: one for text, one in read.items() if one is not None and asked.contains(one)}
        if asked.year and any(not one.year for one in fitting.values()):
            continue
        if not asked.year and not asked.is_range and len({one.year for one in fitting.values()}) > 1:
            raise refused("choice", reading.table, "", sorted(fitting))
        if fitting:
            return PlacedPeriod(filters=(TextFilter(column=column, texts=tuple(fitting)),), by=column)
    return None


def _number_column(reading: Interpretation, concept: str) -> TypedColumn | None:
    language = reading.question.language
    found = [
        column
        for column in reading.table.columns
        if column.kind == "number" and concept in column_names.header(column.name, language).concepts
    ]
    return found[0] if len(found) == 1 else None


def _no_period(reading: Interpretation, mention: PeriodMention, titled: Sequence[Period]) -> Unanswered:
    language = reading.question.language
    timed = [column.name for column in column_names.timed_columns(reading.table, language)]
    year = _number_column(reading, "year")
    years = [str(value) for value in (year.least, year.greatest)] if year is not None else []
    return refused(
        "period",
        reading.table,
        _said(reading, mention),
        timed or years or [str(one.year) for one in titled if one.year],
    )


def _said(reading: Interpretation, mention: PeriodMention) -> str:
    return reading.question.spoken(mention.start, mention.end)
