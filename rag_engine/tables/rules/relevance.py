"""Tables that a question can be about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names, qualities
from rag_engine.tables.rules.headers.units import CURRENCIES, UNITS, unit_of
from rag_engine.tables.rules.interpretation import HINTED
from rag_engine.tables.rules.language.lexicon import concepts_at, lexicon
from rag_engine.tables.rules.language.question_words import folded, header_words, words
from rag_engine.tables.rules.mentions import columns, comparisons, periods
from rag_engine.tables.rules.question import COMMON
from rag_engine.tables.rules.titles import title_words, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedTable

_CONCEPT, _ROOT, _UNIT, _PART = "\x00", "\x01", "\x02", "\x03"
_ROOT_LETTERS: Final = 4
_SHORTEST_PART: Final = 3
_SOLE_AMOUNTS: Final = column_names.ALL_MONEY | {"price"}
_LINKS: Final = (
    column_names.LINKS
    | columns.AUXILIARIES
    | UNITS.keys()
    | comparisons.WORDS
    | periods.WORDS
    | {"value", "values", "wert", "werte", "werten", "valor", "valores"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWords:
    """`unclaimed`: words that mean something in a table alone."""

    keys: tuple[frozenset[str], ...]
    all_keys: frozenset[str]
    parts: frozenset[str]
    unclaimed: frozenset[int]
    others: int
    """At most."""
    is_for_cell: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWords:
    """`direct`: headers, titles and `beginnings` of cells."""

    beginnings: frozenset[str]
    direct: frozenset[str]
    known: frozenset[str]


def asked_words(question: Question) -> AskedWords:
    said, common = question.words, _common_words(question.language)
    meant = [
        question.lexicon.meanings_at(said, at, "asked", "operations", "hints", "qualities", "periods")
        for at in range(len(said))
    ]
    keys = [set(_keys(word, question.language)) for word in said]
    for at in range(len(said)):
        end, names = concepts_at(said, at)
        for each in keys[at:end]:
            each.update(_meant(names))
        if at:
            whole = said[at - 1].folded + said[at].folded
            keys[at - 1].add(whole)
            keys[at].add(whole)
    beside = {key for found in meant for meaning in found for key in _of_meaning(meaning)}
    every = [meaning for found in meant for meaning in found]
    return AskedWords(
        keys=tuple(map(frozenset, keys)),
        all_keys=frozenset(beside.union(*keys)),
        parts=frozenset(key for each in keys for key in each if key.startswith(_PART)),
        unclaimed=frozenset(
            at
            for at, word in enumerate(said)
            if not (word.is_number or word.is_han or word.folded in _LINKS) and word.folded not in common
        ),
        others=any(meaning.startswith("asked ") for meaning in every)
        + sum(any(meaning.startswith("qualities ") for meaning in found) for found in meant)
        + sum(meaning.endswith("_half") for meaning in every)
        + sum(word.is_number or periods.may_begin(word) for word in said),
        is_for_cell=any(meaning.endswith((" which", " much")) for meaning in every),
    )


def may_have_evidence(asked: AskedWords, table: TypedTable, language: str) -> bool:
    return not asked.all_keys.isdisjoint(table_words(table, language).known)


def may_name_cells(asked: AskedWords, table: TypedTable, language: str) -> bool:
    own = table_words(table, language)
    return not asked.all_keys.isdisjoint(own.direct) and _names_enough(asked, own)


def may_name_row(asked: AskedWords, table: TypedTable, language: str) -> bool:
    own = table_words(table, language)
    is_for_cell = asked.is_for_cell and not asked.all_keys.isdisjoint(own.beginnings)
    return is_for_cell or may_name_cells(asked, table, language)


def _names_enough(asked: AskedWords, own: TableWords) -> bool:
    if not asked.parts.isdisjoint(own.direct):
        return True
    hit = [not keys.isdisjoint(own.known) for keys in asked.keys]
    unread = sum(not hit[at] for at in asked.unclaimed)
    return unread < sum(hit) + asked.others


@lru_cache(maxsize=512)
def table_words(table: TypedTable, language: str) -> TableWords:
    texts = [text for column in table.columns if column.kind == "text" for text in column.values]
    cells = [found for text in texts if (found := words(text, language))]
    names = [
        header_words(text, language) for text in (*titles_of(table), *(one.name for one in table.columns))
    ]
    direct = {form for word in chain(*names) for form in word.forms} | title_words(table, language)
    direct |= {"".join(word.folded for word in found) for found in names}
    direct |= {f"{_ROOT}{word.folded[:_ROOT_LETTERS]}" for word in chain(*names)}
    beginnings = {form for found in cells for form in found[0].forms}
    if language == "de":
        beginnings |= {f"{_PART}{folded(text)}" for text in texts}
    direct |= beginnings
    known = {form for word in chain(*cells) for form in word.forms}
    known |= {word.folded for word in chain(*cells)}
    for column in table.columns:
        known |= {f"{_CONCEPT}{name}" for name in column_names.header(column.name, language).concepts}
        known.add(f"{_UNIT}{unit_of(column)}")
    return TableWords(
        beginnings=frozenset(beginnings), direct=frozenset(direct), known=frozenset(direct | known)
    )


@lru_cache(maxsize=8)
def _common_words(language: str) -> frozenset[str]:
    return frozenset(
        part
        for entries in lexicon(language).phrases.values()
        for phrase, meanings in entries
        if any(group in {*COMMON, "comparatives"} for group, _ in meanings)
        for part in phrase
    )


def _keys(word: QuestionWord, language: str) -> Iterator[str]:
    yield from word.forms
    yield f"{_ROOT}{word.folded[:_ROOT_LETTERS]}"
    yield from _meant(concepts_at((word,), 0)[1])
    if unit := UNITS.get(word.folded):
        yield f"{_UNIT}{unit}"
    if language == "de":
        yield f"{_ROOT}{word.folded.removeprefix('ge')[:_ROOT_LETTERS]}"
        for end in range(_SHORTEST_PART, len(word.text) - _SHORTEST_PART):
            yield f"{_PART}{folded(word.text[:end])}"


def _meant(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield f"{_CONCEPT}{name}"
        if name == "quantity":
            yield f"{_CONCEPT}stock"
        if name in column_names.UNSPECIFIC_MONEY:
            yield from (f"{_CONCEPT}{one}" for one in _SOLE_AMOUNTS)
            yield from (f"{_UNIT}{one}" for one in CURRENCIES)


def _of_meaning(meaning: str) -> Iterator[str]:
    group, _, name = meaning.partition(" ")
    if group == "hints":
        yield from (f"{_CONCEPT}{one}" for one in HINTED[name])
    if group == "qualities":
        yield from (f"{_CONCEPT}{one}" for one in qualities.concepts_of(name))
        yield from (f"{_UNIT}{one}" for one in qualities.UNITS_OF.get(name, ()))
