"""Questions, headers and cells as comparable words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rag_engine.text.analyzer import tokens

_HAN: Final = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_DATE: Final = r"\d{4}-\d{2}(?:-\d{2})?(?!\d)|\d{1,2}[./]\d{1,2}[./]\d{4}(?!\d)"
_WORD: Final = re.compile(
    rf"[{_HAN}]|{_DATE}|\d+(?:[.,'’]\d+)*|[^\W\d_{_HAN}][^\W_{_HAN}]*|[<>]=?|[%€$£¥&≤≥=、]"
)
_HUMP: Final = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?=\s)")
_COMPOUND: Final = re.compile(
    r"(gesamt|durchschnitts|höchst|mindest|maximal|minimal)([a-zäöüß]{4,})\Z", re.IGNORECASE
)
_ORDINAL: Final = re.compile(r"(zweit|dritt|viert|fünft)([a-zäöüß]{3,}st(?:e[nmrs]?)?)\Z", re.IGNORECASE)
_COUNTED: Final = re.compile(r"([A-ZÄÖÜa-zäöüß]{4,}?)(anzahl|zahl|nr)")
_IRREGULAR: Final = {
    form: forms[0]
    for forms in (
        "sell sells selling sold", "buy buys buying bought", "take takes taking took taken",
        "spend spends spending spent", "win wins winning won", "lose loses losing lost",
        "send sends sending sent", "hold holds holding held", "write writes writing wrote written",
        "drive drives driving drove driven", "build builds building built", "lend lends lent",
        "catch catches caught", "teach teaches taught", "give gives gave given", "grow grows grew grown",
    )
    for forms in [forms.split()]
    for form in forms
}  # fmt: skip
_ENDINGS: Final = frozenset({"e", "en", "er", "es", "em", "wert", "werte"})
_SHORTEST_STEM: Final = 4
_SHORTEST_PLURAL: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWord:
    text: str
    folded: str
    """Lower case, without accents."""
    forms: frozenset[str]
    """`folded` and its stems."""
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()

    @property
    def is_han(self) -> bool:
        return len(self.text) == 1 and self.text[0] >= "\u3005"


def folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


@lru_cache(maxsize=65_536)
def forms(word: str, language: str) -> frozenset[str]:
    plain = folded(word)
    if len(plain) == _SHORTEST_PLURAL and language == "en" and plain.isalpha():
        return frozenset((plain, plain.removesuffix("s")))
    if len(plain) < _SHORTEST_STEM or not plain.isalpha():
        is_plural_code = plain.endswith("s") and any(map(str.isdigit, plain))
        return frozenset((plain, plain.removesuffix("s"))) if is_plural_code else frozenset((plain,))
    stems = (form for name in {language, "en"} for form in tokens(word, language=name))
    irregular = (_IRREGULAR[plain],) if language == "en" and plain in _IRREGULAR else ()
    return frozenset((plain, *irregular, *map(folded, stems)))


@lru_cache(maxsize=32_768)
def words(text: str, language: str) -> tuple[QuestionWord, ...]:
    """In order; each Chinese character is one."""
    text = _POSSESSIVE.sub(lambda found: " " * len(found[0]), unicodedata.normalize("NFC", text))
    found: list[QuestionWord] = []
    for match in _WORD.finditer(text):
        for part, start in _parts(match[0], match.start()):
            word = unicodedata.normalize("NFKC", part)
            found.append(
                QuestionWord(
                    text=word,
                    folded=folded(word),
                    forms=forms(word, language),
                    start=start,
                    end=start + len(part),
                )
            )
    return tuple(found)


def header_words(text: str, language: str) -> tuple[QuestionWord, ...]:
    return words(_HUMP.sub(" ", text), language)


def _parts(word: str, start: int) -> list[tuple[str, int]]:
    counted = _COUNTED.fullmatch(word)
    if counted is not None:
        return [(counted[1], start), (counted[2], start + len(counted[1]))]
    compound = _ORDINAL.fullmatch(word) or _COMPOUND.fullmatch(word)
    if compound is None or compound[2] in _ENDINGS:
        return [(word, start)]
    return [(compound[1], start), (compound[2], start + len(compound[1]))]
