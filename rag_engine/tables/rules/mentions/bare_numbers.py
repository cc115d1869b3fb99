"""Numbers that no comparison or period has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.mentions import comparisons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord

_CLASSIFIERS: Final = frozenset("个条名位笔家种项张台件辆本只部间套箱座栋款批艘")


@dataclass(frozen=True, slots=True, kw_only=True)
class BareNumber:
    start: int
    end: int
    value: float


def bare_numbers(words: Sequence[QuestionWord], free: Sequence[bool], language: str) -> list[BareNumber]:
    return [
        BareNumber(start=at, end=at + 1, value=value)
        for at, word in enumerate(words)
        if free[at]
        and (not word.is_han or (at + 1 < len(words) and words[at + 1].text in _CLASSIFIERS))
        and (value := _whole_number(word) or _decimal_number(word, language))
    ]


def _whole_number(word: QuestionWord) -> int:
    if word.text.isdecimal():
        return int(word.text)
    number = comparisons.small_number(word)
    return number if number > 1 else 0


def _decimal_number(word: QuestionWord, language: str) -> float:
    return (comparisons.plain_number(word.text, language) or 0.0) if word.is_number else 0.0
