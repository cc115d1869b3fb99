from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.column_names import header
from rag_engine.tables.rules.mentions.columns import ColumnMention

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord
    from rag_engine.tables.types import TypedColumn, TypedTable

_SHORTEST_ABBREVIATION: Final = 4
_CODES: Final = frozenset({"id", "ids", "code", "codes", "ref", "refs", "reference", "references", "kennung", "kennungen", "codigo", "codigos", "referencia", "referencias", "referenz"})  # fmt: skip


def abbreviated(
    words: Sequence[QuestionWord],
    free: Sequence[bool],
    table: TypedTable,
    language: str,
    is_common: Callable[[QuestionWord], bool],
) -> list[ColumnMention]:
    """ "Prio" for "Priority"."""
    found: list[ColumnMention] = []
    for at, word in enumerate(words):
        if not free[at] or is_common(word) or not _may_be_short(word):
            continue
        own = _named(word, table, language, _is_short_for)
        if not own and language == "de":
            own = _named(word, table, language, _begins_with)
            found += [ColumnMention(start=at, end=at + 1, columns=own, share=0.0)] if own else []
        elif len(own) == 1:
            found.append(ColumnMention(start=at, end=at + 1, columns=own, share=0.0))
    return found


def codes(
    words: Sequence[QuestionWord], free: Sequence[bool], table: TypedTable, language: str
) -> list[ColumnMention]:
    """ "The IDs", if one column has them."""
    own = tuple(
        column
        for column in table.columns
        if any(word.folded in _CODES for word in header(column.name, language).words)
    )
    if len(own) != 1:
        return []
    return [
        ColumnMention(start=at, end=at + 1, columns=own, share=0.0)
        for at, word in enumerate(words)
        if free[at] and word.folded in _CODES
    ]


def _named(
    word: QuestionWord, table: TypedTable, language: str, fits: Callable[[QuestionWord, QuestionWord], bool]
) -> tuple[TypedColumn, ...]:
    return tuple(
        column
        for column in table.columns
        if any(fits(word, one) for one in header(column.name, language).words)
    )


def _begins_with(word: QuestionWord, named: QuestionWord) -> bool:
    rest = word.folded.removeprefix(named.folded)
    return len(named.folded) > _SHORTEST_ABBREVIATION and len(word.folded) > len(rest) > 2


def _may_be_short(word: QuestionWord) -> bool:
    return len(word.folded) >= _SHORTEST_ABBREVIATION and word.text.isascii() and word.text.isalpha()


def _is_short_for(word: QuestionWord, whole: QuestionWord) -> bool:
    return whole.folded.startswith(word.folded) and len(whole.folded) > len(word.folded) + 1
