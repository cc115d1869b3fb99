from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import concepts, concepts_at, short_words
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions import periods
from rag_engine.tables.rules.mentions.units import CURRENCIES, UNITS, unit_of, unit_of_header

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.mentions.time_spans import Period
    from rag_engine.tables.types import TypedColumn, TypedTable

LINKS: Final = frozenset(
    [
        "of",
        "the",
        "in",
        "de",
        "del",
        "la",
        "el",
        "los",
        "las",
        "der",
        "die",
        "das",
        "des",
        "per",
        "pro",
        "je",
        "por",
        "a",
        "an",
        "von",
        "的",
        "&",
        "and",
        "und",
        "y",
        "du",
        "le",
        "les",
        "d",
        "l",
    ]
)
CODES: Final = frozenset(
    [
        "id",
        "ids",
        "no",
        "nr",
        "number",
        "nummer",
        "num",
        "numero",
        "n",
        "code",
        "codigo",
        "key",
        "sku",
        "zip",
        "plz",
        "postcode",
        "rank",
        "#",
        "号",
        "phone",
    ]
)
_BEFORE_NOUNS: Final = frozenset("哪个每各种位名家款道")
_AGENTS: Final = ("er", "ers", "or", "ors")
_SHORTEST_ABBREVIATION: Final = 3
_LONGEST_ABBREVIATION: Final = 4
_LEFT_OUT: Final = 3
_VOWELS: Final = frozenset("aeiou")
_POSSESSIVES: Final = frozenset({"their", "his", "her", "its", "our", "your", "my", "ihre", "ihren", "seine", "seinen", "unsere", "sus", "su", "leur", "leurs"})  # fmt: skip
_CROWDS: Final = frozenset({"people", "leute", "menschen", "gente", "personas", "personnes", "gens"})
_AGENT_ENDS: Final = frozenset({"by", "to", "von", "durch", "por", "par"})
_COUNTED: Final = frozenset(["of", "der", "von", "de"])
_UNITS: Final = frozenset(
    ["€", "$", "£", "¥", "%", "eur", "usd", "gbp", "chf", "euro", "euros", "percent", "元", "万"]
)
_SHORTEST_UNIT: Final = 3
_COUNTED_UNITS: Final = frozenset(
    {"min", "h", "kg", "g", "t", "km", "m", "cm", "m²", "km²", "l", "kWh", "MWh", "kcal"}
)
"""Others are also names of periods and of money."""
_A_YEAR: Final = re.compile(
    r"\bp\. ?a\.|/ ?(?:year|yr|Jahr|año|an)\b|\b(?:annual|yearly|jährlich|anual|annuel)", re.IGNORECASE
)
_RATIO: Final = re.compile(r"(?:\bper|/|\bpro|\bpor|\bpar) ?\d")
_BRACKETS: Final = re.compile(r"[(\[（].*?[)\]）]")
AUXILIARIES: Final = frozenset({"is", "are", "was", "were", "did", "has", "have"})
_LIMITS: Final = frozenset(
    {"min", "minimum", "reorder", "target", "limit", "max", "maximum", "threshold", "goal", "quota", "budget", "budgeted", "planned", "plan"}
    | {"mindest", "minimal", "maximal", "soll", "ziel", "grenze", "grenzwert", "meldebestand", "geplant"}
    | {"minimo", "minima", "maximo", "objetivo", "limite", "meta", "presupuesto", "previsto"}
    | {"seuil", "objectif", "prevu", "maximal"}
)  # fmt: skip
_OF_UNITS: Final = {
    unit: frozenset({concept})
    for concept, units in {
        "temperature": ("°C", "°F"),
        "energy": ("kWh", "MWh"),
        "weight": ("kg", "g", "t"),
        "distance": ("km", "mi"),
    }.items()
    for unit in units
}
_OF_MONEY: Final = frozenset({"cost"})
UNSPECIFIC_MONEY: Final = frozenset({"revenue", "cost", "amount"})
ALL_MONEY: Final = UNSPECIFIC_MONEY | {"budget", "profit", "tax", "rent", "donation"}
PIECES: Final = frozenset({"quantity", "stock", "attendance", "person", "capacity"})
_PER_TIME: Final = ALL_MONEY | {"price", "pay", "hours", "use", "distance"}
TIMES: Final = frozenset({"year", "month", "quarter"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    words: tuple[QuestionWord, ...]
    required: frozenset[int]
    """Not of units, links and its period."""
    concepts: frozenset[str]
    period: Period | None
    is_code: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMention:
    """`columns` fit equally well; `share` of the header's words, 0 for another name."""

    start: int
    end: int
    columns: tuple[TypedColumn, ...]
    share: float
    is_title: bool = False


@lru_cache(maxsize=8_192)
def header(name: str, language: str) -> Header:
    found = header_words(name, language)
    inside = [match.span() for match in _BRACKETS.finditer(name)]
    spans = periods.within(found)
    timed = {at for start, end, _ in spans for at in range(start, end)}
    named = [
        at
        for at, word in enumerate(found)
        if at not in timed and word.folded not in LINKS | _UNITS and not _is_within(word, inside)
    ]
    codes = [at for at in named if found[at].folded in CODES]
    is_code = bool(codes) and not any(
        at + 1 < len(found) and found[at + 1].folded in _COUNTED for at in codes
    )
    plain = [at for at in named if not (is_code and at in codes)]
    return Header(
        words=found,
        required=frozenset(plain or named),
        concepts=_meant(name, found),
        period=spans[0][2] if len(spans) == 1 else None,
        is_code=is_code,
    )


def _meant(name: str, found: tuple[QuestionWord, ...]) -> frozenset[str]:
    """By its words, its unit and "p.a."."""
    names = _concepts(found) - _OF_MONEY if any(map(_is_time, found)) else _concepts(found)
    names |= _OF_UNITS.get(unit_of_header(name), frozenset[str]())
    return names | {"year"} if _A_YEAR.search(name) else names


def adds_up(column: TypedColumn, language: str) -> bool:
    """Whether a sum of it means anything."""
    known = concepts()[0]
    read = header(column.name, language)
    return (
        is_quantity(column, language)
        and column.unit not in {"%", "‰"}
        and all(known[name].adds_up for name in read.concepts)
        and "%" not in column.name
        and not _RATIO.search(column.name)
    )


def is_quantity(column: TypedColumn, language: str) -> bool:
    """No code, year, month or rank."""
    read = header(column.name, language)
    is_time = bool(read.concepts & TIMES) and read.period is None and not read.concepts & _PER_TIME
    is_time = is_time and unit_of(column) not in CURRENCIES
    return column.kind == "number" and not read.is_code and not is_time


def timed_columns(table: TypedTable, language: str) -> tuple[TypedColumn, ...]:
    """At least two under months, quarters or years."""
    found = tuple(
        column
        for column in table.columns
        if column.kind == "number" and header(column.name, language).period is not None
    )
    return found if len(found) > 1 else ()


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
    """ "Subs paid", not "Subs due", of subs that somebody paid."""
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
    """ "Inspected by"."""
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


def bracketed(name: str, language: str) -> set[str]:
    inside = [match.span() for match in _BRACKETS.finditer(name)]
    return {word.folded for word in header(name, language).words if _is_within(word, inside)}


def of_concepts(table: TypedTable, names: frozenset[str], language: str) -> tuple[TypedColumn, ...]:
    return tuple(column for column in table.columns if names & header(column.name, language).concepts)


def _narrowed(
    columns: tuple[TypedColumn, ...], names: frozenset[str], language: str
) -> tuple[TypedColumn, ...]:
    pure = tuple(column for column in columns if header(column.name, language).concepts <= names)
    found = pure or columns
    return tuple(column for column in found if not is_limit(column.name, language)) or found


def is_limit(name: str, language: str) -> bool:
    """Such as "Minimum stock"."""
    return any(word.folded in _LIMITS for word in header_words(name, language))


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
    if not kept or words[start].text == "no" or _is_in_total(words, start):
        return None
    end = at = start + 1
    while at < len(words) and at - end <= 2:
        if words[at].folded in LINKS | AUXILIARIES | _POSSESSIVES and not places[at]:
            at += 1
            continue
        grown = _grown(kept, places[at]) if words[at].text != "no" else {}
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
    """ "Hours", of "Hrs"."""
    unit = UNITS.get(said.folded)
    return unit in {"h", "min"} and unit == UNITS.get(named.folded)


def _is_agent(said: QuestionWord, named: QuestionWord, column: TypedColumn) -> bool:
    if {said.folded, named.folded} == {"time", "times"}:
        return True
    if column.kind == "date" and said.folded.endswith("s") and named.folded.endswith("ed"):
        return True
    is_agent = said.folded.endswith(_AGENTS) and not named.folded.endswith(_AGENTS)
    return is_agent and column.kind in {"date", "number"}


def _concepts(found: tuple[QuestionWord, ...]) -> frozenset[str]:
    names: set[str] = set()
    at = 0
    while at < len(found):
        end, meant_here = concepts_at(found, at)
        names |= meant_here
        at = max(end, at + 1)
    return frozenset(names - {"quantity"} or names)


def _is_time(word: QuestionWord) -> bool:
    return UNITS.get(word.folded) in {"min", "h"}


def _is_within(word: QuestionWord, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < word.start < end for start, end in spans)
