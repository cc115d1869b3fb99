"""Words of a question that a table's title or caption has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.language.question_words import header_words
from rag_engine.tables.rules.mentions import roots
from rag_engine.tables.rules.titles import is_titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.rules.question import Question
    from rag_engine.tables.types import TypedTable

_SHORT_LINKS: Final = frozenset({"to", "of", "in", "on", "at", "by", "as", "is", "it", "an", "or", "up", "so", "de", "la", "el", "le", "du", "au", "en", "zu", "im", "am", "um"})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleMention:
    start: int
    end: int
    is_literal: bool = False


def title_mentions(
    words: Sequence[QuestionWord],
    free: Sequence[bool],
    table: TypedTable,
    titled: frozenset[str],
    language: str,
) -> Iterator[TitleMention]:
    """`titled`: words of the title; verbs of it are found, too."""
    verbs = frozenset(roots.of_title(words, free, table, language))
    for at, word in enumerate(words):
        if free[at] and not word.is_number and not _is_link(word) and is_titled(word, titled):
            yield TitleMention(start=at, end=at + 1, is_literal=not titled.isdisjoint(word.forms))
        elif at in verbs:
            yield TitleMention(start=at, end=at + 1)


def caption_numbers(question: Question, table: TypedTable, free: Sequence[bool]) -> Iterator[TitleMention]:
    """ "Since 67", of "Cups Since 67"."""
    said = [word.folded for word in question.words]
    caption = [word.folded for word in header_words(table.caption, question.language)]
    for at in range(1, len(caption)):
        pair = caption[at - 1 : at + 1]
        places = [start for start in range(len(said) - 1) if said[start : start + 2] == pair]
        if (
            caption[at].isdigit()
            and not caption[at - 1].isdigit()
            and len(places) == 1
            and all(free[places[0] : places[0] + 2])
        ):
            is_whole = set(caption) <= set(said)
            yield from (
                TitleMention(start=one, end=one + 1, is_literal=True)
                for one in range(places[0], places[0] + 2)
                if is_whole
            )


def _is_link(word: QuestionWord) -> bool:
    return word.folded in column_names.LINKS or word.folded in _SHORT_LINKS
