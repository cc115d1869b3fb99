from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import concepts, lexicon
from rag_engine.tables.rules.language.question_words import folded, forms, header_words
from rag_engine.tables.rules.mentions.comparisons import is_spelled
from rag_engine.tables.rules.titles import titles_of
from rag_engine.tables.rules.wordings.genders import gender_cell
from rag_engine.tables.rules.wordings.sort_orders import without_order
from rag_engine.text.language.months import NUMBERS
from rag_engine.text.spelling import is_slip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.tables.types import TypedTable

_WORD: Final = re.compile(r"[^\W\d_]+")
_SHORTENED: Final = {
    "en": (
        (re.compile(r"\bw/o\b", re.IGNORECASE), "without"),
        (re.compile(r"\bw/(?=\s)", re.IGNORECASE), "with"),
        (re.compile(r"\b(what|who|where|when|how)s\b", re.IGNORECASE), r"\1 is"),
        (re.compile(r"\b(is|are|was|were|has|have|had|did|does|do)n['’]?t\b", re.IGNORECASE), r"\1 not"),
        (re.compile(r"\b(?:ppl|peeps)\b", re.IGNORECASE), "people"),
        (re.compile(r"\b(?:num|nr|nbr|no)\.? of\b", re.IGNORECASE), "number of"),
        (re.compile(r"\bhow mutch\b", re.IGNORECASE), "how much"),
        (re.compile(r"\b(who|which|what)\b(.*?)\bmore\b(?!.*\bthan\b)", re.IGNORECASE), r"\1\2most"),
        (re.compile(r"\b(who|which|what)\b(.*?)\bless\b(?!.*\bthan\b)", re.IGNORECASE), r"\1\2least"),
    ),
    "fr": (
        (
            re.compile(
                r"(?<!du )(?<!du 1er )\bau\s+(?=[1-4]\s?(?:er|ère|ème|eme|e|nd)?\s+(?:trimestre|semestre))",
                re.IGNORECASE,
            ),
            "en ",
        ),
        (
            re.compile(r"\b([1-4])\s?(?:er|ère|ème|eme|e|nd|nde)\s+(?=trimestre|semestre)", re.IGNORECASE),
            r"\1 ",
        ),
    ),
    "zh": ((re.compile(r"([每各][^，。？?]+?)各自?(?=有|是)"), r"\1"),),
}
_YEARS: Final = re.compile(r"(?<![\d-])((?:19|20)\d\d)[-–]((?:19|20)?\d\d)(?![\d-])")
_TO: Final = {"en": "to", "de": "bis", "es": "a", "fr": "à", "zh": "到"}
_DECEMBER: Final = 12
_UNTIL_NOW: Final = re.compile(
    r"\b(?:so far|to date|until now|up to now|as of today|all in all|bis jetzt|bislang|bisher"
    r"|hasta ahora|hasta la fecha|jusqu['’](?:ici|à présent))\b|到目前为止|至今|截至目前",
    re.IGNORECASE,
)
_UNDONE: Final = {"en": ("un", "non"), "de": ("un", "nicht"), "es": ("in", "no"), "fr": ("in", "non")}
_NOT: Final = {"en": "not", "de": "nicht", "es": "no", "fr": "non"}
_SHORTEST: Final = 4
_SHORTEST_TYPED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """`taken`: typed words and cells."""

    text: str
    taken: tuple[tuple[str, str], ...] = ()


def with_year_ranges(question: str, tables: Sequence[TypedTable], language: str) -> str:
    """ "2020 to 2022" for "2020-2022"."""

    def spelled(match: re.Match[str]) -> str:
        first, last = match[1], match[1][: 4 - len(match[2])] + match[2]
        is_month = len(match[2]) == len("MM") and int(match[2]) <= _DECEMBER
        if is_month or first >= last or any(_holds(table, match[0]) for table in tables):
            return match[0]
        return f"{first} {_TO[language]} {last}"

    return _YEARS.sub(spelled, question)


def _holds(table: TypedTable, text: str) -> bool:
    named = (*titles_of(table), *(column.name for column in table.columns))
    cells = (value for column in table.columns for value in column.values)
    return any(text.replace("–", "-") in one.replace("–", "-") for one in (*named, *cells))


def plain(question: str, tables: Sequence[TypedTable], language: str) -> Wording:
    question = without_order(_without_until_now(question, tables), language)
    for pattern, whole in _SHORTENED.get(language, ()):
        question = pattern.sub(whole, question)
    if language not in _UNDONE:
        return Wording(text=question)
    cells = _joined(tables, language, cells=True)
    meant = concepts()[1].keys()
    known = {**_joined(tables, language, cells=False), **_lexical(language)}
    taken: list[tuple[str, str]] = []

    def corrected(match: re.Match[str]) -> str:
        word = match[0]
        own = forms(word, language)
        if gender := gender_cell(folded(word), tables, language):
            taken.append((word, gender))
            return gender
        if len(word) < _SHORTEST or folded(word) in _within_phrases(language) | NUMBERS.keys():
            return word
        if not own.isdisjoint(cells.keys() | known.keys() | meant):
            return word
        for prefix in _UNDONE[language]:
            rest = word.casefold().removeprefix(prefix)
            is_known = not forms(rest, language).isdisjoint(cells.keys() | known.keys() | meant)
            if _SHORTEST <= len(rest) < len(word) and is_known:
                return f"{_NOT[language]} {rest}"
        return _without_slip(word, cells, known, taken)

    return Wording(text=_WORD.sub(corrected, question), taken=tuple(taken))


def _without_until_now(question: str, tables: Sequence[TypedTable]) -> str:
    headers = " ".join(column.name.casefold() for table in tables for column in table.columns)
    return _UNTIL_NOW.sub(lambda found: found[0] if found[0].casefold() in headers else " ", question).strip()


def _without_slip(
    word: str, cells: Mapping[str, str], known: Mapping[str, str], taken: list[tuple[str, str]]
) -> str:
    if len(word) < _SHORTEST_TYPED or is_spelled(folded(word)):
        return word
    near = {folded(whole): whole for whole in known.values() if is_slip(word, whole)}
    if not near and word.islower():
        near = {
            whole: whole for whole in concepts()[1] if len(whole) >= _SHORTEST_TYPED and is_slip(word, whole)
        }
    named = {folded(whole): whole for whole in cells.values() if is_slip(word, whole)}
    if len(near | named) != 1:
        return word
    ((plain_form, found),) = (named | near).items()
    if plain_form not in near:
        taken.append((word, found))
    return found


def _joined(tables: Sequence[TypedTable], language: str, *, cells: bool) -> dict[str, str]:
    return {form: word for table in tables for form, word in _vocabulary(table, language, cells).items()}


@lru_cache(maxsize=1_024)
def _vocabulary(table: TypedTable, language: str, cells: bool) -> dict[str, str]:
    names = [*titles_of(table), *(column.name for column in table.columns)]
    if cells:
        names = [value for column in table.columns if column.kind == "text" for value in column.values]
    return {form: word.text for name in names for word in header_words(name, language) for form in word.forms}


@lru_cache(maxsize=8)
def _lexical(language: str) -> dict[str, str]:
    return {first: first for first in lexicon(language).phrases}


@lru_cache(maxsize=8)
def _within_phrases(language: str) -> frozenset[str]:
    return frozenset(
        word for entries in lexicon(language).phrases.values() for phrase, _ in entries for word in phrase
    )
