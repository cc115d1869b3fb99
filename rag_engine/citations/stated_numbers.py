"""Numbers, dates and identifiers of a claim must appear in the passages it cites."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag_engine.text.language import months
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FIGURE: Final = lazy(
    lambda: re.compile(
        r"(?<![^\W\u2e80-\uffff]|[.,/])(?<!\w[-–_])(?>(?:[A-Za-z]++[-_/.]?+)*)\d++(?>(?:[ \u00a0\u202f]\d{3}(?!\d))*)(?>(?:[.,:/'’_–-]?+[A-Za-z\d]++)*)"
        r"|(?<=[^\W\d_a-zA-Z])\d++(?>(?:[.,:/-]\d++)*)"
    )
)
_ITEM_NUMBER: Final = lazy(lambda: re.compile(r"\s*(?:[>*_#-]\s*)*\d{1,3}[.)]\s"))
_COMMA: Final = lazy(lambda: re.compile(r"(?<!\d)，|，(?!\d{3}(?!\d))"))
"""NFKC would make it that of "1,000"."""
_GROUPED: Final = lazy(lambda: re.compile(r"\d{1,3}(?:[.,'’ ]\d{3})+(?![\d])"))
_DECIMAL: Final = lazy(lambda: re.compile(r"\d+[.,]\d+"))
_PART: Final = lazy(lambda: re.compile(r"\d+|[A-Za-z]+"))
_UNIT: Final = lazy(lambda: re.compile(r"(\d+(?:[.,]\d+)*)['’.]?[A-Za-z]{1,4}\Z"))
_ORDINAL: Final = lazy(lambda: re.compile(r"(\d{1,3})(?:\.?(?:st|nd|rd|th|[aoe]|ers?|[èe]me))\Z"))
_SHORT_RANGE: Final = lazy(lambda: re.compile(r"((?:1\d|20)\d\d)[-–/](\d\d)\Z"))
_HUNDREDS: Final = lazy(lambda: re.compile(r"(1\d|20)00['’]?s\Z"))
_WORDS: Final = {
    word: str(value)
    for value, words in enumerate(
        (
            "zero null cero zéro 零 〇",
            "one once ein eine einen einem einer eins uno una un une 一",
            "two twice zwei dos deux 二 两",
            "three drei tres trois 三",
            "four vier cuatro quatre 四",
            "five fünf cinco cinq 五",
            "six sechs seis 六",
            "seven sieben siete sept 七",
            "eight acht ocho huit 八",
            "nine neun nueve neuf 九",
            "ten zehn diez dix 十",
            "eleven elf once onze 十一",
            "twelve zwölf doce douze 十二",
        )
    )
    for word in words.split()
}
_ORDINALS: Final = {
    word: f"{value}th"
    for value, words in enumerate(
        (
            "first erste ersten erster primer primera primero premier première",
            "second zweite zweiten zweiter segundo segunda deuxième",
            "third dritte dritten dritter tercer tercera tercero troisième",
            "fourth vierte vierten vierter cuarto cuarta quatrième",
            "fifth fünfte fünften fünfter quinto quinta cinquième",
            "sixth sechste sechsten sechster sexto sexta sixième",
            "seventh siebte siebten siebter séptimo séptima septième",
            "eighth achte achten achter octavo octava huitième",
            "ninth neunte neunten neunter noveno novena neuvième",
            "tenth zehnte zehnten zehnter décimo décima dixième",
            "eleventh elfte elften elfter undécimo undécima onzième",
            "twelfth zwölfte zwölften zwölfter duodécimo duodécima douzième",
        ),
        1,
    )
    for word in words.split()
}
_NO_MONTHS: Final = frozenset({"set", "out", "mag", "gen", "ago"})
_MONTHS: Final = {name: str(number) for name, number in months.NUMBERS.items() if name not in _NO_MONTHS}
_SPELLED: Final = lazy(lambda: re.compile(r"[^\W\d_]+"))
_IDEOGRAPHIC_NUMBER: Final = lazy(lambda: re.compile(r"[零〇一二两三四五六七八九十百千万]+"))
_IDEOGRAPHIC_SCALES: Final = {"十": 10, "百": 100, "千": 1_000}
_TEN_THOUSAND: Final = 10_000


def figures(text: str) -> list[str]:
    """Without the claim's own item number."""
    item = _ITEM_NUMBER.match(text)
    return list(_found(text[item.end() :] if item else text))


def missing(claim: str, passages: Iterable[str]) -> tuple[str, ...]:
    stated = figures(claim)
    if not stated:
        return ()
    known = known_figures(passages)
    return tuple(dict.fromkeys(figure for figure in stated if not _is_known(figure, known)))


def known_figures(passages: Iterable[str]) -> frozenset[str]:
    """In every notation, those in words as digits."""
    return frozenset(chain.from_iterable(map(_known, passages)))


def spelled_number(word: str) -> str:
    """Empty for any other word."""
    if all(sign in "零〇一二两三四五六七八九十百千万" for sign in word):
        return str(_ideographic(word))
    return _WORDS.get(word.casefold(), "")


def plain(number: str) -> str:
    """No grouping, no leading zeros, a point for the comma."""
    grouped = _GROUPED.fullmatch(number)
    return _plain(re.sub(r"\D", "", number) if grouped else number.replace(",", "."))


def _ideographic(word: str) -> int:
    if not any(sign in "十百千万" for sign in word):
        return int("".join(_WORDS[sign] for sign in word))
    total = part = digit = 0
    for sign in word:
        if sign == "万":
            total, part, digit = total + (part + digit) * _TEN_THOUSAND, 0, 0
        elif sign in _IDEOGRAPHIC_SCALES:
            part += (digit or 1) * _IDEOGRAPHIC_SCALES[sign]
            digit = 0
        else:
            digit = int(_WORDS[sign])
    return total + part + digit


def _found(text: str) -> Iterator[str]:
    for match in _FIGURE.finditer(unicodedata.normalize("NFKC", _COMMA.sub("、", text))):
        yield match[0]


def _is_known(figure: str, known: frozenset[str]) -> bool:
    if not known.isdisjoint(_forms(figure)):
        return True
    if _DECIMAL.fullmatch(figure):
        return re.sub("[.,]", ":", figure) in known
    parts = [_plain(part) for part in _PART.findall(figure) if part.isdigit()]
    return len(parts) > 1 and all(part in known for part in parts)


@lru_cache(maxsize=256)
def _known(text: str) -> frozenset[str]:
    known: set[str] = set()
    for figure in _found(text):
        known |= _forms(figure)
        if years := _SHORT_RANGE.fullmatch(figure):
            known.add(f"{years[1][:2]}{years[2]}")
        known.update(_plain(part) for part in _PART.findall(figure) if part.isdigit())
    for word in _SPELLED.findall(text.casefold()):
        named = (_WORDS.get(word), _MONTHS.get(word), _ORDINALS.get(word))
        known.update(number for number in named if number)
    for word in _IDEOGRAPHIC_NUMBER.findall(text):
        known.add(str(_ideographic(word)))
        known.update(_WORDS[part] for part in word if part in _WORDS)
    return frozenset(known)


def _forms(figure: str) -> set[str]:
    folded = figure.casefold().replace("–", "-")
    forms = {_plain(folded)}
    unit = _UNIT.match(folded)
    number = unit[1] if unit else folded
    forms.add(_plain(number))
    if _GROUPED.fullmatch(number):
        forms.add(re.sub(r"\D", "", number))
    forms.add(_plain(number.replace(",", ".")))
    if ordinal := _ORDINAL.fullmatch(folded):
        forms.add(f"{ordinal[1]}th")
    if hundreds := _HUNDREDS.fullmatch(folded):
        forms.add(f"{int(hundreds[1]) + 1}th")
    return forms


def _plain(figure: str) -> str:
    return figure.lstrip("0") or "0" if figure.isdigit() else figure
