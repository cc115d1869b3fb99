"""What a stock is worth: quantities times prices, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.filters.completeness import check_used
from rag_engine.tables.rules.headers.worth import is_worth, stock_and_price
from rag_engine.tables.rules.query import Aggregate, Measure
from rag_engine.tables.rules.results.entities import group_columns

if TYPE_CHECKING:
    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.types import TypedColumn

_TIMES: Final = frozenset({"times", "multiplied", "mal", "por", "fois", "x", "×"})
_OTHER: Final = ("average", "median", "share", "difference", "change", "ratio", "most", "least", "other")


def product(reading: Interpretation, stated: Conditions) -> Aggregate | None:
    """Raises `Unanswered`."""
    if reading.has(*_OTHER) or stated.under or any(sign.group == "superlatives" for sign in reading.signs):
        return None
    pair = _multiplied(reading)
    if pair is None and any(
        is_worth(word, reading.table, reading.question.language) for word in reading.question.words
    ):
        pair = stock_and_price(reading.table, reading.question.language)
    if pair is None:
        return None
    groups, rest = group_columns(reading, stated.rest)
    others = [one for one in rest if not set(one.columns) <= set(pair) and not one.is_title]
    check_used(reading, others, [])
    made = Measure(function="sum", columns=pair, is_product=True)
    return Aggregate(table=reading.table, measures=(made,), filters=stated.filters, groups=groups)


def _multiplied(reading: Interpretation) -> tuple[TypedColumn, ...] | None:
    words = reading.question.words
    for at, word in enumerate(words):
        if word.folded not in _TIMES:
            continue
        before = [one for one in reading.columns if one.end == at and len(one.columns) == 1]
        after = [one for one in reading.columns if one.start == at + 1 and len(one.columns) == 1]
        found = [one.columns[0] for one in (*before[:1], *after[:1])]
        if len(found) == 2 and all(one.kind == "number" for one in found):
            return tuple(found)
    return None
