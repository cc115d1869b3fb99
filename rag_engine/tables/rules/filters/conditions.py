from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.filters.absence_filters import lacking
from rag_engine.tables.rules.filters.comparison_filters import compared
from rag_engine.tables.rules.filters.links import ASKING, is_asked, leads_to
from rag_engine.tables.rules.filters.number_filters import numbered
from rag_engine.tables.rules.filters.value_filters import (
    ChosenValue,
    alternatives,
    chosen_value,
    text_filters,
)
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.heads import names_head
from rag_engine.tables.rules.query import AnyFilter, EmptyFilter, RangeFilter
from rag_engine.tables.rules.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.filters.period_filters import PlacedPeriod
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.bare_numbers import BareNumber
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.mentions.time_spans import PeriodMention
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn

_TRUE: Final = 1
_HALF: Final = 0.5
_PAIR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """`rest`: mentions without a condition; `under`: columns of a period in headers."""

    values: tuple[ChosenValue, ...]
    periods: tuple[PlacedPeriod, ...]
    others: tuple[Filter, ...]
    rest: tuple[ColumnMention, ...]
    numbers: tuple[BareNumber, ...]

    @property
    def filters(self) -> tuple[Filter, ...]:
        return (*text_filters(self.values), *period_alternatives(self.periods), *self.others)

    @property
    def under(self) -> tuple[TypedColumn, ...]:
        return tuple(dict.fromkeys(column for placed in self.periods for column in placed.columns))


def conditions(reading: Interpretation) -> Conditions:
    """Raises `Unanswered`."""
    used: list[ColumnMention] = []
    if reading.doubtful and reading.periods:
        raise refused("choice", reading.table, "", [one.name for one in reading.doubtful])
    values = alternatives(reading, [chosen_value(reading, mention, used) for mention in reading.values])
    others = [*lacking(reading, used), *compared(reading, used)]
    others += _truths(reading, used)
    others += _states(reading, used)
    others += _undated(reading, used)
    others += _had(reading, used)
    others += _pending(reading, used)
    _check_links(reading, values, used)
    found = list(numbered(reading, used))
    others += [one for _, one in found if one is not None]
    periods = [_placed(reading, mention, used) for mention in reading.periods]
    if len({placed.by.sql_name for placed in periods if placed.by is not None}) > 1:
        raise refused("choice", reading.table, "", [placed.by.name for placed in periods if placed.by])
    _check_periods(reading, periods)
    rest = tuple(mention for mention in reading.columns if mention not in used)
    numbers = tuple(one for one in reading.numbers if one not in [number for number, _ in found])
    return Conditions(
        values=tuple(values), periods=tuple(periods), others=tuple(others), rest=rest, numbers=numbers
    )


def _check_periods(reading: Interpretation, periods: Sequence[PlacedPeriod]) -> None:
    filtered = [one for one in periods if one.filters]
    if len(filtered) < _PAIR or reading.has("difference", "change", "ratio", "and", "or", "than", "pair"):
        return
    words, text = reading.question.words, reading.question.text
    for one, other in pairwise(reading.periods):
        between = text[words[one.end - 1].end : words[other.start].start]
        joined = any(sign.group == "links" and one.end <= sign.start < other.start for sign in reading.signs)
        if not joined and not any(mark in between for mark in ",/;、&+"):
            raise refused("question", reading.table)


def period_alternatives(periods: tuple[PlacedPeriod, ...]) -> tuple[Filter, ...]:
    found = tuple(dict.fromkeys(placed.filters for placed in periods if placed.filters))
    return found[0] if len(found) == 1 else (AnyFilter(alternatives=found),) if found else ()


def _states(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    """ "Are not borrowed", of "Borrowed by": the cell is empty."""
    words = reading.question.words
    for mention in reading.columns:
        (column, *more) = mention.columns
        if more or mention in used or column.kind not in {"date", "text"}:
            continue
        if mention.end - mention.start > 1 and mention.share < _HALF:
            continue
        has_gaps = 0 < column.filled < reading.table.row_count
        if not has_gaps or _may_be_dated(reading, mention) or not _is_participle(reading, mention):
            continue
        is_asked = reading.has("when", "who", "where", group="asked")
        if is_asked or any(reading.question.is_beside(mention.end, value.start) for value in reading.values):
            continue
        before = words[mention.start - 1].folded if mention.start else ""
        negated = any(sign.name == "not" and leads_to(reading, sign, mention.start) for sign in reading.signs)
        if before in _COPULAS or negated:
            used.append(mention)
            yield EmptyFilter(column=column, negated=not negated)


def _may_be_dated(reading: Interpretation, mention: ColumnMention) -> bool:
    dates = [
        one
        for one in reading.columns
        if one is not mention and all(each.kind == "date" for each in one.columns)
    ]
    return any(
        not any(reading.question.is_beside(one.end, period.start) for one in dates)
        for period in reading.periods
    )


_COPULAS: Final = frozenset({"is", "are", "was", "were", "been", "has", "have", "had", "ya", "han", "ha", "sind", "ist", "wurde", "wurden", "esta", "estan", "fue", "fueron"})  # fmt: skip


def _is_participle(reading: Interpretation, mention: ColumnMention) -> bool:
    word = reading.question.words[mention.start].folded
    if reading.question.language == "de":
        return word.endswith(("t", "en")) and reading.question.words[mention.start].text[0].islower()
    ends = {
        "en": ("ed", "aid", "ent", "old", "ught"),
        "es": ("ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas"),
    }
    return word.endswith(ends.get(reading.question.language, ()))


def _undated(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    for mention in reading.columns:
        (column, *more) = mention.columns
        negated = any(sign.name == "not" and leads_to(reading, sign, mention.start) for sign in reading.signs)
        has_gaps = reading.question.is_loose and 0 < column.filled < reading.table.row_count
        if (
            negated
            and not more
            and (column.kind == "date" or has_gaps)
            and mention not in used
            and not _may_be_dated(reading, mention)
        ):
            used.append(mention)
            yield EmptyFilter(column=column)


def _had(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    words = reading.question.words
    for mention in reading.columns:
        before = [word.folded for word in words[max(mention.start - 2, 0) : mention.start]]
        is_state = len(before) == _PAIR and before[0] in _COPULAS and before[1] in {"in", "im", "en"}
        (column, *more) = mention.columns
        if not is_state or more or mention in used:
            continue
        if column_names.is_quantity(column, reading.question.language):
            used.append(mention)
            yield RangeFilter(column=column, low=0, includes_low=False)


def _pending(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    if not reading.has("pending", group="links"):
        return
    days = [
        one
        for one in reading.table.columns
        if one.kind == "date" and 0 < one.filled < reading.table.row_count
    ]
    if len(days) != 1:
        raise refused("question", reading.table)
    used.extend(one for one in reading.columns if days[0] in one.columns)
    yield EmptyFilter(column=days[0])


def _truths(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    for mention in reading.columns:
        (column, *more) = mention.columns
        if more or mention in used or not (column.kind == "boolean" or _is_flag(reading, column)):
            continue
        if is_asked(reading, mention, asking=ASKING - {("operations", "count")}):
            continue  # "how many active accounts"
        if mention.share < 1 and not _is_attribute(reading, mention):
            raise refused("unclear", reading.table, reading.question.spoken(mention.start, mention.end))
        negated = any(
            sign.group == "links" and sign.name == "not" and leads_to(reading, sign, mention.start)
            for sign in reading.signs
        )
        used.append(mention)
        value = 1 - _TRUE if negated else _TRUE
        yield RangeFilter(column=column, low=value, high=value)


def _is_flag(reading: Interpretation, column: TypedColumn) -> bool:
    flags = [one for one in reading.table.columns if one.has_all_values and {*one.values} == {"0", "1"}]
    return len(flags) > 1 and column in flags


def _is_attribute(reading: Interpretation, mention: ColumnMention) -> bool:
    question, language = reading.question, reading.question.language
    said = question.words[mention.start : mention.end]
    if not mention.share or names_head(said, mention.columns[0], language):
        return True
    things = {one.start for one in (*reading.titles, *reading.columns, *reading.values)}
    before = question.words[mention.start - 1].folded if mention.start else ""
    return mention.end in things or before in _COPULAS


def _check_links(reading: Interpretation, values: list[ChosenValue], used: list[ColumnMention]) -> None:
    for sign in reading.signs:
        if sign.group != "links":
            continue
        if sign.name == "not":
            ends = [value.mention.start for value in values if value.negated]
            ends += [mention.start for mention in used]
            if not any(leads_to(reading, sign, end) for end in ends):
                raise refused("question", reading.table)
        closes = any(one.end == sign.start for one in (*reading.comparisons, *reading.periods))
        if sign.name == "pair" and not closes and not reading.has("difference", "change", "ratio"):
            raise refused("question", reading.table)
        if sign.name == "or" and not _is_joint(reading, sign, values):
            raise refused("question", reading.table)


def _is_joint(reading: Interpretation, sign: Sign, values: list[ChosenValue]) -> bool:
    before = [value for value in values if reading.question.is_beside(value.mention.end, sign.start)]
    after = [value for value in values if reading.question.is_beside(sign.end, value.mention.start)]
    if before and after:
        return before[-1].column == after[0].column
    ends = [one for one in reading.periods if one.end == sign.start]
    starts = [one for one in reading.periods if reading.question.is_beside(sign.end, one.start)]
    return bool(ends and starts)


def _placed(reading: Interpretation, mention: PeriodMention, used: list[ColumnMention]) -> PlacedPeriod:
    named = [
        column_mention
        for column_mention in reading.columns
        if any(column.kind == "date" for column in column_mention.columns)
        and column_mention not in used
        and not is_asked(reading, column_mention)
    ]
    dates = [column for one in named for column in one.columns if column.kind == "date"]
    placed = period_filters.placed(reading, mention, tuple(dict.fromkeys(dates)))
    if placed.by is not None:
        used.extend(one for one in named if placed.by in one.columns)
        used.extend(
            one
            for one in reading.columns
            if placed.by in one.columns and reading.question.is_beside(one.end, mention.start)
        )
    return placed
