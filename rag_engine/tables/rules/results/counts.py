from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.filters.completeness import check_used, is_near
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.units import UNITS
from rag_engine.tables.rules.mentions.relations import names_counted_rows
from rag_engine.tables.rules.query import Aggregate, Measure, RowList
from rag_engine.tables.rules.refusals import refused
from rag_engine.tables.rules.results import measures
from rag_engine.tables.rules.results.entities import group_columns
from rag_engine.tables.rules.results.single_rows import is_one_row, names_rows_of
from rag_engine.tables.rules.titles import names_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.cell_values import ValueMention
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Function, TableQuery
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn

_AMOUNT: Final = re.compile(r"\d[\d.,]*(?: [^\W\d].*)?")
_PIECES: Final = frozenset({"quantity", "stock", "attendance", "population", "capacity", "person"})
_ROW_COUNTERS: Final = frozenset("条笔")


def counted(reading: Interpretation, stated: Conditions) -> TableQuery:
    groups, rest = group_columns(reading, stated.rest)
    sign = next(sign for sign in reading.signs if sign.name == "count")
    if reading.has("average", "median"):
        return _average_of_counts(reading, stated)
    if not groups and (things := _pieces_of_things(reading, stated, rest)) is not None:
        return things
    noun = next(
        (one for one in rest if one.start >= sign.end and is_near(reading, sign.end, one.start)), None
    )
    numeric = measures.named(reading, rest)
    if noun is None and (reading.question.language == "zh" or sign.end == len(reading.question.words)):
        noun = next((one for one in rest if one not in numeric), None)
    if noun is None and (pieces := _classified(reading, sign)) is not None:
        made = Measure(function="sum", columns=(pieces,))
        check_used(reading, rest, [])
        return Aggregate(table=reading.table, measures=(made,), filters=stated.filters, groups=groups)
    if noun is None and len(numeric) == 1 and (stated.under or _counts_pieces(reading)):
        noun = numeric[0]
    others = [one for one in rest if one is not noun]
    if noun is None and reading.question.is_loose and (found := _counted_things(reading, stated)) is not None:
        check_used(reading, others, [])
        return replace(found, groups=groups) if isinstance(found, Aggregate) else found
    made = count(reading, noun, numeric, stated)
    if reading.has("quantity", group="hints") and made.function != "sum":
        made = Measure(function="sum", columns=measures.measured(reading, stated, numeric)[0][0])
    check_used(reading, others, numeric if made.function == "sum" else [])
    is_doubtful = made.function == "distinct" and not reading.has("different")
    # "How many courses" may mean all that were held, or different ones: both figures are shown.
    rows = (Measure(function="count"),) if is_doubtful else ()
    return Aggregate(table=reading.table, measures=(*rows, made), filters=stated.filters, groups=groups)


def _pieces_of_things(
    reading: Interpretation, stated: Conditions, rest: Sequence[ColumnMention]
) -> TableQuery | None:
    ends = [sign.end for sign in reading.signs if sign.name == "count"]
    counted_values = [one for one in reading.values if reading.question.is_beside(ends[0], one.start)]
    is_adjective = any(
        one.start == value.end for value in counted_values for one in (*reading.titles, *reading.columns)
    )
    pieces = _pieces(reading)
    if len(pieces) != 1 or not counted_values or is_adjective or measures.named(reading, rest):
        return None
    if is_one_row(reading, stated.filters) or not _are_goods(reading, counted_values):
        return None
    check_used(reading, [one for one in rest if not one.is_title], [])
    made = (Measure(function="count"), Measure(function="sum", columns=tuple(pieces)))
    return Aggregate(table=reading.table, measures=made, filters=stated.filters)


def _are_goods(reading: Interpretation, values: Sequence[ValueMention]) -> bool:
    goods = frozenset({"product", "name", "kind", "category"})
    return all(
        column_names.header(column.name, reading.question.language).concepts & goods
        for value in values
        for column, _ in value.choices
    )


def _pieces(reading: Interpretation) -> list[TypedColumn]:
    language = reading.question.language
    return [
        column
        for column in reading.table.columns
        if column_names.adds_up(column, language)
        and _PIECES & column_names.header(column.name, language).concepts
    ]


def _counted_things(reading: Interpretation, stated: Conditions) -> TableQuery | None:
    ends = [sign.end for sign in reading.signs if sign.name == "count"]
    if _counts_rows(reading) or not (stated.values or stated.others) or reading.has("different"):
        return None
    labels = measures.label_columns(reading.table, reading.question.language)
    tells_rows = all(measures.is_unique(reading.table, one) for one in labels) or _asks_how_often(reading)
    if not stated.values:
        made = Aggregate(table=reading.table, measures=(Measure(function="count"),), filters=stated.filters)
        return made if tells_rows else None
    if is_one_row(reading, stated.filters):
        return RowList(table=reading.table, columns=reading.table.columns, filters=stated.filters)
    if not any(reading.question.is_beside(end, value.start) for end in ends for value in reading.values):
        return None
    pieces = _pieces(reading)
    summed = (Measure(function="sum", columns=tuple(pieces)),) if len(pieces) == 1 else ()
    if len(pieces) > 1 or not (pieces or tells_rows):
        return None
    return Aggregate(
        table=reading.table, measures=(Measure(function="count"), *summed), filters=stated.filters
    )


def _asks_how_often(reading: Interpretation) -> bool:
    lexicon, words = reading.question.lexicon, reading.question.words
    return any(
        lexicon.has(word, "often")
        for sign in reading.signs
        if sign.name == "count"
        for word in words[sign.start : sign.end + 1]
    )


def _counts_pieces(reading: Interpretation) -> bool:
    words, lexicon = reading.question.words, reading.question.lexicon
    return any(lexicon.at(words, at, "nouns")[1] == "nouns counted" for at in range(len(words)))


def _average_of_counts(reading: Interpretation, stated: Conditions) -> TableQuery:
    groups, rest = group_columns(reading, stated.rest)
    if all(measures.is_unique(reading.table, group.column) and not group.unit for group in groups):
        groups = ()
    named = measures.named(reading, rest)
    if len(named) != 1:
        raise refused("question", reading.table)
    check_used(reading, rest, named)
    function: Function = "average" if reading.has("average") else "median"
    made = Measure(function=function, columns=measures.measured(reading, stated, named)[0][0])
    return Aggregate(table=reading.table, measures=(made,), filters=stated.filters, groups=groups)


def count(
    reading: Interpretation, noun: ColumnMention | None, numeric: Sequence[ColumnMention], stated: Conditions
) -> Measure:
    rows = Measure(function="count")
    if noun is None:
        if reading.has("different") or not (
            _counts_rows(reading) or names_counted_rows(reading) or (stated.others and _counts_cells(reading))
        ):
            raise refused("question", reading.table)
        return rows
    if measures.is_row_noun(reading, noun) and all(one.kind == "number" for one in noun.columns):
        return rows
    if (
        noun.is_title
        and not noun.share
        and names_rows(reading, noun.start, noun.end)
        and not reading.has("sum")
    ):
        return rows
    if noun in numeric:
        (found, _), *_ = measures.measured(reading, stated, [noun])
        is_summed = reading.has("sum") or _is_unit(reading, noun)
        if not is_summed and not all(
            column_names.adds_up(column, reading.question.language) for column in found
        ):
            raise refused("choice", reading.table, "", [column.name for column in found])
        return Measure(function="sum", columns=found)
    if not reading.has("different") and noun.share < 1 and names_rows(reading, noun.start, noun.end):
        return rows
    column = _one(reading, noun)
    if _holds_amounts(column) and _is_unit(reading, noun):
        raise refused("question", reading.table)
    if measures.is_unique(reading.table, column) and not reading.has("different"):
        return rows
    return Measure(function="distinct", columns=(column,))


def _holds_amounts(column: TypedColumn) -> bool:
    values = column.values
    return all(map(_AMOUNT.fullmatch, values)) and any(" " in value for value in values)


def _is_unit(reading: Interpretation, noun: ColumnMention) -> bool:
    return all(word.folded in UNITS for word in reading.question.words[noun.start : noun.end])


def _counts_rows(reading: Interpretation) -> bool:
    starts = [sign.end for sign in reading.signs if sign.name in {"count", "most", "least"}]
    # "leave days" are days, but contracts end.
    heads = {one.start for one in reading.columns if any(column.kind != "date" for column in one.columns)}
    if any(
        title.end not in heads
        and names_rows(reading, title.start, title.end)
        and any(start <= title.start and is_near(reading, start, title.start) for start in starts)
        for title in reading.titles
    ):
        return True
    if any(
        names_rows(reading, one.start, one.start + 1)
        and any(start <= one.start and is_near(reading, start, one.start) for start in starts)
        for one in reading.columns
    ):
        return True
    words, lexicon = reading.question.words, reading.question.lexicon
    if any(lexicon.at(words, at, "nouns")[1] == "nouns rows" for at in range(len(words))):
        return True
    sign = next((sign for sign in reading.signs if sign.name == "count"), None)
    return sign is not None and (
        words[sign.end - 1].text in _ROW_COUNTERS
        or _counts_named(reading, sign.end)
        or _counts_roles(reading, sign.end)
        or _counts_people(reading, sign.end)
        or _counts_value(reading, sign.end)
        or (sign.end == len(words) and any(names_rows(reading, one.start, one.end) for one in reading.titles))
        or (reading.question.is_loose and _is_last(reading, sign.end) and names_rows_of(reading))
    )


def _classified(reading: Interpretation, sign: Sign) -> TypedColumn | None:
    if reading.question.language != "zh":
        return None
    unit = reading.question.words[sign.end - 1].text
    found = [
        column
        for column in reading.table.columns
        if unit in column.name and unit not in _ROW_COUNTERS and column_names.adds_up(column, "zh")
    ]
    return found[0] if len(found) == 1 else None


def _is_last(reading: Interpretation, start: int) -> bool:
    taken = {at for one in reading.signs if one.name == "exists" for at in range(one.start, one.end)}
    words = reading.question.words
    return start > 2 and all(
        at in taken or reading.question.is_filler(words[at]) for at in range(start, len(words))
    )


def _counts_roles(reading: Interpretation, start: int) -> bool:
    language = reading.question.language
    label = measures.label_columns(reading.table, language)
    of_people = any(
        column_names.header(one.name, language).concepts & {"person", "name"}
        and measures.is_unique(reading.table, one)
        for one in label
    )
    return of_people and any(
        value.exact
        and start <= value.start
        and is_near(reading, start, value.start)
        and any(
            "position" in column_names.header(column.name, language).concepts for column, _ in value.choices
        )
        for value in reading.values
    )


def _counts_people(reading: Interpretation, end: int) -> bool:
    question, language = reading.question, reading.question.language
    said = question.words[end - 1 : end + 2]
    return any(question.lexicon.has(word, "people") for word in said) and any(
        measures.is_unique(reading.table, label)
        and "person" in column_names.header(label.name, language).concepts
        for label in measures.label_columns(reading.table, language)
    )


def _counts_value(reading: Interpretation, start: int) -> bool:
    language = reading.question.language
    labels = measures.label_columns(reading.table, language)
    if not all(measures.is_unique(reading.table, one) for one in labels):
        return False
    if any(
        _PIECES & column_names.header(one.name, language).concepts
        for one in reading.table.columns
        if one.kind == "number"
    ):
        return False
    return any(
        one.exact and one.start >= start and reading.question.is_beside(start, one.start)
        for one in reading.values
    )


def _counts_cells(reading: Interpretation) -> bool:
    ends = [sign.end for sign in reading.signs if sign.name == "count"]
    return any(
        end == one.start and len(measures.named(reading, [one])) == 1
        for one in reading.columns
        for end in ends
    )


def _counts_named(reading: Interpretation, start: int) -> bool:
    first, *others = reading.table.columns
    return (
        first.kind == "text"
        and measures.is_unique(reading.table, first)
        and not any(character.isdigit() for value in first.values for character in value)
        and all(column.kind != "number" for column in others)
        and any(
            value.exact and start <= value.start and is_near(reading, start, value.start)
            for value in reading.values
        )
    )


def _one(reading: Interpretation, mention: ColumnMention) -> TypedColumn:
    if len(mention.columns) == 1:
        return mention.columns[0]
    texts = [column for column in mention.columns if column.kind == "text"]
    unique = [column for column in mention.columns if measures.is_unique(reading.table, column)]
    for narrowed in (unique, texts):
        if len(narrowed) == 1:
            return narrowed[0]
    said = reading.question.spoken(mention.start, mention.end)
    raise refused("choice", reading.table, said, [column.name for column in mention.columns])
