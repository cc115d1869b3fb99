from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.language.lexicon import lexicon
from rag_engine.tables.rules.language.question_words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.question_words import QuestionWord

_FIRST: Final = frozenset({"first", "zuerst", "primero", "primera", "d'abord"})
_ONES: Final = frozenset({"one", "ones"})
_ARTICLES: Final = frozenset({"the", "der", "die", "das", "el", "la", "los", "las"})
_ORDERS: Final = {
    "in order": "",
    "in descending order": "most",
    "in ascending order": "least",
    "best one first": "most",
    "best first": "most",
    "absteigend": "most",
    "aufsteigend": "least",
    "absteigend sortiert": "most",
    "aufsteigend sortiert": "least",
    "de mayor a menor": "most",
    "de menor a mayor": "least",
    "par ordre decroissant": "most",
    "par ordre croissant": "least",
    "从 高 到 低": "most",
    "从 大 到 小": "most",
    "从 多 到 少": "most",
    "从 低 到 高": "least",
    "从 小 到 大": "least",
    "从 少 到 多": "least",
}
_LONGEST: Final = 5


def without_order(question: str, language: str) -> str:
    """ "The top 3, highest first"."""
    said = words(question, language)
    start, order = _order(said, language)
    ranked = {extreme for at in range(start) if (extreme := _extreme(said, at, language)[1])}
    if start == len(said) or len(ranked) != 1 or (order and order not in ranked):
        return question
    return question[: said[start].start].rstrip(" ,;:(-–，、")


def _order(said: Sequence[QuestionWord], language: str) -> tuple[int, str]:
    for length in range(min(_LONGEST, len(said)), 0, -1):
        start = len(said) - length
        phrase = " ".join(word.folded for word in said[start:])
        if phrase in _ORDERS:
            return start, _ORDERS[phrase]
    if not said or said[-1].folded not in _FIRST:
        return len(said), ""
    last = len(said) - 1
    while last and said[last - 1].folded in _ONES:
        last -= 1
    for start in range(max(last - 2, 0), last):
        end, extreme = _extreme(said, start, language)
        if end == last and extreme:
            return start - (start > 0 and said[start - 1].folded in _ARTICLES), extreme
    return len(said), ""


def _extreme(said: Sequence[QuestionWord], at: int, language: str) -> tuple[int, str]:
    end, meaning = lexicon(language).at(said, at, "superlatives", "operations")
    name = meaning.partition(" ")[2].partition(" ")[0]
    return end, name if name in {"most", "least"} else ""
