from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.question import Question, Sign

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.types import TypedColumn

_EMBEDDED: Final = frozenset({"sum", "average", "median", "most", "least"})


def placed_superlatives(question: Question, free: Sequence[bool]) -> Iterator[Sign]:
    """ "第二高" is "第二" and "最高"."""
    words = question.words
    for at in range(len(words) - 2):
        if words[at].text != "第" or not all(free[at : at + 3]):
            continue
        end, place = question.lexicon.at(words, at, "ordinals")
        highest = (replace(words[at], text="最", folded="最"), *words[end:])
        after, meaning = question.lexicon.at(highest, 0, "superlatives", "operations")
        if place and meaning:
            group, _, name = meaning.partition(" ")
            yield Sign(start=at, end=end, group="ordinals", name=place.removeprefix("ordinals "))
            yield Sign(start=end, end=end + after - 1, group=group, name=name)


def is_operation(sign: Sign) -> bool:
    return sign.group in {"operations", "superlatives"} and sign.name != "much"


def within_columns(question: Question, named: Sequence[ColumnMention]) -> Iterator[Sign]:
    for mention in named:
        inside = [mention.start <= at < mention.end for at in range(len(question.words))]
        yield from (sign for sign in of_groups(question, inside, "operations") if sign.name in _EMBEDDED)


def of_groups(question: Question, free: Sequence[bool], *groups: str) -> list[Sign]:
    found: list[Sign] = []
    at = 0
    while at < len(question.words):
        end, meaning = question.lexicon.at(question.words, at, *groups, free=free) if free[at] else (at, "")
        if meaning and question.lexicon.at(question.words, at, "filler", "periods")[0] <= end:
            group, _, name = meaning.partition(" ")
            found.append(Sign(start=at, end=end, group=group, name=name))
            at = end
        else:
            at += 1
    return found


def without_numbering(reading: Interpretation) -> tuple[Sign, ...]:
    """ "Number of member Ana"."""
    rows = {
        column
        for value in reading.values
        for column, _ in value.choices
        if value.exact
        and column.has_all_values
        and len(column.values) == column.filled == reading.table.row_count
    }
    codes = [one for one in reading.columns if all(_is_code(column, reading) for column in one.columns)]
    words = reading.question.words
    return tuple(
        sign
        for sign in reading.signs
        if not (
            rows
            and sign.name == "count"
            and any(word.folded in column_names.CODES for word in words[sign.start : sign.end])
            and any(reading.question.is_beside(sign.end, one.start) for one in codes)
        )
    )


def _is_code(column: TypedColumn, reading: Interpretation) -> bool:
    return column_names.header(column.name, reading.question.language).is_code
