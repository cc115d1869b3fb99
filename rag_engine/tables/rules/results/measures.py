"""What is summed, compared or ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.heads import names_head
from rag_engine.tables.rules.headers.qualities import UNITS_OF
from rag_engine.tables.rules.headers.units import CURRENCIES, UNITS, unit_of
from rag_engine.tables.rules.interpretation import HINTED
from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.query import FOLDING
from rag_engine.tables.rules.refusals import no_column, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.filters.conditions import Conditions
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn, TypedTable

_KINDS_OF_MONEY: Final = frozenset({"revenue", "cost", "budget", "profit", "tax", "rent", "pay"})
_SPENT: Final = frozenset({"cost", "revenue"})
_MOST_NAMES: Final = 3
_PAIR: Final = 2
MEASURES: Final = frozenset(
    [
        "price",
        "revenue",
        "amount",
        "cost",
        "budget",
        "stock",
        "pay",
        "hours",
        "duration",
        "age",
        "weight",
        "height",
        "rate",
        "population",
        "profit",
        "capacity",
        "rent",
        "tax",
        "distance",
        "size",
        "score",
        "attendance",
    ]
)
_MUCH: Final = frozenset({"how much", "wie viel", "wieviel", "cuanto", "combien"})
_COPULAS: Final = frozenset({"is", "are", "was", "were", "for", "ist", "sind", "war", "waren", "es", "son", "vale", "valen", "est", "sont", "coute", "coutent"})  # fmt: skip
_WHOLE: Final = frozenset(
    {"total", "totals", "sum", "summe", "gesamt", "insgesamt", "suma", "合计", "总计", "overall"}
)


def measured(
    reading: Interpretation, stated: Conditions, rest: Sequence[ColumnMention]
) -> list[tuple[tuple[TypedColumn, ...], ColumnMention | None]]:
    """With the words for it. Raises `Unanswered`."""
    found: list[tuple[tuple[TypedColumn, ...], ColumnMention | None]] = []
    things = [mention for mention in rest if not is_row_noun(reading, mention)]
    if not named(reading, rest) and reading.has(*FOLDING, "much") and not reading.has("count"):
        things = list(rest)
    for mention in things:
        if _is_unit_of(reading, mention, things):
            continue
        numeric = tuple(column for column in mention.columns if _is_measure(reading, column))
        if numeric:
            found.append((_within_period(reading, stated, numeric, mention), mention))
    different = {columns_: one for one in reversed(found) for columns_ in [one[0]]}
    return list(reversed(different.values())) or _unnamed(reading, stated)


def _unnamed(
    reading: Interpretation, stated: Conditions
) -> list[tuple[tuple[TypedColumn, ...], ColumnMention | None]]:
    ends = [sign.end for sign in reading.signs if sign.name == "much"]
    is_of_thing = any(reading.question.is_beside(end, one.start) for end in ends for one in reading.values)
    if ends and not is_of_thing and reading.has("quantity", group="hints"):
        adds = [one for one in reading.table.columns if column_names.adds_up(one, reading.question.language)]
        found = [
            one
            for one in adds
            if _fits_hint(reading, "quantity", one) or is_money_column(one, reading.question.language)
        ]
        if len(found) == _PAIR:
            return [((one,), None) for one in found]
    return [(_only(reading, stated), None)]


def named(reading: Interpretation, rest: Sequence[ColumnMention]) -> list[ColumnMention]:
    found = [
        mention
        for mention in rest
        if any(_is_measure(reading, column) for column in mention.columns)
        and not is_row_noun(reading, mention)
    ]
    return [one for one in found if not _is_unit_of(reading, one, found)]


def adds_up(reading: Interpretation, column: TypedColumn) -> bool:
    """Prices do, of what was bought row by row."""
    language = reading.question.language
    if column_names.adds_up(column, language):
        return True
    words = reading.question.words
    spends = any(sign.group == "hints" and sign.name == "money" for sign in reading.signs) or any(
        concepts_at(words, at)[1] & _SPENT for at in range(len(words))
    )
    counts = any(
        column_names.header(one.name, language).concepts & column_names.PIECES
        for one in reading.table.columns
    )
    is_price = column_names.header(column.name, language).concepts == frozenset({"price"})
    return spends and is_price and not counts and unit_of(column) in CURRENCIES


def units_said(reading: Interpretation, rest: Sequence[ColumnMention]) -> list[ColumnMention]:
    return [one for one in rest if _is_unit_of(reading, one, rest)]


def _is_unit_of(reading: Interpretation, mention: ColumnMention, found: Sequence[ColumnMention]) -> bool:
    said = reading.question.words[mention.start : mention.end]
    is_unit = mention.share < 1 and all(word.folded in UNITS for word in said)
    return is_unit and any(one.share == 1 and one.columns != mention.columns for one in found)


def label_columns(table: TypedTable, language: str) -> tuple[TypedColumn, ...]:
    """What tells the rows from each other."""
    unique = [column for column in table.columns if _is_text(column) and is_unique(table, column)]
    codes = [column for column in table.columns if _is_code(column, language) and is_unique(table, column)]
    texts = [column for column in table.columns if column.kind == "text"]
    return tuple((unique or codes or texts)[:1])


def _is_text(column: TypedColumn) -> bool:
    return column.kind == "text" and not column.is_number_read_as_text


def _is_code(column: TypedColumn, language: str) -> bool:
    return column.is_number_read_as_text or column_names.header(column.name, language).is_code


def naming_columns(table: TypedTable, language: str) -> tuple[TypedColumn, ...]:
    unique = [column for column in table.columns if _is_text(column) and is_unique(table, column)]
    return tuple(unique[:_MOST_NAMES]) or label_columns(table, language)


def with_names(table: TypedTable, column: TypedColumn, language: str) -> tuple[TypedColumn, ...]:
    """A code with the name of its row."""
    if not is_unique(table, column) or not any(sign.isdigit() for value in column.values for sign in value):
        return (column,)
    names = [one for one in naming_columns(table, language) if not any(map(str.isdigit, "".join(one.values)))]
    texts = [one for one in naming_columns(table, language) if one != column and one.kind == "text"]
    beside = (names or texts)[:1] or [one for one in table.columns if one.kind == "text" and one != column][
        :1
    ]
    return (column, *beside)


def shown_names(reading: Interpretation) -> tuple[TypedColumn, ...]:
    label = label_columns(reading.table, reading.question.language)
    is_named = bool(reading.titles) or any(one.columns == label for one in reading.columns)
    is_code = any(character.isdigit() for one in label for value in one.values for character in value)
    return label if is_named and not is_code else naming_columns(reading.table, reading.question.language)


def is_row_noun(reading: Interpretation, mention: ColumnMention) -> bool:
    said = reading.question.words[mention.start : mention.end]
    language = reading.question.language
    if (
        language == "zh"
        or not 0 < mention.share < 1
        or (len(mention.columns) > 1 and all(column.kind == "number" for column in mention.columns))
        or any(names_head(said, column, language) for column in mention.columns)
        or any(word.folded in UNITS for word in said)
        or any(_is_said_whole(reading, column) for column in mention.columns)
    ):
        return False
    meant = {name for at in range(len(said)) for name in concepts_at(said, at)[1]}
    return not meant & MEASURES


def _is_said_whole(reading: Interpretation, column: TypedColumn) -> bool:
    read = column_names.header(column.name, reading.question.language)
    verbs = {
        form
        for sign in reading.signs
        if sign.group == "hints"
        for word in reading.question.words[sign.start : sign.end]
        for form in word.forms
    }
    return any(not read.words[at].forms.isdisjoint(verbs) for at in read.required)


def is_unique(table: TypedTable, column: TypedColumn) -> bool:
    return column.has_all_values and len(column.values) == column.filled == table.row_count


def _is_measure(reading: Interpretation, column: TypedColumn) -> bool:
    return column_names.is_quantity(column, reading.question.language)


def _within_period(
    reading: Interpretation, stated: Conditions, numeric: tuple[TypedColumn, ...], mention: ColumnMention
) -> tuple[TypedColumn, ...]:
    if stated.under:
        numeric = tuple(column for column in numeric if column in stated.under)
    timed = column_names.timed_columns(reading.table, reading.question.language)
    if (
        numeric
        and all(column in timed for column in numeric)
        and (stated.under or _is_one_name(reading, numeric))
    ):
        return numeric
    if len(numeric) == 1:
        return numeric
    said = reading.question.spoken(mention.start, mention.end)
    raise refused("choice", reading.table, said, [column.name for column in numeric or mention.columns])


def _only(reading: Interpretation, stated: Conditions) -> tuple[TypedColumn, ...]:
    language = reading.question.language
    timed = column_names.timed_columns(reading.table, language)
    if stated.under:
        if _is_one_name(reading, stated.under):
            return stated.under
        raise refused("choice", reading.table, "", [column.name for column in stated.under])
    possible = [
        column for column in reading.table.columns if _is_measure(reading, column) and column not in timed
    ]
    whole = [column for column in possible if _is_whole(column, language)]
    if timed:
        if len(whole) == 1 and len(possible) == 1:
            return tuple(whole)
        if not possible and _is_one_name(reading, timed) and _is_one_length(timed, language):
            return timed
        raise refused("choice", reading.table, "", [column.name for column in (*possible, *timed)])
    possible = all_of = _hinted(reading, possible)
    if len(possible) > 1:
        possible = [column for column in possible if column_names.adds_up(column, language)] or possible
    if len(possible) > 1:
        possible = [column for column in possible if is_money_column(column, language)] or possible
    if len(possible) > 1:
        possible = [column for column in possible if not _is_beside_amount(column, language)] or possible
    if len(all_of) > 1 and (said := next(filter(None, (_other_money(reading, one) for one in possible)), "")):
        raise refused("choice", reading.table, said, [column.name for column in all_of])
    if len(possible) == 1:
        return (possible[0],)
    if not possible:
        raise refused("question", reading.table)
    raise refused("choice", reading.table, "", [column.name for column in possible])


def _hinted(reading: Interpretation, possible: list[TypedColumn]) -> list[TypedColumn]:
    is_money = any(asks_for_money(reading, sign) for sign in reading.signs)
    for sign in reading.signs:
        if sign.group != "hints" and not asks_for_money(reading, sign):
            continue
        if is_money and sign.name == "quantity":
            continue
        hint = sign.name if sign.group == "hints" else "money"
        fitting = [column for column in possible if _fits_hint(reading, hint, column)]
        if hint == "money":
            fitting = [column for column in fitting if _is_actual(reading, column)]
        if not fitting:
            raise no_column(reading.table, reading.question.spoken(sign.start, sign.end))
        possible = fitting
    return possible


def _is_actual(reading: Interpretation, column: TypedColumn) -> bool:
    said = {
        name
        for at in range(len(reading.question.words))
        for name in concepts_at(reading.question.words, at)[1]
    }
    return (
        "budget" in said
        or "budget" not in column_names.header(column.name, reading.question.language).concepts
    )


def asks_for_money(reading: Interpretation, sign: Sign) -> bool:
    question = reading.question
    said = question.words[sign.start : sign.end]
    return sign.name == "much" and (
        any(question.lexicon.at(said, at, "money")[1] for at in range(len(said)))
        or _asks_for_price(reading, sign)
    )


def _asks_for_price(reading: Interpretation, sign: Sign) -> bool:
    question = reading.question
    said = " ".join(word.folded for word in question.words[sign.start : sign.end])
    return (
        said in _MUCH
        and sign.end < len(question.words)
        and question.words[sign.end].folded in _COPULAS
        and any(value.exact and question.is_beside(sign.end, value.start) for value in reading.values)
    )


def fitting_hints(reading: Interpretation, possible: Sequence[TypedColumn]) -> list[TypedColumn]:
    """Those that every verb may be about."""
    hints = [sign.name for sign in reading.signs if sign.group == "hints"]
    return [column for column in possible if all(_fits_hint(reading, name, column) for name in hints)]


def _fits_hint(reading: Interpretation, hint: str, column: TypedColumn) -> bool:
    if HINTED[hint] & column_names.header(column.name, reading.question.language).concepts:
        return True
    return unit_of(column) in UNITS_OF.get(hint, ())


def is_money_column(column: TypedColumn, language: str) -> bool:
    concepts = column_names.header(column.name, language).concepts
    return unit_of(column) in CURRENCIES or bool(concepts & (HINTED["money"] - {"price"}))


def _other_money(reading: Interpretation, column: TypedColumn) -> str:
    own = column_names.header(column.name, reading.question.language).concepts & _KINDS_OF_MONEY
    for title in reading.titles:
        said = concepts_at(reading.question.words, title.start)[1] & _KINDS_OF_MONEY
        if said and own and said.isdisjoint(own):
            return reading.question.spoken(title.start, title.end)
    return ""


def _is_beside_amount(column: TypedColumn, language: str) -> bool:
    return "tax" in column_names.header(column.name, language).concepts or column_names.is_limit(
        column.name, language
    )


def _is_whole(column: TypedColumn, language: str) -> bool:
    return all(word.folded in _WHOLE for word in column_names.header(column.name, language).words)


def _is_one_name(reading: Interpretation, found: Sequence[TypedColumn]) -> bool:
    language = reading.question.language
    names = set[tuple[str, ...]]()
    for column in found:
        read = column_names.header(column.name, language)
        names.add(tuple(read.words[at].folded for at in sorted(read.required)))
    return len(names) == 1


def _is_one_length(found: Sequence[TypedColumn], language: str) -> bool:
    lengths = {
        len(period.months)
        for column in found
        if (period := column_names.header(column.name, language).period) is not None
    }
    return len(lengths) == 1
