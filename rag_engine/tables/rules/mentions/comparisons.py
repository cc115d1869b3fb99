from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers.units import UNITS
from rag_engine.tables.rules.mentions import periods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.lexicon import Lexicon
    from rag_engine.tables.rules.language.question_words import QuestionWord

_SCALES: Final = {
    "k": 10**3, "thousand": 10**3, "tausend": 10**3, "tsd": 10**3, "mil": 10**3, "千": 10**3, "万": 10**4,
    "million": 10**6, "millions": 10**6, "mio": 10**6, "millionen": 10**6, "millones": 10**6, "millon": 10**6,
    "m": 10**6, "亿": 10**8,
}  # fmt: skip
CURRENCIES: Final = frozenset(
    [
        "eur",
        "euro",
        "euros",
        "usd",
        "dollar",
        "dollars",
        "dolares",
        "gbp",
        "pounds",
        "chf",
        "franken",
        "francs",
        "yen",
        "jpy",
        "cny",
        "rmb",
        "yuan",
        "rupees",
        "inr",
        "pesos",
        "krona",
        "kronor",
        "kroner",
        "sek",
        "nok",
        "dkk",
        "zloty",
        "pln",
        "rubles",
        "rub",
        "日元",
        "美元",
        "欧元",
    ]
)
_CURRENCIES: Final = frozenset("€$£¥")
_GROUPED: Final = {
    "comma": re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"),
    "point": re.compile(r"\d{1,3}(?:[.'’]\d{3})+(?:,\d+)?|\d+(?:[.,]\d+)?"),
}
_SPELLED: Final = {
    word: number
    for number, names in enumerate(
        (
            "one ein eine einen uno una un une 一",
            "two zwei dos deux 两 二",
            "three drei tres trois 三",
            "four vier cuatro quatre 四",
            "five funf cinco cinq 五",
            "six sechs seis 六",
            "seven sieben siete 七",
            "eight acht ocho 八",
            "nine neun nueve 九",
            "ten zehn diez 十",
        ),
        1,
    )
    for word in names.split()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`unit` as columns have it, or ""."""

    start: int
    end: int
    low: float | None = None
    high: float | None = None
    includes_low: bool = False
    includes_high: bool = False
    unit: str = ""
    concept: str = ""
    scaled: bool = False


def compared(
    words: Sequence[QuestionWord], free: Sequence[bool], lexicon: Lexicon, language: str
) -> list[Comparison]:
    found: list[Comparison] = []
    at = 0
    while at < len(words):
        comparison = _comparison(words, at, lexicon, language) if free[at] else None
        if comparison is not None and all(free[comparison.start : comparison.end]):
            found.append(comparison)
            at = comparison.end
        else:
            at += 1
    return found


def number(words: Sequence[QuestionWord], at: int, language: str) -> tuple[int, float | None, str]:
    unit = ""
    if at < len(words) and words[at].text in _CURRENCIES:
        unit, at = UNITS[words[at].text], at + 1
    if at >= len(words):
        return at, None, ""
    end, value = _value(words, at, language)
    if value is None:
        return at, None, ""
    if end < len(words) and words[end].folded in _SCALES and (words[end].folded != "m"):
        value, end = value * _SCALES[words[end].folded], end + 1
    if not unit:
        end, unit = unit_at(words, end)
    return _rate_end(words, end), int(value) if value == int(value) else value, unit


def _rate_end(words: Sequence[QuestionWord], at: int) -> int:
    is_rate = at + 1 < len(words) and words[at].folded in _EACH and UNITS.get(words[at + 1].folded) in _SPANS
    return at + 2 if is_rate else at


def _value(words: Sequence[QuestionWord], at: int, language: str) -> tuple[int, float | None]:
    if words[at].is_number:
        return at + 1, plain_number(words[at].text, language)
    if words[at].is_han:
        end = at
        total = digit = 0
        while end < len(words) and (sign := words[end].text) in _HAN_PLACES | _SPELLED.keys():
            if sign not in _HAN_PLACES:
                digit = _SPELLED[sign]
            elif sign == "万":
                total, digit = (total + digit or 1) * 10_000, 0
            else:
                total, digit = total + (digit or 1) * _HAN_PLACES[sign], 0
            end += 1
        return (end, total + digit) if end > at else (at, None)
    if words[at].folded in _ONE and unit_at(words, at + 1)[1]:
        return at + 1, 1
    if words[at].folded in _HALF:
        end = at + 1 + (at + 1 < len(words) and words[at + 1].folded in _ONE)
        return (end, 0.5) if unit_at(words, end)[1] else (at, None)
    if words[at].folded in _ZERO:
        return at + 1, 0
    return (at + 1, small_number(words[at])) if small_number(words[at]) else (at, None)


_ONE: Final = frozenset({"a", "an", "one", "eine", "einen", "einer", "un", "una"})
_ARTICLES: Final = frozenset({"the", "los", "las", "die", "den"})
_ZERO: Final = frozenset({"zero", "null", "cero", "零"})
_EACH: Final = frozenset({"a", "per", "each", "every", "pro", "je", "por", "par", "am", "im"})
_SPANS: Final = frozenset({"day", "week", "month", "year"})
_HALF: Final = frozenset({"half", "halbe", "halben", "media", "medio"})
WORDS: Final = CURRENCIES | _CURRENCIES | _SCALES.keys() | _SPELLED.keys() | _ONE | _ARTICLES | _HALF | _ZERO
_HAN_PLACES: Final = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}


def unit_at(words: Sequence[QuestionWord], at: int) -> tuple[int, str]:
    """The longest unit there."""
    for length in (2, 1):
        part = words[at : at + length]
        if len(part) == length and (length == 1 or all(word.is_han for word in part)):
            unit = UNITS.get("".join(word.folded for word in part), "")
            if unit:
                return at + length, unit
    return at, ""


def plain_number(text: str, language: str) -> float | None:
    form = "point" if language in {"de", "es", "fr"} else "comma"
    if not _GROUPED[form].fullmatch(text):
        return None
    text = text.replace("'", "").replace("’", "")
    if form == "comma":
        return float(text.replace(",", ""))
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", text):
        text = text.replace(".", "")
    return float(text.replace(",", "."))


def is_spelled(word: str) -> bool:
    return word in _SPELLED


def small_number(word: QuestionWord) -> int:
    if word.text.isdecimal() and len(word.text) <= 3:
        return int(word.text)
    return _SPELLED.get(word.folded, 0)


def _comparison(words: Sequence[QuestionWord], at: int, lexicon: Lexicon, language: str) -> Comparison | None:
    end, meaning = lexicon.at(words, at, "comparisons")
    name, _, concept = meaning.removeprefix("comparisons ").partition(" ")
    if not name or name.endswith("_behind"):
        return _behind(words, at, lexicon, language)
    after, value, unit = number(words, end, language)
    if value is None and end < len(words) and words[end].folded in _ARTICLES:
        after, value, unit = number(words, end + 1, language)
    if value is None:
        return None
    if name == "between":
        return _between(words, at, after, value, unit, lexicon, language)
    if _is_year(words, at, end, after, name):
        return None
    return _one_sided(at, after, name, value, unit, concept)


def _one_sided(start: int, end: int, name: str, value: float, unit: str, concept: str = "") -> Comparison:
    is_low, is_high = name in {"above", "at_least", "equal"}, name in {"below", "at_most", "equal"}
    return Comparison(
        start=start,
        end=end,
        low=value if is_low else None,
        high=value if is_high else None,
        includes_low=name in {"at_least", "equal"},
        includes_high=name in {"at_most", "equal"},
        unit=unit,
        concept=concept,
    )


def _behind(words: Sequence[QuestionWord], at: int, lexicon: Lexicon, language: str) -> Comparison | None:
    end, value, unit = number(words, at, language)
    if value is None or end >= len(words):
        return None
    after, meaning = lexicon.at(words, end, "comparisons")
    if not meaning.endswith("_behind"):
        return None
    name = meaning.removeprefix("comparisons ").removesuffix("_behind")
    return _one_sided(at, after, name, value, unit)


def _between(
    words: Sequence[QuestionWord], start: int, at: int, low: float, unit: str, lexicon: Lexicon, language: str
) -> Comparison | None:
    if at >= len(words):
        return None
    end, meaning = lexicon.at(words, at, "links", "periods")
    if meaning not in {"links and", "periods until"}:
        return None
    after, high, other = number(words, end, language)
    if high is None or (unit and other and unit != other):
        return None
    if after < len(words) and periods.may_begin(words[after]):
        return None
    if not (unit or other) and all(1900 <= value <= 2099 and value == int(value) for value in (low, high)):
        return None
    return Comparison(
        start=start,
        end=after,
        low=low,
        high=high,
        includes_low=True,
        includes_high=True,
        unit=unit or other,
    )


def _is_year(words: Sequence[QuestionWord], at: int, start: int, end: int, name: str) -> bool:
    return (
        name in {"at_most", "equal"}
        and end == start + 1
        and len(words[start].text) == 4
        and 1900 <= int(words[start].text) <= 2099
        if words[start].text.isdecimal()
        else False
    )
