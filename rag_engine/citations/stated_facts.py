"""What a claim's sources do not hold: numbers, units, dates and names."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from rag_engine.citations.stated_numbers import known_figures, missing, plain, spelled_number
from rag_engine.text.language.months import months
from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNITS: Final = {
    form: unit
    for unit, forms in {
        "second": "s sec secs second seconds sekunde sekunden segundo segundos seconde secondes 秒 秒钟",
        "minute": "min mins minute minutes minuten minuto minutos 分钟",
        "hour": "h hour hours stunde stunden hora horas heure heures 小时",
        "day": "day days tag tage tagen werktag werktage werktagen arbeitstag arbeitstage arbeitstagen día días dia dias jour "
        "jours 天 个工作日 工作日",
        "week": "week weeks weeks' woche wochen semana semanas semaine semaines 周 星期",
        "month": "month months monat monate monaten mes meses mois 个月",
        "year": "year years jahr jahre jahren año años ano anos an ans année années 年",
        "percent": "% percent prozent porcentaje",
        "euro": "€ eur euro euros 欧元",
        "dollar": "$ usd dollar dollars dólar dólares 美元",
        "pound": "£ gbp pounds",
        "franc": "chf franken francs",
        "yuan": "¥ cny rmb yuan 元",
        "kilometre": "km kilometre kilometres kilometer kilometern kilómetro kilómetros 公里",
        "metre": "m metre metres meter metern metro metros 米",
        "kilogram": "kg kilogram kilograms kilogramm kilo kilos 公斤",
        "gram": "g gram grams gramm gramos 克",
        "megabyte": "mb",
        "gigabyte": "gb",
        "terabyte": "tb",
    }.items()
    for form in forms.split()
}
_SCALES: Final = {
    form: scale
    for scale, forms in {
        10**3: "thousand k tsd tausend mil",
        10**4: "万",
        10**6: "million millions mio mn millionen millón millones",
        10**8: "亿",
        10**9: "billion billions bn mrd milliarde milliarden",
    }.items()
    for form in forms.split()
}
_SCALED: Final = lazy(
    lambda: re.compile(r"(?<![\d.,'])(\d++(?>(?:[.,']\d{3})*)(?>(?:[.,]\d++)?))[\s\u00a0]?(万|亿|[^\W\d_]+)")
)
_CURRENCIES: Final = "€$£¥"
_MONEY: Final = frozenset({"euro", "dollar", "pound", "franc", "yuan"})
_UNSPACED_UNITS: Final = "|".join(
    sorted((form for form in _UNITS if form[0] >= "\u2e80"), key=len, reverse=True)
)
_MEASURED: Final = lazy(
    lambda: re.compile(
        rf"(?:([{_CURRENCIES}])\s?)?(?<![A-Za-z0-9_.,])((?:\d+(?:[.,' \u00a0\u202f]\d{{3}})*(?:[.,]\d+)?)|[^\W\d_]+)(?=(?:[\s\u00a0-]?(?:(?:working|business|calendar|full|whole)[\s-])?({_UNSPACED_UNITS}|[%{_CURRENCIES}]|[^\W\d_]+'?))?)"
    )
)
_IDEOGRAPHIC: Final = lazy(
    lambda: re.compile(
        rf"(?<![\d零〇一二两三四五六七八九十百千万])([零〇一二两三四五六七八九十百千][零〇一二两三四五六七八九十百千万]*)({_UNSPACED_UNITS})"
    )
)
_MONTH_WORD: Final = lazy(
    lambda: re.compile(
        r"(\d[.,]?\s|\b(?:de|in|im|of|for|en|since|until|seit|bis)\s)?([^\W\d_]{3,})(?=([\s.,]{1,2}(?:de\s)?\d)?)"
    )
)
_UNSPACED_MONTH: Final = lazy(lambda: re.compile(r"(?:\d{1,2}|[一二三四五六七八九十]{1,2})月"))
_WORDS_TOO: Final = frozenset({"march", "mars", "mayo", "august"})
_SHORTEST_MONTH: Final = 4
_QUARTER: Final = lazy(
    lambda: re.compile(
        r"\bQ ?([1-4])\b|\b([1-4])(?:st|nd|rd|th|\.|er|º|°)? (?:quarter|quartal|trimestre)"
        r"|\b(first|second|third|fourth|erste\w?|zweite\w?|dritte\w?|vierte\w?|primer|segundo|tercer|cuarto) (?:quarter|quartal|trimestre)"
        r"|第([一二三四1-4])季度",
        re.IGNORECASE,
    )
)
_ORDINALS: Final = {
    name: str(number)
    for number, names in enumerate(
        (
            "first erst primer 一",
            "second zweit segundo 二",
            "third dritt tercer 三",
            "fourth viert cuarto 四",
        ),
        1,
    )
    for name in names.split()
}
_DECADE: Final = lazy(
    lambda: re.compile(
        r"\b(?:años|década de(?: los)?|anni|années|anos)\s(\d0)\b|(?<![\d.,])(\d\d)?(\d0)['’]?(?:s|er|ern)\b|(?<![\d.,])(\d\d)?(\d0)\s?年代",
        re.IGNORECASE,
    )
)
_TOKEN: Final = lazy(lambda: re.compile(r"[^\W\d_][\w'’-]*"))
_FULL_NAME: Final = lazy(
    lambda: re.compile(
        r"\b([^\W\d_][\w'’-]*)(?=( (?:(?:of|de|del|di|da|do|von|van|der|den) (?:(?:the|la|las|los|der) )?)?)([^\W\d_][\w'’-]*))"
    )
)
_HONORIFICS: Final = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "herr", "herrn", "frau", "sr", "sra", "señor", "señora"}
)
_CAPITALISED_NOUNS: Final = frozenset({"de", "lb"})
_NAMELESS: Final = frozenset({"zh", "ja", "ko", "th", "ar", "he", "fa", "hi"})
_SHORTEST_STEM: Final = 4
_ENDING: Final = 2


def unheld(
    claim: str,
    sources: Sequence[str],
    *,
    language: str,
    names: bool = True,
    beside: Sequence[str] = (),
) -> tuple[str, ...]:
    """`names` only if claim and sources share a language; `beside`: texts that may complete a name."""
    known = known_figures(sources)
    held = frozenset[object]().union(*map(quarters, sources))
    stated = quarters(claim)
    decades = _decades(claim)
    known |= {value for source in sources for value in _scaled(source).values()}
    scaled = _scaled(claim)
    found = [
        words
        for words in missing(claim, sources)
        if words not in stated.values()
        and plain(words) not in known
        and scaled.get(re.split(r"[万亿]", words)[0]) not in known
        and known.isdisjoint(decades.get(words, ()))
    ]
    found += [words for number, words in stated.items() if number not in held and number not in known]
    found += [*_other_units(claim, sources), *_missing_months(claim, sources, known)]
    found += [words for words, value in _spelled(claim) if value not in known]
    if names and language not in _NAMELESS:
        found += _missing_names(claim, sources, language, beside)
    return tuple(dict.fromkeys(found))


def _decades(claim: str) -> dict[str, tuple[str, ...]]:
    """Their years, by the figure in the claim."""
    found: dict[str, tuple[str, ...]] = {}
    for match in _DECADE.finditer(claim):
        century, tens = match[2] or match[4] or "19", match[1] or match[3] or match[5]
        figure = re.search(r"\d.*", match[0])
        years = (*(f"{century}{tens[0]}{year}" for year in range(10)), f"{century}{tens}s")
        if figure is not None:
            found[figure[0]] = found[f"{match[2] or match[4] or ''}{tens}"] = years
    return found


def _other_units(claim: str, sources: Sequence[str]) -> Iterator[str]:
    held: dict[str, set[str]] = {}
    for source in sources:
        for _, value, unit in _measures(source):
            held.setdefault(value, set()).add(unit)
    for words, value, unit in _measures(claim):
        others = held.get(value, set())
        if unit and others and "" not in others and unit not in others:
            yield words


def _measures(text: str) -> Iterator[tuple[str, str, str]]:
    for match in _MEASURED.finditer(unicodedata.normalize("NFKC", text)):
        before, number, after = match.groups()
        value = plain(number) if number[0].isdigit() else spelled_number(number)
        if value:
            unit = _UNITS.get(before or "") or _UNITS.get((after or "").casefold(), "")
            yield number, value, unit


def _scaled(text: str) -> dict[str, str]:
    scaled: dict[str, str] = {}
    for match in _SCALED.finditer(text):
        scale = _SCALES.get(match[2].casefold())
        if scale:
            scaled[match[1]] = f"{Decimal(plain(match[1])) * scale:f}".removesuffix(".0")
    return {
        number: value.rstrip("0").rstrip(".") if "." in value else value for number, value in scaled.items()
    }


def _spelled(claim: str) -> Iterator[tuple[str, str]]:
    """Numbers without a unit may count what the answer lists."""
    for match in _IDEOGRAPHIC.finditer(claim):
        value = spelled_number(match[1])
        if value:
            yield match[0], value
    for number, value, unit in _measures(claim):
        if unit and not number[0].isdigit():
            yield number, value


def _missing_months(claim: str, sources: Sequence[str], known: frozenset[str]) -> Iterator[str]:
    stated = dict(stated_months(claim))
    if not stated:
        return
    held = frozenset[int]().union(*(months(source) for source in sources))
    for words, number in stated.items():
        if number not in held and str(number) not in known:
            yield words


def currencies(text: str) -> dict[object, str]:
    found = re.findall(rf"[{_CURRENCIES}]|{_UNSPACED_UNITS}|[A-Za-zÀ-ÿ]+", text)
    return {_UNITS[word.casefold()]: word for word in found if _UNITS.get(word.casefold()) in _MONEY}


def stated_months(claim: str) -> Iterator[tuple[str, int]]:
    """Where they can be nothing else."""
    for match in _MONTH_WORD.finditer(claim):
        word = match[2]
        certain = len(word) >= _SHORTEST_MONTH and word.casefold() not in _WORDS_TOO
        if certain or match[1] or match[3]:
            yield from ((word, number) for number in months(word))
    for match in _UNSPACED_MONTH.finditer(claim):
        yield from ((match[0], number) for number in months(match[0]))


def quarters(text: str) -> dict[object, str]:
    return {_quarter(found): found[0] for found in _QUARTER.finditer(text)}


def _quarter(found: re.Match[str]) -> str:
    value = next(group for group in found.groups() if group).casefold()
    return next((number for name, number in _ORDINALS.items() if value.startswith(name)), value)


def _missing_names(claim: str, sources: Sequence[str], language: str, beside: Sequence[str]) -> list[str]:
    text = _folded("\n".join(sources))
    stated = [name for name in _names(claim, language) if not _is_in(name, text)]
    stated = [name for name in stated if not (_is_initials(name, text) or _is_compound(name, text))]
    if not stated or not beside:
        return stated
    known = [" ".join(_folded(other).split()) for other in beside]
    return [name for name in stated if not _completes(name, claim, text, known)]


def _completes(name: str, claim: str, text: str, known: Sequence[str]) -> bool:
    for match in _FULL_NAME.finditer(claim):
        first, between, second = match.groups()
        other = second if name == first else first if name == second else ""
        whole = " ".join(_folded(first + between + second).split())
        if other[:1].isupper() and _is_in(other, text) and any(whole in each for each in known):
            return True
    return False


def _is_compound(name: str, text: str) -> bool:
    """ "Chinese-like" of "Chinese"."""
    parts = re.split(r"[-–]", name)
    named = [part for part in parts if part[:1].isupper()]
    return len(parts) > 1 and bool(named) and all(_is_in(part, text) for part in named)


def _names(claim: str, language: str) -> Iterator[str]:
    found = list(_TOKEN.finditer(claim))
    empty = frozenset(FUNCTION_WORDS.get(language, "").split())
    names = [match[0][0].isupper() and match[0].casefold() not in empty for match in found]
    for at, match in enumerate(found):
        if not names[at] or months(match[0]) or _is_measure(match[0]):
            continue
        after = at > 0 and _adjoins(claim, found[at - 1].end(), match.start())
        before = at + 1 < len(found) and _adjoins(claim, match.end(), found[at + 1].start())
        in_row = (after and names[at - 1]) or (before and names[at + 1])
        titled = after and found[at - 1][0].casefold() in _HONORIFICS
        if not _is_first(claim[: match.start()]) and (titled or in_row or language not in _CAPITALISED_NOUNS):
            yield match[0]


def _is_first(before: str) -> bool:
    return not any(map(str.isalnum, before)) or before.rstrip(" ")[-1:] in ':!?“"(|'


def _is_measure(word: str) -> bool:
    return word.casefold() in _UNITS or word.casefold() in _SCALES or any(map(str.isdigit, word))


def _adjoins(claim: str, end: int, start: int) -> bool:
    return claim[end:start] in (" ", ". ")


def _folded(text: str) -> str:
    plain_text = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain_text if not unicodedata.combining(sign))


def is_named(name: str, text: str) -> bool:
    return _is_in(name, _folded(text))


def _is_in(name: str, text: str) -> bool:
    word = _folded(re.sub(r"['’]s?\Z", "", name))
    if len(word) <= _SHORTEST_STEM:
        return re.search(rf"(?<!\w){re.escape(word)}", text) is not None
    return word[: max(_SHORTEST_STEM, len(word) - _ENDING)] in text


def _is_initials(name: str, text: str) -> bool:
    if not name.isupper():
        return False
    return name.casefold() in "".join(word[0] for word in re.findall(r"[^\W\d_]+", text))
