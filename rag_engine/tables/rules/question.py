from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.tables.rules.language.lexicon import Lexicon
    from rag_engine.tables.rules.language.question_words import QuestionWord

SIGNS: Final = ("ordinals", "superlatives", "operations", "links", "groups", "asked")


COMMON: Final = (*SIGNS, "filler", "nouns", "hints", "comparisons", "periods")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    language: str
    lexicon: Lexicon
    words: tuple[QuestionWord, ...]
    is_loose: bool = False
    aside: str = ""
    """What was left out of it: "I need the show and the date"."""

    def is_common(self, word: QuestionWord) -> bool:
        return self.lexicon.has(word, *COMMON)

    def is_hint(self, word: QuestionWord) -> bool:
        return self.lexicon.has(word, "hints")

    def is_no_value(self, word: QuestionWord) -> bool:
        """ "Paid" and "won" may be states."""
        is_linking = self.lexicon.has(word, "filler") and not self.lexicon.has(word, "states")
        return is_linking or self.lexicon.has(word, *SIGNS, "nouns", "comparisons", "periods")

    def spoken(self, start: int, end: int) -> str:
        return self.text[self.words[start].start : self.words[end - 1].end]

    def is_beside(self, end: int, start: int) -> bool:
        """Only words without content are between."""
        return end <= start and all(map(self.is_filler, self.words[end:start]))

    def is_filler(self, word: QuestionWord) -> bool:
        return self.lexicon.has(word, "filler", *(("loose",) if self.is_loose else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """`group` and `name` as in the lexicon."""

    start: int
    end: int
    group: str
    name: str
