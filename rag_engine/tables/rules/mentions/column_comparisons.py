from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.mentions.columns import is_quantity
from rag_engine.tables.rules.mentions.units import unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Operator
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedColumn

_OPERATORS: Final[dict[str, Operator]] = {"above": ">", "at_least": ">=", "below": "<", "at_most": "<="}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnComparison:
    """ "Stock below the minimum"."""

    start: int
    end: int
    operator: Operator
    sides: tuple[ColumnMention, ColumnMention]


def compared_columns(
    question: Question, free: Sequence[bool], named: Sequence[ColumnMention]
) -> Iterator[ColumnComparison]:
    at = 0
    while at < len(question.words):
        end, meaning = question.lexicon.at(question.words, at, "comparisons", free=free)
        operator = _OPERATORS.get(meaning.removeprefix("comparisons "))
        sides = _sides(question, named, at, end) if operator and all(free[at:end]) else None
        if operator and sides:
            yield ColumnComparison(start=at, end=end, operator=operator, sides=sides)
        at = max(end, at + 1)


def _sides(
    question: Question, named: Sequence[ColumnMention], start: int, end: int
) -> tuple[ColumnMention, ColumnMention] | None:
    before = [one for one in named if question.is_beside(one.end, start)]
    after = [one for one in named if question.is_beside(end, one.start)]
    if not before or not after:
        return None
    first, second = _number(before[-1], question.language), _number(after[0], question.language)
    if first is None or second is None or first == second or unit_of(first) != unit_of(second):
        return None
    return before[-1], after[0]


def _number(mention: ColumnMention, language: str) -> TypedColumn | None:
    column, *more = mention.columns
    return column if not more and is_quantity(column, language) else None
