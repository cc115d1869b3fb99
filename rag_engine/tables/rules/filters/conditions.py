from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.filters.absence_filters import lacking
from rag_engine.tables.rules.filters.comparison_filters import compared
from rag_engine.tables.rules.language.question_words import folded
from rag_engine.tables.rules.mentions import column_names
from rag_engine.tables.rules.mentions.heads import names_head
from rag_engine.tables.rules.query import AnyFilter, EmptyFilter, RangeFilter, TextFilter
from rag_engine.tables.rules.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.filters.period_filters import PlacedPeriod
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.bare_numbers import BareNumber
    from rag_engine.tables.rules.mentions.cell_values import ValueMention
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.mentions.time_spans import PeriodMention
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn

_TRUE: Final = 1
_OF_NUMBERS: Final = frozenset({"of", "is", "=", "von", "ist", "de", "es", "est", "du"})
_HALF: Final = 0.5
_PAIR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenValue:
    mention: ValueMention
    column: TypedColumn
    texts: tuple[str, ...]
    negated: bool = False


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
    values = _alternatives(reading, [_chosen(reading, mention, used) for mention in reading.values])
    others = [*lacking(reading, used), *compared(reading, used)]
    others += _truths(reading, used)
    others += _states(reading, used)
    others += _undated(reading, used)
    others += _had(reading, used)
    others += _pending(reading, used)
    _check_links(reading, values, used)
    numbered = list(_numbered(reading, used))
    others += [one for _, one in numbered if one is not None]
    periods = [_placed(reading, mention, used) for mention in reading.periods]
    if len({placed.by.sql_name for placed in periods if placed.by is not None}) > 1:
        raise refused("choice", reading.table, "", [placed.by.name for placed in periods if placed.by])
    _check_periods(reading, periods)
    rest = tuple(mention for mention in reading.columns if mention not in used)
    numbers = tuple(one for one in reading.numbers if one not in [number for number, _ in numbered])
    return Conditions(
        values=tuple(values), periods=tuple(periods), others=tuple(others), rest=rest, numbers=numbers
    )


def _alternatives(reading: Interpretation, values: Sequence[ChosenValue]) -> list[ChosenValue]:
    """Two values of one column are alternatives only where they are listed; else a literal one is meant. Raises `Unanswered`."""
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


def _check_periods(reading: Interpretation, periods: Sequence[PlacedPeriod]) -> None:
    """Two periods of one column are alternatives only where they are listed."""
    filtered = [one for one in periods if one.filters]
    if len(filtered) < _PAIR or reading.has("difference", "change", "ratio", "and", "or", "than", "pair"):
        return
    words, text = reading.question.words, reading.question.text
    for one, other in pairwise(reading.periods):
        between = text[words[one.end - 1].end : words[other.start].start]
        joined = any(sign.group == "links" and one.end <= sign.start < other.start for sign in reading.signs)
        if not joined and not any(mark in between for mark in ",/;、&+"):
            raise refused("question", reading.table)


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


def period_alternatives(periods: tuple[PlacedPeriod, ...]) -> tuple[Filter, ...]:
    found = tuple(dict.fromkeys(placed.filters for placed in periods if placed.filters))
    return found[0] if len(found) == 1 else (AnyFilter(alternatives=found),) if found else ()


def _chosen(reading: Interpretation, mention: ValueMention, used: list[ColumnMention]) -> ChosenValue:
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


def _is_part_of_each(said: str, texts: Sequence[str]) -> bool:
    """ "China" of "Beijing, China" and "Shanghai, China"."""
    return all(folded(said) in (folded(part.strip()) for part in text.split(",")) for text in texts)


def _literal(
    reading: Interpretation, mention: ValueMention, choices: Sequence[tuple[TypedColumn, tuple[str, ...]]]
) -> list[tuple[TypedColumn, tuple[str, ...]]]:
    said = folded(_said(reading, mention))
    return [one for one in choices if any(folded(text) == said for text in one[1])]


def _not_asked(
    reading: Interpretation, mention: ValueMention
) -> Sequence[tuple[TypedColumn, tuple[str, ...]]]:
    """ "The mentor of Karl Ubo" is another's."""
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
        if (before or after) and not _is_asked(reading, column):
            yield column


_GENITIVES: Final = frozenset({"of", "von", "vom", "des", "der", "de", "del", "的"})
_ASKING: Final = frozenset(
    {("groups", "per"), ("asked", "which"), ("operations", "count"), ("operations", "different")}
)


def _is_asked(
    reading: Interpretation, column: ColumnMention, *, asking: frozenset[tuple[str, str]] = _ASKING
) -> bool:
    return any(sign.end == column.start and (sign.group, sign.name) in asking for sign in reading.signs)


def _is_negated(reading: Interpretation, mention: ValueMention) -> bool:
    place = mention.start
    for other in sorted(reading.values, key=lambda one: -one.start):
        if other.end <= place and _is_list(reading, other.end, place) and _same_columns(other, mention):
            place = other.start
    return any(
        sign.group == "links" and sign.name == "not" and _leads_to(reading, sign, place)
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


def _leads_to(reading: Interpretation, sign: Sign, place: int) -> bool:
    named = {at for mention in reading.columns for at in range(mention.start, mention.end)}
    words = reading.question.words
    return sign.end <= place and all(
        at in named or reading.question.lexicon.has(words[at], "filler") for at in range(sign.end, place)
    )


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
        negated = any(
            sign.name == "not" and _leads_to(reading, sign, mention.start) for sign in reading.signs
        )
        if before in _COPULAS or negated:
            used.append(mention)
            yield EmptyFilter(column=column, negated=not negated)


def _may_be_dated(reading: Interpretation, mention: ColumnMention) -> bool:
    """A period that no other column of dates leads is about this one."""
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
        negated = any(
            sign.name == "not" and _leads_to(reading, sign, mention.start) for sign in reading.signs
        )
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
    """ "Is in arrears": more than none."""
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
    """ "Still out"."""
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
        if _is_asked(reading, mention, asking=_ASKING - {("operations", "count")}):
            continue  # "how many active accounts"
        if mention.share < 1 and not _is_attribute(reading, mention):
            raise refused("unclear", reading.table, reading.question.spoken(mention.start, mention.end))
        negated = any(
            sign.group == "links" and sign.name == "not" and _leads_to(reading, sign, mention.start)
            for sign in reading.signs
        )
        used.append(mention)
        value = 1 - _TRUE if negated else _TRUE
        yield RangeFilter(column=column, low=value, high=value)


def _is_flag(reading: Interpretation, column: TypedColumn) -> bool:
    flags = [one for one in reading.table.columns if one.has_all_values and {*one.values} == {"0", "1"}]
    return len(flags) > 1 and column in flags


def _is_attribute(reading: Interpretation, mention: ColumnMention) -> bool:
    """ "Remote" of "Remote work", not "gifts" of "Gift Aid"."""
    question, language = reading.question, reading.question.language
    said = question.words[mention.start : mention.end]
    if not mention.share or names_head(said, mention.columns[0], language):
        return True
    things = {one.start for one in (*reading.titles, *reading.columns, *reading.values)}
    before = question.words[mention.start - 1].folded if mention.start else ""
    return mention.end in things or before in _COPULAS


def _numbered(
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
    """ "The 12 big cities", of a table of twelve."""
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
    """ "37.5 hours" and "4 seats" are conditions, if nothing is ranked."""
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
    """ "A rating of 1"."""
    return end <= start and all(word.folded in _OF_NUMBERS for word in reading.question.words[end:start])


def _unlisted(reading: Interpretation, mention: ColumnMention, number: BareNumber) -> TextFilter | None:
    column, *more = mention.columns
    if more or column.kind != "text" or column.has_all_values:
        return None
    spoken = reading.question.spoken
    texts = spoken(mention.start, number.end), spoken(number.start, number.end)
    return TextFilter(column=column, texts=texts, listed=False)


def _check_links(reading: Interpretation, values: list[ChosenValue], used: list[ColumnMention]) -> None:
    for sign in reading.signs:
        if sign.group != "links":
            continue
        if sign.name == "not":
            ends = [value.mention.start for value in values if value.negated]
            ends += [mention.start for mention in used]
            if not any(_leads_to(reading, sign, end) for end in ends):
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
        and not _is_asked(reading, column_mention)
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


def _said(reading: Interpretation, mention: ValueMention) -> str:
    return reading.question.spoken(mention.start, mention.end)
