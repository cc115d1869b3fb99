"""What results are grouped by, and what a superlative asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.rules.filters import period_filters
from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.language.lexicon import concepts
from rag_engine.tables.rules.query import Grouping
from rag_engine.tables.rules.refusals import no_column, refused
from rag_engine.tables.rules.results import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import TimeUnit
    from rag_engine.tables.rules.question import Sign
    from rag_engine.tables.types import TypedColumn

_NAME = 2
_PARTIES = frozenset({"person", "manager", "seller", "customer", "supplier", "student", "teacher", "author", "company", "team", "department", "name"})  # fmt: skip
_PEOPLE = frozenset({"person", "manager", "seller", "customer", "student"})


def group_columns(
    reading: Interpretation, rest: Sequence[ColumnMention]
) -> tuple[tuple[Grouping, ...], tuple[ColumnMention, ...]]:
    """Raises `Unanswered` for what is no column."""
    groups: list[Grouping] = []
    left = list(rest)
    for sign in reading.signs:
        if sign.group != "groups":
            continue
        if sign.name != "per":
            if not _is_no_group(reading, sign):
                groups.append(_timed(reading, sign))
            continue
        mention = _named_group(reading, sign, left)
        if mention is not None and (_is_number(reading, mention) or _leads_number(reading, mention, left)):
            if not _ranks(reading):
                raise refused("question", reading.table)
        elif mention is not None:
            left.remove(mention)
            groups.append(Grouping(column=_single(reading, mention)))
            joined = joined_entity(reading, groups[-1], left)
            if joined is not None:
                groups.append(joined[0])
                left = list(joined[1])
        elif _ranks(reading) and _is_before_fold(reading, sign):
            continue
        elif (unit := _unit_behind(reading, sign)) is not None:
            groups += () if _is_in_header(reading, unit) else (_timed(reading, unit),)
        elif not _is_before_value(reading, sign):
            raise refused("question", reading.table)
    grouped = {group.column for group in groups}
    left = [one for one in left if one.share == 1 or not grouped.issuperset(one.columns)]
    return tuple(dict.fromkeys(groups)), tuple(left)


def _named_group(reading: Interpretation, sign: Sign, left: Sequence[ColumnMention]) -> ColumnMention | None:
    beside = [one for one in left if reading.question.is_beside(sign.end, one.start)]
    beside = beside or [one for one in left if _is_beside_titles(reading, sign.end, one.start)]
    if not beside or not beside[0].is_title:
        return beside[0] if beside else None
    behind = (one for one in left if one.start == beside[0].end and not _is_number(reading, one))
    found = next(behind, None)
    return found if found is not None and _is_literal(reading, found) else beside[0]


def _is_literal(reading: Interpretation, mention: ColumnMention) -> bool:
    said = {word.folded.removesuffix("s") for word in reading.question.words[mention.start : mention.end]}
    read = (column_names.header(column.name, reading.question.language) for column in mention.columns)
    return any(said <= {word.folded.removesuffix("s") for word in one.words} for one in read)


def _is_no_group(reading: Interpretation, sign: Sign) -> bool:
    is_part = _is_part_of_group(reading, sign) or _is_before_period(reading, sign)
    return is_part or _is_in_header(reading, sign)


def _is_in_header(reading: Interpretation, sign: Sign) -> bool:
    language = reading.question.language
    named = [
        column
        for one in reading.columns
        for column in one.columns
        if column_names.is_quantity(column, language)
    ]
    return len(named) == 1 and sign.name in column_names.header(named[0].name, language).concepts


def _leads_number(reading: Interpretation, mention: ColumnMention, left: Sequence[ColumnMention]) -> bool:
    return _ranks(reading) and any(one.start == mention.end and _is_number(reading, one) for one in left)


def _is_before_fold(reading: Interpretation, sign: Sign) -> bool:
    return any(
        one.name in {"sum", "average", "median", "count"} and reading.question.is_beside(sign.end, one.start)
        for one in reading.signs
    )


def _ranks(reading: Interpretation) -> bool:
    return reading.has("most", "least") or any(sign.group == "superlatives" for sign in reading.signs)


def asked_entity(
    reading: Interpretation, sign: Sign, rest: Sequence[ColumnMention]
) -> tuple[Grouping | None, tuple[ColumnMention, ...]]:
    unit = next(
        (
            one
            for one in reading.signs
            if one.group == "groups" and one.name != "per" and _is_asked(reading, one)
        ),
        None,
    )
    if unit is not None:
        return _timed(reading, unit), tuple(rest)
    candidates = [one for one in rest if not _is_number(reading, one)]
    asked = [one for one in candidates if _follows_which(reading, one)]
    asked = asked or [one for one in candidates if one.share == 1 and _is_after_number(reading, one)]
    if not asked and reading.has("who", group="asked"):
        return _person(reading, sign, rest)
    if not asked and reading.has("when", group="asked"):
        found = period_filters.date_column(reading, ())
        if found is None:
            raise refused("question", reading.table)
        return Grouping(column=found), tuple(rest)
    if not asked and reading.has("where", group="asked"):
        places = [column for column in reading.table.columns if _is_place(reading, column)]
        if len(places) != 1:
            raise refused("question", reading.table)
        return Grouping(column=places[0]), tuple(rest)
    asked = asked or [one for one in candidates if _is_beside_titles(reading, sign.end, one.start)]
    asked = asked or [one for one in candidates if _is_after_number(reading, one)]
    if not asked and reading.question.is_loose:
        texts = [one for one in candidates if all(column.kind == "text" for column in one.columns)]
        asked = texts if len(texts) == 1 else []
    if not asked:
        return None, tuple(rest)
    left = tuple(one for one in rest if one is not asked[0])
    if asked[0].is_title and measures.is_row_noun(reading, asked[0]):
        labels = measures.label_columns(reading.table, reading.question.language)
        return Grouping(column=labels[0]), left
    return Grouping(column=_single(reading, asked[0])), left


def joined_entity(
    reading: Interpretation, first: Grouping, rest: Sequence[ColumnMention]
) -> tuple[Grouping, tuple[ColumnMention, ...]] | None:
    """And the mentions that are left."""
    own = next((one for one in reading.columns if first.column in one.columns), None)
    for mention in rest:
        joined = own is not None and any(
            sign.name == "and"
            and reading.question.is_beside(own.end, sign.start)
            and reading.question.is_beside(sign.end, mention.start)
            for sign in reading.signs
        )
        if joined and not _is_number(reading, mention):
            left = tuple(one for one in rest if one is not mention)
            return Grouping(column=_single(reading, mention)), left
    return None


def _person(
    reading: Interpretation, sign: Sign, rest: Sequence[ColumnMention]
) -> tuple[Grouping, tuple[ColumnMention, ...]]:
    named = [
        (column, one.share)
        for one in rest
        for column in one.columns
        if column.kind == "text" and len(one.columns) == 1
    ]
    found = [column for column, share in named if not share and is_party(reading, column)]
    found = found or person_columns(reading)
    found = found or [column for column, _ in named] or people_columns(reading)
    if len(found) != 1:
        raise refused("question", reading.table)
    left = tuple(one for one in rest if found[0] not in one.columns)
    return Grouping(column=found[0]), left


def person_columns(reading: Interpretation) -> list[TypedColumn]:
    language = reading.question.language
    found = [
        column
        for column in reading.table.columns
        if column.kind == "text" and column_names.header(column.name, language).concepts & _PEOPLE
    ]
    found = [one for one in found if not column_names.header(one.name, language).is_code] or found
    labels = measures.label_columns(reading.table, language)
    found = found or [column for column in reading.table.columns if _holds_names(column)]
    first = [column for column in found if column in labels]
    return first or [column for column in found if measures.is_unique(reading.table, column)][:1] or found


def people_columns(reading: Interpretation) -> list[TypedColumn]:
    ends = _AGENTS.get(reading.question.language, ()) + _AGENTS["en"]
    found = [
        column
        for column in reading.table.columns
        if column.kind == "text"
        and not any(character.isdigit() for value in column.values for character in value)
        and any(
            word.folded.endswith(ends) and word.folded not in _NO_AGENTS
            for word in column_names.header(column.name, reading.question.language).words
        )
    ]
    return list(dict.fromkeys((*person_columns(reading), *found)))


_AGENTS = {
    "en": ("er", "or", "ist", "ian", "ant", "ee", "man", "guest", "by", "coach"),
    "de": ("er", "erin", "or", "ist", "ant", "iker", "eur", "gast", "kraft", "von"),
    "es": ("or", "ora", "ante", "ente", "ista", "ero", "era", "ario"),
    "fr": ("eur", "euse", "ier", "iere", "iste", "ant", "teur"),
    "zh": ("员", "人", "者", "师", "手", "长", "客"),
}
_NO_AGENTS = frozenset({"number", "order", "quarter", "center", "paper", "color", "sector", "floor", "tier", "letter", "plant", "colour", "semester", "nummer", "alter", "semestre", "filter", "folder", "water", "other", "weather", "gender", "category", "for", "per", "over"})  # fmt: skip


def is_party(reading: Interpretation, column: TypedColumn) -> bool:
    """It may answer "who"."""
    own = column_names.header(column.name, reading.question.language).concepts
    if column.kind != "text":
        return False
    return column in people_columns(reading) or not own or bool(own & _PARTIES)


def _holds_names(column: TypedColumn) -> bool:
    names = [
        text
        for text in column.values
        if len(text.split()) == _NAME and text.istitle() and text.replace(" ", "").isalpha()
    ]
    return column.kind == "text" and len(names) > 1 and len(names) >= 0.9 * len(column.values)


def place_columns(reading: Interpretation) -> list[TypedColumn]:
    return [column for column in reading.table.columns if _is_place(reading, column)]


def _is_place(reading: Interpretation, column: TypedColumn) -> bool:
    known = concepts()[0]
    read = column_names.header(column.name, reading.question.language)
    return column.kind == "text" and any(known[name].is_place for name in read.concepts)


def _timed(reading: Interpretation, sign: Sign) -> Grouping:
    unit: TimeUnit = {"year": "year", "quarter": "quarter", "month": "month"}.get(sign.name, "day")  # pyright: ignore[reportAssignmentType]
    language = reading.question.language
    if not any(column.kind == "date" for column in reading.table.columns):
        same = [
            column
            for column in reading.table.columns
            if unit in column_names.header(column.name, language).concepts
        ]
        if len(same) == 1:
            return Grouping(column=same[0])
    found = period_filters.date_column(reading, ())
    if found is None:
        raise no_column(reading.table, reading.question.spoken(sign.start, sign.end))
    return Grouping(column=found, unit=unit)


def _is_asked(reading: Interpretation, unit: Sign) -> bool:
    return any(
        one.group == "asked" and one.name == "which" and reading.question.is_beside(one.end, unit.start)
        for one in reading.signs
    )


def _follows_which(reading: Interpretation, mention: ColumnMention) -> bool:
    return any(
        one.group == "asked"
        and one.name in {"which", "list"}
        and _is_beside_or_counted(reading, one.end, mention.start)
        and not any(
            other.group == "superlatives" or other.name in {"most", "least"}
            for other in _between(reading, one.end, mention.start)
        )
        for one in reading.signs
    )


def _is_beside_or_counted(reading: Interpretation, end: int, start: int) -> bool:
    counted = {at for number in reading.numbers for at in range(number.start, number.end)}
    return end <= start and all(
        at in counted or reading.question.is_filler(reading.question.words[at]) for at in range(end, start)
    )


def _is_beside_titles(reading: Interpretation, end: int, start: int) -> bool:
    for title in reading.titles:
        if reading.question.is_beside(end, title.start) and title.end <= start:
            end = title.end
    return reading.question.is_beside(end, start)


def _between(reading: Interpretation, end: int, start: int) -> list[Sign]:
    return [sign for sign in reading.signs if end <= sign.start < start]


def _is_after_number(reading: Interpretation, mention: ColumnMention) -> bool:
    return any(reading.question.is_beside(number.end, mention.start) for number in reading.numbers)


def _is_number(reading: Interpretation, mention: ColumnMention) -> bool:
    return any(column_names.is_quantity(column, reading.question.language) for column in mention.columns)


def _is_part_of_group(reading: Interpretation, unit: Sign) -> bool:
    return any(
        one.name in {"per", "which"} and reading.question.is_beside(one.end, unit.start)
        for one in reading.signs
    )


def _is_before_period(reading: Interpretation, unit: Sign) -> bool:
    return any(reading.question.is_beside(unit.end, period.start) for period in reading.periods)


def _unit_behind(reading: Interpretation, sign: Sign) -> Sign | None:
    return next(
        (
            one
            for one in reading.signs
            if one.group == "groups" and one.name != "per" and reading.question.is_beside(sign.end, one.start)
        ),
        None,
    )


def _is_before_value(reading: Interpretation, sign: Sign) -> bool:
    if any(reading.question.is_beside(sign.end, one.start) for one in reading.comparisons):
        return True
    return any(
        reading.question.is_beside(sign.end, value.start)
        or any(
            column.start >= sign.end
            and reading.question.is_beside(sign.end, column.start)
            and reading.question.is_beside(column.end, value.start)
            for column in reading.columns
        )
        for value in reading.values
    )


def _single(reading: Interpretation, mention: ColumnMention) -> TypedColumn:
    if len(mention.columns) == 1:
        return mention.columns[0]
    texts = [column for column in mention.columns if column.kind == "text"]
    if len(texts) == 1:
        return texts[0]
    said = reading.question.spoken(mention.start, mention.end)
    raise refused("choice", reading.table, said, [column.name for column in mention.columns])
