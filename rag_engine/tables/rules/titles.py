"""What a title says of the rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import concepts, concepts_at
from rag_engine.tables.rules.language.question_words import folded, forms, header_words
from rag_engine.tables.rules.mentions.joins import JoinedTable
from rag_engine.tables.types import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.mentions.title_mentions import TitleMention
    from rag_engine.tables.types import TypedTable

_MASSES: Final = frozenset(
    {
        "revenue",
        "amount",
        "cost",
        "budget",
        "stock",
        "pay",
        "hours",
        "profit",
        "tax",
        "rent",
        "rate",
        "population",
    }
)
_MONEY_IN_TITLES: Final = frozenset({"revenue", "cost", "donation"})
_MONEY_ENDS: Final = ("kosten", "ausgaben", "budget", "umsatz", "preise")
_COLLECTIVES: Final = frozenset(
    {
        "fleet",
        "log",
        "list",
        "register",
        "registry",
        "roster",
        "overview",
        "directory",
        "catalog",
        "catalogue",
        "sheet",
    }
    | {
        "liste",
        "register",
        "verzeichnis",
        "ubersicht",
        "kataster",
        "bestand",
        "plan",
        "registro",
        "lista",
        "listado",
    }
)
_COLLECTIVE_ENDS: Final = ("kataster", "verzeichnis", "liste", "register", "ubersicht", "bestand")
_BRACKETS: Final = re.compile(r"[(\[（].*?[)\]）]")
_SHORTEST_COMPOUND: Final = 8
_SHORTEST_HEAD: Final = 5
_SCRIPTS: Final = (
    (
        re.compile("[\u3040-\u30ff\u4e00-\u9fff]"),
        ("japanese", "japan", "japanisch", "japanische", "japones", "japonesa"),
    ),
    (re.compile("[\u4e00-\u9fff]"), ("chinese", "chines", "chinesisch", "chinesische", "chino")),
    (re.compile("[\u0400-\u04ff]"), ("russian", "russisch", "russische", "ruso", "rusa")),
    (re.compile("[\uac00-\ud7af]"), ("korean", "koreanisch", "koreanische", "coreano")),
)
_DAY: Final = len("2025-03-01")
_EXTENSIONS: Final = frozenset({"csv", "tsv", "xlsx", "xls", "xlsm", "ods", "md", "docx", "html", "pdf"})


def implied_rows(table: TypedTable) -> frozenset[str]:
    headers = {folded(_BRACKETS.sub("", column.name)).strip() for column in table.columns}
    found = frozenset(name for name, concept in concepts()[0].items() if headers & concept.headers)
    return found | {"days"} if _has_one_row_a_day(table) else found


def _has_one_row_a_day(table: TypedTable) -> bool:
    dates = [one for one in table.columns if one.kind == "date"]
    if len(dates) != 1 or table.row_count < 2 or len(str(dates[0].least)) != _DAY:
        return False
    return len(dates[0].values) == min(dates[0].filled, MOST_VALUES) and dates[0].filled == table.row_count


def title_words(table: TypedTable, language: str) -> frozenset[str]:
    return (
        _scripts(table)
        | frozenset(f"\x00{name}" for name in implied_rows(table))
        | frozenset(
            form
            for text in titles_of(table)
            for word in header_words(text, language)
            if word.folded not in _EXTENSIONS and not word.is_number
            for form in (
                *word.forms,
                *_first_part(word),
                *_heads(word, language),
                *(f"\x00{name}" for name in concepts_at((word,), 0)[1]),
            )
        )
    )


def _scripts(table: TypedTable) -> frozenset[str]:
    headers = "".join(column.name for column in table.columns)
    return frozenset(name for pattern, names in _SCRIPTS if pattern.search(headers) for name in names)


def titles_of(table: TypedTable) -> tuple[str, ...]:
    if isinstance(table, JoinedTable):
        return *titles_of(table.first), *titles_of(table.second)
    return table.title, table.caption


def _first_part(word: QuestionWord) -> frozenset[str]:
    known = (*_MONEY_ENDS, *_COLLECTIVE_ENDS)
    ends = [end for end in known if word.folded.endswith(end) and len(word.folded) > len(end) + 3]
    return forms(word.folded.removesuffix(ends[0]), "de") if ends else frozenset()


def _heads(word: QuestionWord, language: str) -> frozenset[str]:
    length = len(word.folded)
    if language != "de" or length < _SHORTEST_COMPOUND:
        return frozenset()
    return frozenset(
        form for at in range(3, length - _SHORTEST_HEAD + 1) for form in forms(word.folded[at:], "de")
    )


def names_rows(reading: Interpretation, start: int, end: int) -> bool:
    """As in "orders.csv", but not in "order budget.csv"."""
    words = reading.question.words[start:end]
    if any(concepts_at(words, at)[1] & implied_rows(reading.table) for at in range(len(words))):
        return True
    if reading.question.language == "zh" and _is_in_title(reading, start):
        return True
    said = frozenset(form for word in words for form in word.forms)
    has_days = any(
        column.kind == "date" and len(str(column.least)) >= _DAY for column in reading.table.columns
    )
    for text in (reading.table.title, reading.table.caption):
        found = [
            word
            for word in header_words(text, reading.question.language)
            if word.folded not in _EXTENSIONS and not word.is_number
        ]
        for word in found:
            named = [one for one in found if one.folded not in _COLLECTIVES] or found
            is_head = word is named[-1] or word.folded.endswith("s")
            if (
                is_head
                and not said.isdisjoint(
                    (*word.forms, *_first_part(word), *_heads(word, reading.question.language))
                )
                and (has_days or not _is_mass(word))
            ):
                return True
    return False


def _is_in_title(reading: Interpretation, start: int) -> bool:
    end = start
    while any(one.start == end for one in reading.titles):
        end += 1
    said = reading.question.spoken(start, end) if end > start + 1 else ""
    return bool(said) and any(said in text for text in (reading.table.title, reading.table.caption))


def is_money(reading: Interpretation, title: TitleMention | ColumnMention) -> bool:
    said = reading.question.words[title.start : title.end]
    return any(concepts_at((word,), 0)[1] & _MONEY_IN_TITLES for word in said)


def _is_mass(word: QuestionWord) -> bool:
    return bool(concepts_at((word,), 0)[1] & _MASSES)


def is_titled(word: QuestionWord, titled: frozenset[str]) -> bool:
    meant = (f"\x00{name}" for name in concepts_at((word,), 0)[1])
    return not titled.isdisjoint((*word.forms, *meant))


def is_title(said: Sequence[QuestionWord], titled: frozenset[str]) -> bool:
    return all(is_titled(word, titled) for word in said)
