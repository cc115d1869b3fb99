from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import header, is_quantity, timed_columns
from rag_engine.tables.rules.headers.limits import limited_by
from rag_engine.tables.rules.headers.units import unit_of
from rag_engine.tables.rules.mentions.columns import ColumnMention

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.mentions.time_spans import PeriodMention
    from rag_engine.tables.rules.query import Operator
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedColumn, TypedTable

_OPERATORS: Final[dict[str, Operator]] = {"above": ">", "at_least": ">=", "below": "<", "at_most": "<="}

_OF_DATES: Final[dict[str, Operator]] = {"periods after": ">", "periods before": "<"}
_DIFFERENCES: Final = frozenset(
    {"operations difference", "operations change", "operations ratio", "operations share"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnComparison:
    """ "Stock below the minimum"."""

    start: int
    end: int
    operator: Operator
    sides: tuple[ColumnMention, ColumnMention]


def compared_columns(
    question: Question, free: Sequence[bool], table: TypedTable, named: Sequence[ColumnMention]
) -> Iterator[ColumnComparison]:
    at = 0
    while at < len(question.words):
        end, meaning = question.lexicon.at(question.words, at, "comparisons", free=free)
        operator, kind = _OPERATORS.get(meaning.removeprefix("comparisons ")), "number"
        if operator is None:
            end, meaning = question.lexicon.at(question.words, at, "periods", free=free)
            operator, kind = _OF_DATES.get(meaning), "date"
        sides = _sides(question, named, at, end, kind) if operator and all(free[at:end]) else None
        if operator and kind == "number" and sides is None and all(free[at:end]):
            sides = _with_limit(question, table, named, end)
        if operator and sides:
            yield ColumnComparison(start=at, end=end, operator=operator, sides=sides)
        at = max(end, at + 1)


def compared_periods(
    question: Question,
    free: Sequence[bool],
    table: TypedTable,
    dated: Sequence[PeriodMention],
    named: Sequence[ColumnMention],
) -> Iterator[ColumnComparison]:
    """ "More in 2025 than in 2024"."""
    than = _than(question, dated)
    if than is None or _is_subtracted(question):
        return
    for at in (at for at, is_free in enumerate(free) if is_free):
        end, meaning = question.lexicon.at(question.words, at, "comparatives", free=free)
        operator = _OPERATORS.get(meaning.removeprefix("comparatives "))
        is_placed = at > dated[1].start if question.language == "zh" else at < than
        if operator is None or not is_placed:
            continue
        first, second = (_under(table, question.language, one, named) for one in dated)
        if first is None or second is None or unit_of(first.columns[0]) != unit_of(second.columns[0]):
            return
        yield ColumnComparison(start=at, end=end, operator=operator, sides=(first, second))
        return


def _is_subtracted(question: Question) -> bool:
    found = (question.lexicon.at(question.words, at, "operations")[1] for at in range(len(question.words)))
    return any(meaning in _DIFFERENCES for meaning in found)


def _than(question: Question, dated: Sequence[PeriodMention]) -> int | None:
    if len(dated) != 2:
        return None
    for at in range(dated[0].end, dated[1].start):
        end, meaning = question.lexicon.at(question.words, at, "links")
        if meaning == "links than" and question.is_beside(end, dated[1].start):
            return at
    return None


def _under(
    table: TypedTable, language: str, mention: PeriodMention, named: Sequence[ColumnMention]
) -> ColumnMention | None:
    asked = {column for one in named for column in one.columns}
    found = [
        column
        for column in timed_columns(table, language)
        if (period := header(column.name, language).period) is not None and mention.period.contains(period)
    ]
    found = [column for column in found if column in asked] or found
    if len(found) != 1:
        return None
    return ColumnMention(start=mention.start, end=mention.end, columns=(found[0],), share=0.0)


def _sides(
    question: Question, named: Sequence[ColumnMention], start: int, end: int, kind: str
) -> tuple[ColumnMention, ColumnMention] | None:
    before = [one for one in named if question.is_beside(one.end, start)]
    after = [one for one in named if question.is_beside(end, one.start)]
    if not before or not after:
        return None
    first, second = _compared(before[-1], question.language), _compared(after[0], question.language)
    if first is None or second is None or first == second or unit_of(first) != unit_of(second):
        return None
    if first.kind != kind or second.kind != kind:
        return None
    return before[-1], after[0]


def _with_limit(
    question: Question, table: TypedTable, named: Sequence[ColumnMention], end: int
) -> tuple[ColumnMention, ColumnMention] | None:
    after = next((one for one in named if question.is_beside(end, one.start)), None)
    limit = _compared(after, question.language) if after is not None else None
    bounded = limited_by(table, limit, question.language) if limit is not None else None
    if after is None or bounded is None:
        return None
    return ColumnMention(start=after.start, end=after.end, columns=(bounded,), share=0.0), after


def _compared(mention: ColumnMention, language: str) -> TypedColumn | None:
    column, *more = mention.columns
    return column if not more and (column.kind == "date" or is_quantity(column, language)) else None
