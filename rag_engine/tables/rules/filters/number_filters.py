"""Bare numbers that are conditions: "4 seats", "a rating of 1", "ticket 20561"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.query import RangeFilter, TextFilter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.bare_numbers import BareNumber
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.types import TypedColumn

_OF_NUMBERS: Final = frozenset({"of", "is", "=", "von", "ist", "de", "es", "est", "du"})


def numbered(
    reading: Interpretation, used: list[ColumnMention]
) -> Iterator[tuple[BareNumber, Filter | None]]:
    language = reading.question.language
    for number in reading.numbers:
        mention = next(
            (one for one in reading.columns if reading.question.is_beside(one.end, number.start)), None
        )
        spans = [one for one in reading.titles if reading.question.is_beside(one.end, number.start)]
        spoken = mention.columns if mention is not None else reading.table.columns if spans else ()
        codes = [
            column
            for column in spoken
            if column.kind == "number" and column_names.header(column.name, language).is_code
        ]
        if _counts_rows(reading, number):
            yield number, None
            continue
        if (amount := _amount(reading, number)) is not None:
            mention, column = amount
            used.append(mention)
            yield number, RangeFilter(column=column, low=number.value, high=number.value, includes_high=True)
            continue
        if mention is not None and (named := _unlisted(reading, mention, number)) is not None:
            used.append(mention)
            yield number, named
        if len(codes) != 1:
            continue
        if mention is not None:
            used.append(mention)
        yield number, RangeFilter(column=codes[0], low=number.value, high=number.value, includes_high=True)


def _counts_rows(reading: Interpretation, number: BareNumber) -> bool:
    things = (*reading.columns, *reading.titles)
    is_ranked = reading.has("most", "least") or any(
        one.group in {"superlatives", "ordinals"} for one in reading.signs
    )
    return (
        number.value == reading.table.row_count
        and not is_ranked
        and any(one.start == number.end for one in things)
    )


def _amount(reading: Interpretation, number: BareNumber) -> tuple[ColumnMention, TypedColumn] | None:
    if reading.has("most", "least") or any(
        one.group in {"superlatives", "ordinals"} for one in reading.signs
    ):
        return None
    after = [one for one in reading.columns if one.start == number.end]
    things = (*reading.columns, *reading.values, *reading.titles)
    is_led = not any(one.start == number.end for one in things)
    before = [one for one in reading.columns if is_led and _is_just_before(reading, one.end, number.start)]
    mention = next(iter((*after, *before)), None)
    if mention is None or mention.is_title:
        return None
    column, *more = mention.columns
    fits = not more and column_names.is_quantity(column, reading.question.language)
    return (mention, column) if fits else None


def _is_just_before(reading: Interpretation, end: int, start: int) -> bool:
    return end <= start and all(word.folded in _OF_NUMBERS for word in reading.question.words[end:start])


def _unlisted(reading: Interpretation, mention: ColumnMention, number: BareNumber) -> TextFilter | None:
    column, *more = mention.columns
    if more or column.kind != "text" or column.has_all_values:
        return None
    spoken = reading.question.spoken
    texts = spoken(mention.start, number.end), spoken(number.start, number.end)
    return TextFilter(column=column, texts=texts, listed=False)
