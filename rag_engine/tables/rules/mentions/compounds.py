from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import concepts_at
from rag_engine.tables.rules.language.question_words import folded, header_words, words
from rag_engine.tables.rules.titles import is_titled, title_words

if TYPE_CHECKING:
    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedTable

_SHORTEST: Final = 3
_JOINTS: Final = ("", "s", "n", "en", "es", "e", "-")


def split(question: Question, table: TypedTable) -> Question:
    """ "Gasverbrauch" is "Gas", a cell, and "Verbrauch"; "win percent" is "Winpercent"."""
    question = _joined(question, table)
    if question.language != "de":
        return question
    parted = tuple(part for word in question.words for part in _parts(word, table))
    return question if len(parted) == len(question.words) else replace(question, words=parted)


def _joined(question: Question, table: TypedTable) -> Question:
    said: list[QuestionWord] = []
    for word in question.words:
        whole = said[-1].folded + word.folded if said else ""
        if whole in _names(table) and said[-1].folded not in _names(table):
            whole = question.text[said[-1].start : word.end]
            found = words("".join(whole.split()), question.language)
            if len(found) == 1:
                said[-1] = replace(found[0], start=said[-1].start, end=word.end)
                continue
        said.append(word)
    return question if len(said) == len(question.words) else replace(question, words=tuple(said))


def _parts(word: QuestionWord, table: TypedTable) -> tuple[QuestionWord, ...]:
    titled = title_words(table, "de")
    if not word.text.isalpha() or word.folded in _names(table) or is_titled(word, titled):
        return (word,)
    for end in range(_SHORTEST, len(word.text) - _SHORTEST):
        for joint in _JOINTS:
            rest = word.text[end:]
            if folded(word.text[:end]) not in _cells(table) or not rest.casefold().startswith(joint):
                continue
            found = words(rest[len(joint) :], "de")
            if len(found) != 1 or len(found[0].text) <= _SHORTEST:
                continue
            if is_titled(found[0], titled) or found[0].folded in _names(table) or concepts_at(found, 0)[1]:
                first = words(word.text[:end], "de")[0]
                second = replace(found[0], start=word.end - len(found[0].text), end=word.end)
                return replace(first, start=word.start, end=word.start + end), second
    return (word,)


@lru_cache(maxsize=1_024)
def _cells(table: TypedTable) -> frozenset[str]:
    return frozenset(folded(text) for one in table.columns if one.kind == "text" for text in one.values)


@lru_cache(maxsize=1_024)
def _names(table: TypedTable) -> frozenset[str]:
    return frozenset(word.folded for one in table.columns for word in header_words(one.name, "de"))
