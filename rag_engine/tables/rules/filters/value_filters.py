"""Cells that a question names, as conditions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.filters.links import is_asked, leads_to
from rag_engine.tables.rules.language.question_words import folded
from rag_engine.tables.rules.query import TextFilter
from rag_engine.tables.rules.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.cell_values import ValueMention
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.types import TypedColumn

_GENITIVES: Final = frozenset({"of", "von", "vom", "des", "der", "de", "del", "的"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenValue:
    mention: ValueMention
    column: TypedColumn
    texts: tuple[str, ...]
    negated: bool = False


def text_filters(values: tuple[ChosenValue, ...]) -> list[Filter]:
    """Values of one column are alternatives."""
    found: dict[tuple[str, bool], TextFilter] = {}
    for value in values:
        key = value.column.sql_name, value.negated
        texts = (*(found[key].texts if key in found else ()), *value.texts)
        found[key] = TextFilter(
            column=value.column,
            texts=tuple(dict.fromkeys(texts)),
            listed=value.column.has_all_values,
            negated=value.negated,
        )
    return list(found.values())


def alternatives(reading: Interpretation, values: Sequence[ChosenValue]) -> list[ChosenValue]:
    kept = list(values)
    for one, other in pairwise(values):
        if (
            one.column != other.column
            or set(one.texts) == set(other.texts)
            or _are_listed(reading, one, other)
        ):
            continue
        ranks = [(each.mention.exact, _is_literal(reading, each)) for each in (one, other)]
        if ranks[0] == ranks[1]:
            raise refused("unclear", reading.table, _said(reading, other.mention))
        kept = [each for each in kept if each is not (one if ranks[0] < ranks[1] else other)]
    return kept


def _are_listed(reading: Interpretation, one: ChosenValue, other: ChosenValue) -> bool:
    question = reading.question
    start, end = one.mention.end, other.mention.start
    between = question.text[question.words[start - 1].end : question.words[end].start]
    joined = any(
        sign.name in {"and", "or", "than", "pair"} and start <= sign.start < end for sign in reading.signs
    )
    joined = joined or reading.has("difference", "change", "ratio")
    both = _is_literal(reading, one) and _is_literal(reading, other)
    return joined or both or any(mark in between for mark in ",/;、&+")


def _is_literal(reading: Interpretation, value: ChosenValue) -> bool:
    return folded(_said(reading, value.mention)) in map(folded, value.texts)


def chosen_value(reading: Interpretation, mention: ValueMention, used: list[ColumnMention]) -> ChosenValue:
    choices = _not_asked(reading, mention)
    beside = [
        (column_mention, column, texts)
        for column_mention in _beside(reading, mention)
        for column, texts in choices
        if column in column_mention.columns
    ]
    if beside:
        used.extend(found[0] for found in beside)
        _, column, texts = beside[0]
    elif len(choices) == 1:
        column, texts = choices[0]
    elif len(same := _literal(reading, mention, choices)) == 1:
        column, texts = same[0]
    else:
        raise refused(
            "choice", reading.table, _said(reading, mention), [one.name for one, _ in mention.choices]
        )
    if len(texts) > 1 and not mention.exact and not _is_part_of_each(_said(reading, mention), texts):
        raise refused("choice", reading.table, _said(reading, mention), texts)
    return ChosenValue(mention=mention, column=column, texts=texts, negated=_is_negated(reading, mention))


def _literal(
    reading: Interpretation, mention: ValueMention, choices: Sequence[tuple[TypedColumn, tuple[str, ...]]]
) -> list[tuple[TypedColumn, tuple[str, ...]]]:
    said = folded(_said(reading, mention))
    return [one for one in choices if any(folded(text) == said for text in one[1])]


def _not_asked(
    reading: Interpretation, mention: ValueMention
) -> Sequence[tuple[TypedColumn, tuple[str, ...]]]:
    words = reading.question.words
    asked = [
        column
        for one in reading.columns
        if reading.question.is_beside(one.end, mention.start)
        and any(word.folded in _GENITIVES for word in words[one.end : mention.start])
        for column in one.columns
    ]
    return [one for one in mention.choices if one[0] not in asked] or mention.choices


def _beside(reading: Interpretation, mention: ValueMention) -> Iterator[ColumnMention]:
    for column in reading.columns:
        before = reading.question.is_beside(column.end, mention.start)
        after = reading.question.is_beside(mention.end, column.start)
        if (before or after) and not is_asked(reading, column):
            yield column


def _is_part_of_each(said: str, texts: Sequence[str]) -> bool:
    return all(folded(said) in (folded(part.strip()) for part in text.split(",")) for text in texts)


def _is_negated(reading: Interpretation, mention: ValueMention) -> bool:
    place = mention.start
    for other in sorted(reading.values, key=lambda one: -one.start):
        if other.end <= place and _is_list(reading, other.end, place) and _same_columns(other, mention):
            place = other.start
    return any(
        sign.group == "links" and sign.name == "not" and leads_to(reading, sign, place)
        for sign in reading.signs
    )


def _is_list(reading: Interpretation, end: int, start: int) -> bool:
    joined = {
        at for sign in reading.signs if sign.name in {"and", "or"} for at in range(sign.start, sign.end)
    }
    return end < start and all(at in joined for at in range(end, start))


def _same_columns(one: ValueMention, other: ValueMention) -> bool:
    return bool(
        {column.sql_name for column, _ in one.choices} & {column.sql_name for column, _ in other.choices}
    )


def _said(reading: Interpretation, mention: ValueMention) -> str:
    return reading.question.spoken(mention.start, mention.end)
