from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import (
    ALL_MONEY,
    CODES,
    LINKS,
    PIECES,
    UNSPECIFIC_MONEY,
    bracketed,
    header,
    is_limit,
    is_quantity,
)
from rag_engine.tables.rules.headers.units import CURRENCIES, UNITS, unit_of
from rag_engine.tables.rules.language.lexicon import concepts_at, short_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedColumn, TypedTable

_BEFORE_NOUNS: Final = frozenset("哪个每各种位名家款道")
_AGENTS: Final = ("er", "ers", "or", "ors")
_SHORTEST_ABBREVIATION: Final = 3
_LONGEST_ABBREVIATION: Final = 4
_LEFT_OUT: Final = 3
_VOWELS: Final = frozenset("aeiou")
_POSSESSIVES: Final = frozenset({"their", "his", "her", "its", "our", "your", "my", "ihre", "ihren", "seine", "seinen", "unsere", "sus", "su", "leur", "leurs"})  # fmt: skip
_CROWDS: Final = frozenset({"people", "leute", "menschen", "gente", "personas", "personnes", "gens"})
_AGENT_ENDS: Final = frozenset({"by", "to", "von", "durch", "por", "par"})
_SHORTEST_UNIT: Final = 3
_COUNTED_UNITS: Final = frozenset(
    {"min", "h", "kg", "g", "t", "km", "m", "cm", "m²", "km²", "l", "kWh", "MWh", "kcal"}
)
"""Others are also names of periods and of money."""
AUXILIARIES: Final = frozenset({"is", "are", "was", "were", "did", "has", "have"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMention:
    """`columns` fit equally well; `share` of the header's words, 0 for another name."""

    start: int
    end: int
    columns: tuple[TypedColumn, ...]
    share: float
    is_title: bool = False


def mentioned(
    words: Sequence[QuestionWord],
    free: Sequence[bool],
    table: TypedTable,
    language: str,
    is_common: Callable[[QuestionWord], bool],
    is_hint: Callable[[QuestionWord], bool],
) -> list[ColumnMention]:
    """`is_common` words alone name no column."""
    places = [_places(words, at, table, language) if free[at] else {} for at in range(len(words))]
    found: list[ColumnMention] = []
    at = 0
    while at < len(words):
        mention = _run(words, places, at, table, language, is_common, is_hint)
        if mention is not None:
            found.append(_as_said_elsewhere(mention, words, language))
        at = mention.end if mention is not None else at + 1
    return found


def _as_said_elsewhere(mention: ColumnMention, words: Sequence[QuestionWord], language: str) -> ColumnMention:
    names = tuple(one for one in mention.columns if not _names_code(one, language))
    beside = {
        word.folded
        for word in (*words[max(mention.start - 2, 0) : mention.start], *words[mention.end : mention.end + 1])
    }
    if len(mention.columns) > 1 and len(names) == 1 and beside.isdisjoint(CODES):
        return replace(mention, columns=names)
    if len(mention.columns) == 1:
        return mention
    said = {form for word in words for form in word.forms}
    shared = {
        column: sum(not read.words[at].forms.isdisjoint(said) for at in read.required)
        for column in mention.columns
        for read in [header(column.name, language)]
    }
    best = tuple(column for column, count in shared.items() if count == max(shared.values()))
    return replace(mention, columns=best) if len(best) == 1 else mention


def meant(
    words: Sequence[QuestionWord],
    free: Sequence[bool],
    table: TypedTable,
    language: str,
    *,
    of_money: bool = False,
) -> list[ColumnMention]:
    """`of_money`: "revenue" is the only amount."""
    found: list[ColumnMention] = []
    at = 0
    while at < len(words):
        end, names = concepts_at(words, at)
        columns = tuple(column for column in table.columns if names & header(column.name, language).concepts)
        columns = tuple(one for one in columns if not _names_code(one, language)) or columns
        if not columns and names & {"quantity", "stock"}:
            columns = of_concepts(table, frozenset({"quantity", "stock"}), language)
        if not columns and "person" in names and words[at].folded in _CROWDS:
            columns = of_concepts(table, frozenset({"population"}), language)
        if not columns and names & {"person", "role"}:
            columns = tuple(one for one in table.columns if _names_agents(one, language))
        if of_money and not columns and names & UNSPECIFIC_MONEY:
            columns = _only_amount(table, language)
        if names and columns and all(free[at:end]):
            found.append(
                ColumnMention(start=at, end=end, columns=_narrowed(columns, names, language), share=0.0)
            )
            at = end
        else:
            at += 1
    return found


def _names_agents(column: TypedColumn, language: str) -> bool:
    found = header(column.name, language).words
    return column.kind == "text" and len(found) > 1 and found[-1].folded in _AGENT_ENDS


def _names_code(column: TypedColumn, language: str) -> bool:
    return column.is_number_read_as_text or header(column.name, language).is_code


def _only_amount(table: TypedTable, language: str) -> tuple[TypedColumn, ...]:
    sums = [
        column
        for column in table.columns
        if is_quantity(column, language)
        and (unit_of(column) in CURRENCIES or header(column.name, language).concepts & ALL_MONEY)
    ]
    if len(sums) != 1:
        return ()
    own = header(sums[0].name, language).concepts
    is_of_pieces = any(
        one.kind == "number" and header(one.name, language).concepts & PIECES for one in table.columns
    )
    return tuple(sums) if own <= {"amount"} or (own == frozenset({"price"}) and not is_of_pieces) else ()


def united(
    words: Sequence[QuestionWord], free: Sequence[bool], table: TypedTable, language: str, ends: Sequence[int]
) -> list[ColumnMention]:
    """By its unit behind a number: "500 kcal", of "Calories (kcal)"."""
    found: list[ColumnMention] = []
    for at in ends:
        if at >= len(words) or not free[at]:
            continue
        columns = tuple(
            column for column in table.columns if words[at].folded in bracketed(column.name, language)
        )
        if columns:
            found.append(ColumnMention(start=at, end=at + 1, columns=columns, share=0.0))
    return found


def of_units(words: Sequence[QuestionWord], free: Sequence[bool], table: TypedTable) -> list[ColumnMention]:
    """The weight, of "how many kilos"."""
    found: list[ColumnMention] = []
    for at, word in enumerate(words):
        unit = UNITS.get(word.folded, "") if free[at] and len(word.folded) >= _SHORTEST_UNIT else ""
        own = tuple(column for column in table.columns if unit in _COUNTED_UNITS and unit_of(column) == unit)
        if own:
            found.append(ColumnMention(start=at, end=at + 1, columns=own, share=0.0))
    return found


def of_concepts(table: TypedTable, names: frozenset[str], language: str) -> tuple[TypedColumn, ...]:
    return tuple(column for column in table.columns if names & header(column.name, language).concepts)


def _narrowed(
    columns: tuple[TypedColumn, ...], names: frozenset[str], language: str
) -> tuple[TypedColumn, ...]:
    pure = tuple(column for column in columns if header(column.name, language).concepts <= names)
    found = pure or columns
    return tuple(column for column in found if not is_limit(column.name, language)) or found


def _run(
    words: Sequence[QuestionWord],
    places: Sequence[dict[int, frozenset[int]]],
    start: int,
    table: TypedTable,
    language: str,
    is_common: Callable[[QuestionWord], bool],
    is_hint: Callable[[QuestionWord], bool],
) -> ColumnMention | None:
    kept = dict(places[start])
    if not kept or _is_none(words, start) or _is_in_total(words, start):
        return None
    end = at = start + 1
    while at < len(words) and at - end <= 2:
        if words[at].folded in LINKS | AUXILIARIES | _POSSESSIVES and not places[at]:
            at += 1
            continue
        grown = {} if _is_none(words, at) else _grown(kept, places[at])
        if not grown:
            break
        kept, at, end = grown, at + 1, at + 1
    is_led = start > 0 and words[start - 1].text in _BEFORE_NOUNS
    scored = {
        number: _share(table.columns[number], said, language)
        for number, said in kept.items()
        if _names_enough(
            words[start:end],
            table.columns[number],
            said,
            language,
            is_common,
            is_hint,
            is_led=is_led and table.columns[number].kind == "text",
        )
    }
    if not scored:
        return None
    best = max(scored.values())
    columns = tuple(table.columns[number] for number, share in scored.items() if share == best)
    return ColumnMention(start=start, end=end, columns=columns, share=best)


def _is_none(words: Sequence[QuestionWord], at: int) -> bool:
    """ "No receipt", not "no. BX-1009"."""
    after = words[at + 1].text if at + 1 < len(words) else ""
    return words[at].text == "no" and not (after.isupper() or any(map(str.isdigit, after)))


def _is_in_total(words: Sequence[QuestionWord], at: int) -> bool:
    return words[at].folded == "total" and at > 0 and words[at - 1].folded in {"in", "en", "au"}


def _grown(kept: dict[int, frozenset[int]], more: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    return {
        number: kept[number] | more[number]
        for number in kept.keys() & more.keys()
        if more[number] - kept[number]
    }


def _names_enough(
    said: Sequence[QuestionWord],
    column: TypedColumn,
    places: frozenset[int],
    language: str,
    is_common: Callable[[QuestionWord], bool],
    is_hint: Callable[[QuestionWord], bool],
    *,
    is_led: bool = False,
) -> bool:
    read = header(column.name, language)
    if not places & read.required:
        return False
    if said[0].is_han and len(said) == 1 and len(read.required) > 1 and not is_led:
        return False
    if not all(map(is_common, said)):
        return True
    literal = {word.folded.removesuffix("s") for word in read.words}
    is_verb = len(said) == 1 and said[0].folded.removesuffix("s") not in literal and is_hint(said[0])
    return places >= read.required and not is_verb


def _share(column: TypedColumn, said: frozenset[int], language: str) -> float:
    required = header(column.name, language).required
    return len(said & required) / len(required)


def _places(
    words: Sequence[QuestionWord], at: int, table: TypedTable, language: str
) -> dict[int, frozenset[int]]:
    found: dict[int, frozenset[int]] = {}
    for number, column in enumerate(table.columns):
        own = header(column.name, language).words
        is_whole = words[at].folded == "".join(word.folded for word in own)  # "ColA"
        same = frozenset(
            place
            for place, word in enumerate(own)
            if is_whole
            or (not word.forms.isdisjoint(words[at].forms) and not _is_agent(words[at], word, column))
            or _is_one_unit(words[at], word)
            or is_abbreviation(word, words[at])
        )
        if same:
            found[number] = same
    return found


def is_abbreviation(short: QuestionWord, whole: QuestionWord) -> bool:
    """ "Pos" and "Mgr" in headers, for "position" and "manager"."""
    one, other = short.folded, whole.folded
    fits = len(one) >= _SHORTEST_ABBREVIATION and len(other) >= len(one) + _LEFT_OUT and other[0] == one[0]
    if not fits or not (one.isascii() and one.isalpha() and other.isalpha()) or one in short_words():
        return False
    if other.startswith(one):
        return len(one) <= _LONGEST_ABBREVIATION and not concepts_at((short,), 0)[1]
    letters = iter(other)
    return not set(one) & _VOWELS and one[-1] == other[-1] and all(letter in letters for letter in one)


def _is_one_unit(said: QuestionWord, named: QuestionWord) -> bool:
    unit = UNITS.get(said.folded)
    return unit in {"h", "min"} and unit == UNITS.get(named.folded)


def _is_agent(said: QuestionWord, named: QuestionWord, column: TypedColumn) -> bool:
    if {said.folded, named.folded} == {"time", "times"}:
        return True
    if column.kind == "date" and said.folded.endswith("s") and named.folded.endswith("ed"):
        return True
    is_agent = said.folded.endswith(_AGENTS) and not named.folded.endswith(_AGENTS)
    return is_agent and column.kind in {"date", "number"}
