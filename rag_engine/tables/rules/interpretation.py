from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from rag_engine.tables.rules.headers import column_names, qualities
from rag_engine.tables.rules.headers.units import unit_of
from rag_engine.tables.rules.headers.worth import is_worth
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions import abbreviations, cell_values, columns, comparisons, periods, roots
from rag_engine.tables.rules.mentions.appositions import without_appositions
from rag_engine.tables.rules.mentions.bare_numbers import BareNumber, bare_numbers
from rag_engine.tables.rules.mentions.column_comparisons import compared_columns, compared_periods
from rag_engine.tables.rules.mentions.compounds import split
from rag_engine.tables.rules.mentions.leftovers import leftovers
from rag_engine.tables.rules.mentions.title_mentions import (
    TitleMention,
    caption_numbers,
    title_mentions,
)
from rag_engine.tables.rules.question import SIGNS, Question, Sign
from rag_engine.tables.rules.signs import (
    is_operation,
    of_groups,
    placed_superlatives,
    within_columns,
    without_numbering,
)
from rag_engine.tables.rules.titles import is_title, title_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.mentions.cell_values import ValueMention
    from rag_engine.tables.rules.mentions.column_comparisons import ColumnComparison
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.mentions.comparisons import Comparison
    from rag_engine.tables.rules.mentions.time_spans import Period, PeriodMention
    from rag_engine.tables.types import TypedColumn, TypedTable

HINTED: Final = {
    "money": frozenset({"price", "revenue", "amount", "cost", "budget", "rent", "tax"}),
    "quantity": frozenset({"quantity"}),
    "pay": frozenset({"pay"}),
    "duration": frozenset({"duration", "hours"}),
    "weight": frozenset({"weight"}),
    "distance": frozenset({"distance"}),
}
"""A verb is about columns of these."""
_Mention = TypeVar(
    "_Mention",
    "ValueMention",
    "ColumnMention",
    "PeriodMention",
    "Comparison",
    "ColumnComparison",
    "Sign",
    "BareNumber",
    "TitleMention",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpretation:
    question: Question
    table: TypedTable
    values: tuple[ValueMention, ...]
    columns: tuple[ColumnMention, ...]
    contrasts: tuple[ColumnComparison, ...]
    periods: tuple[PeriodMention, ...]
    comparisons: tuple[Comparison, ...]
    signs: tuple[Sign, ...]
    numbers: tuple[BareNumber, ...]
    titles: tuple[TitleMention, ...]
    leftovers: tuple[tuple[int, int], ...]
    doubtful: tuple[TypedColumn, ...] = ()
    """The day of shipping for "shipped"."""

    @property
    def is_direct(self) -> bool:
        """By a column, a value or the title in the table's own words."""
        exact = any(value.exact for value in self.values)
        return exact or bool(self.titles) or any(one.share or one.is_title for one in self.columns)

    @property
    def is_titled(self) -> bool:
        return bool(self.titles) or any(column.is_title for column in self.columns)

    @property
    def evidence(self) -> float:
        exact = sum(3.0 if value.exact else 1.0 for value in self.values)
        named = sum(map(self._weight, self.columns))
        hinted = sum(2.0 for sign in self.signs if sign.group == "hints" and self._fits(sign.name))
        units = {unit_of(column) for column in self.table.columns}
        named += sum(2.0 for one in self.comparisons if one.unit and one.unit in units)
        return exact + named + hinted + sum(2.0 if one.is_literal else 1.0 for one in self.titles)

    @property
    def specific(self) -> float:
        """Without columns such as "Total"."""
        return self.evidence - sum(self._weight(one) for one in self.columns if not self.is_specific(one))

    def is_specific(self, column: ColumnMention) -> bool:
        said = self.question.words[column.start : column.end]
        return not all(self.question.lexicon.has(word, "operations") for word in said)

    def _weight(self, column: ColumnMention) -> float:
        if column.share:
            return 3 * column.share + (column.end - column.start - 1) / 4
        return 1.5

    def _fits(self, hint: str) -> bool:
        return bool(columns.of_concepts(self.table, HINTED[hint], self.question.language))

    def has(self, *names: str, group: str = "operations") -> bool:
        return any(sign.group == group and sign.name in names for sign in self.signs)


class _Claims:
    def __init__(self, count: int) -> None:
        self.free = [True] * count

    def take(self, found: Iterable[_Mention]) -> tuple[_Mention, ...]:
        taken = tuple(found)
        for mention in taken:
            self.free[mention.start : mention.end] = [False] * (mention.end - mention.start)
        return taken


def read(question: Question, table: TypedTable) -> Interpretation:
    """The surest first; no word has two."""
    question = split(question, table)
    words, language = question.words, question.language
    claims = _Claims(len(words))
    long = claims.take(
        mention
        for mention in cell_values.whole(words, claims.free, table, language, question.is_common)
        if mention.end - mention.start > 1 and not _is_timed(words[mention.start : mention.end])
    )
    captioned = claims.take(caption_numbers(question, table, claims.free))
    compared = claims.take(comparisons.compared(words, claims.free, question.lexicon, language))
    dated = claims.take(periods.stated(words, question.lexicon, claims.free))
    short, named, doubtful = _values_and_columns(question, table, claims, has_periods=bool(dated))
    claims.take(short)
    claims.take(named)
    contrasts = claims.take(compared_columns(question, claims.free, table, named))
    paired = claims.take(compared_periods(question, claims.free, table, dated, named))
    signs = _signs(question, claims, named, contrasts)
    titled = title_words(table, language)
    others, hints = _otherwise_named(question, table, claims, named, [one.end for one in compared])
    titles = captioned + claims.take(title_mentions(words, claims.free, table, titled, language))
    partial = claims.take(cell_values.parts(words, claims.free, table, language))
    found = Interpretation(
        question=question,
        table=table,
        values=_in_order(long, short, partial),
        columns=_titled_columns(words, titled, _in_order(named, others)),
        contrasts=(*contrasts, *paired),
        periods=_compared_periods(() if paired else dated, signs),
        comparisons=compared,
        signs=_counting(
            question, table, _in_order(signs, () if paired else hints), _in_order(named, others), titles
        ),
        numbers=claims.take(bare_numbers(words, claims.free, language)),
        titles=titles,
        leftovers=(),
        doubtful=doubtful,
    )
    return replace(found, signs=without_numbering(found), leftovers=_unread(found, claims, named))


def _titled_columns(
    words: Sequence[QuestionWord], titled: frozenset[str], found: Sequence[ColumnMention]
) -> tuple[ColumnMention, ...]:
    return tuple(replace(one, is_title=is_title(words[one.start : one.end], titled)) for one in found)


def _unread(
    reading: Interpretation, claims: _Claims, named: Sequence[ColumnMention]
) -> tuple[tuple[int, int], ...]:
    language = reading.question.language
    bracketed = {
        word
        for one in reading.columns
        for column in one.columns
        for word in column_names.bracketed(column.name, language)
    }
    free = [
        is_free and word.folded not in bracketed and not is_worth(word, reading.table, language)
        for word, is_free in zip(
            reading.question.words,
            without_appositions(reading.question.words, claims.free, named),
            strict=True,
        )
    ]
    found = leftovers(
        reading.question,
        free,
        signs=reading.signs,
        things={one.start for one in (*reading.columns, *reading.titles)},
        headers={word.folded for one in reading.table.columns for word in header_words(one.name, language)},
        values=reading.values,
        has_periods=bool(reading.periods),
    )
    return tuple(found)


def _signs(
    question: Question,
    claims: _Claims,
    named: Sequence[ColumnMention],
    contrasts: Sequence[ColumnComparison],
) -> tuple[Sign, ...]:
    sides = {side for one in contrasts for side in one.sides}
    named = [one for one in named if one not in sides]
    placed = claims.take(placed_superlatives(question, claims.free))
    signs = (*placed, *claims.take(of_groups(question, claims.free, *SIGNS)))
    return signs if any(map(is_operation, signs)) else (*signs, *within_columns(question, named))


def _counting(
    question: Question,
    table: TypedTable,
    signs: Sequence[Sign],
    named: Sequence[ColumnMention],
    titles: Sequence[TitleMention],
) -> tuple[Sign, ...]:
    if question.language not in {"zh", "fr"} or any(sign.name == "count" for sign in signs):
        return tuple(signs)
    things = [one.start for one in titles]
    things += [
        one.start
        for one in named
        if not any(column_names.is_quantity(column, question.language) for column in one.columns)
    ]
    if question.language == "fr":
        is_hinted = any(sign.group == "hints" for sign in signs)
        things = [len(question.words)] if things and not is_hinted else []
    return tuple(
        replace(sign, name="count") if sign.name == "much" and sign.end in things else sign for sign in signs
    )


def _compared_periods(dated: Sequence[PeriodMention], signs: Sequence[Sign]) -> tuple[PeriodMention, ...]:
    if not any(sign.name == "change" for sign in signs):
        return tuple(dated)
    return tuple(part for one in dated for part in (one.parts or (one,)))


def _otherwise_named(
    question: Question,
    table: TypedTable,
    claims: _Claims,
    named: Sequence[ColumnMention],
    numbers_end: Sequence[int],
) -> tuple[tuple[ColumnMention, ...], tuple[Sign, ...]]:
    words, language = question.words, question.language
    found = (
        *claims.take(columns.united(words, claims.free, table, language, numbers_end)),
        *claims.take(columns.of_units(words, claims.free, table)),
        *claims.take(columns.meant(words, claims.free, table, language, of_money=question.is_loose)),
    )
    hints = claims.take(of_groups(question, claims.free, "hints"))
    found += (
        *claims.take(roots.rooted(words, claims.free, table, language)),
        *claims.take(abbreviations.codes(words, claims.free, table, language)),
        *claims.take(abbreviations.abbreviated(words, claims.free, table, language, question.is_common)),
        *_measured(question, table, named),
    )
    return tuple(_beside_name(one, named) for one in found), hints


def _beside_name(mention: ColumnMention, named: Sequence[ColumnMention]) -> ColumnMention:
    own = [
        one.columns[0]
        for one in named
        if one.end == mention.start and len(one.columns) == 1 and one.columns[0] in mention.columns
    ]
    return replace(mention, columns=tuple(own)) if own and len(mention.columns) > 1 else mention


def _measured(
    question: Question, table: TypedTable, named: Sequence[ColumnMention]
) -> Iterator[ColumnMention]:
    if any(column.kind == "number" for one in named for column in one.columns):
        return
    everything = [True] * len(question.words)
    for sign in of_groups(question, everything, "qualities"):
        found = qualities.columns_for(table, sign.name, question.language)
        if found:
            yield columns.ColumnMention(start=sign.start, end=sign.end, columns=found, share=0.0)


def _in_order(*found: Sequence[_Mention]) -> tuple[_Mention, ...]:
    return tuple(sorted((one for each in found for one in each), key=lambda one: one.start))


def title_periods(table: TypedTable, language: str) -> list[Period]:
    return [
        period
        for text in (table.title, table.caption)
        for _, _, period in periods.within(header_words(text, language))
    ]


def _values_and_columns(
    question: Question, table: TypedTable, claims: _Claims, *, has_periods: bool
) -> tuple[list[ValueMention], list[ColumnMention], tuple[TypedColumn, ...]]:
    words, language = question.words, question.language
    values = cell_values.whole(words, claims.free, table, language, question.is_no_value)
    named = columns.mentioned(words, claims.free, table, language, question.is_common, question.is_hint)
    values = [value for value in values if not _is_date_header(question, table, value)]
    phrases = [one for one in columns.meant(words, claims.free, table, language) if one.end - one.start > 1]
    named += [
        one for one in phrases if not any(one.start < each.end and each.start < one.end for each in named)
    ]
    asks_when = any(sign.name == "when" for sign in of_groups(question, claims.free, "asked"))
    dated = {value: column for value in values for column in _dates(question, table, value)}
    if asks_when and dated:
        values = [value for value in values if value not in dated]
        dated = {}
    is_state = not (has_periods or asks_when)
    kept = [
        value
        for value in values
        if not any(
            _overlap(value, column)
            and _is_rather_column(question, value, column)
            and not (is_state and value.exact and _is_date(column, value))
            for column in named
        )
    ]
    named = [column for column in named if not any(_overlap(value, column) for value in kept)]
    return kept, named, tuple(dict.fromkeys(dated.values()))


def _dates(question: Question, table: TypedTable, value: ValueMention) -> list[TypedColumn]:
    within = [value.start <= at < value.end for at in range(len(question.words))]
    language = question.language
    found = [
        *columns.mentioned(question.words, within, table, language, question.is_common, question.is_hint),
        *columns.meant(question.words, within, table, language),
    ]
    return [column for one in found for column in one.columns if column.kind == "date"]


def _is_date(mention: ColumnMention, value: ValueMention) -> bool:
    is_one_word = (mention.start, mention.end) == (value.start, value.end)
    return is_one_word and all(column.kind == "date" for column in mention.columns)


def _is_date_header(question: Question, table: TypedTable, value: ValueMention) -> bool:
    said = [word.folded for word in question.words[value.start : value.end]]
    cells = [
        [word.folded for word in header_words(text, question.language)]
        for _, texts in value.choices
        for text in texts
    ]
    return said not in cells and any(
        said == [word.folded for word in header_words(column.name, question.language)]
        for column in table.columns
        if column.kind == "date"
    )


def _is_rather_column(question: Question, value: ValueMention, column: ColumnMention) -> bool:
    lengths = column.end - column.start, value.end - value.start
    if lengths[0] != lengths[1]:
        return lengths[0] > lengths[1]
    said = question.words[value.start]
    heads = {word.folded for one in column.columns for word in header_words(one.name, question.language)}
    if value.exact and said.folded not in heads:
        return False  # "open", of a status beside "Opened"
    is_name = said.text[0].isupper() and value.start > 0 and question.language in {"en", "es"}
    return column.share == 1 and not is_name


def _is_timed(said: Sequence[QuestionWord]) -> bool:
    return periods.whole(said) is not None


def _overlap(one: ValueMention, other: ColumnMention) -> bool:
    return one.start < other.end and other.start < one.end
