from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias

from rag_engine.text.language.months import NUMBERS as MONTHS

NumberForm = Literal["point", "comma"]
"""The decimal sign."""
DayOrder = Literal["day", "month"]
"""What comes first in "3/4/2025"."""
Quantity: TypeAlias = tuple["int | float", str]
"""With its unit, or ""."""

_SPACES: Final = "\u00a0\u202f\u2009 "
_CURRENCY: Final = r"[€$£¥₹₽₺₩]|[A-Z]{2,3}\$|R\$|EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|MXN|AUD|CAD|kr\.?|zł|Kč|Ft|Fr\.?"
_NUMBER: Final = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+−–])?\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[-+−])?"
    rf"(?P<digits>\d[\d.,'’{_SPACES}]*\d|\d|[.,]\d+)(?P<power>[eE][-+]?\d{{1,3}})?"
    rf"[{_SPACES}]*(?P<after>%|‰|{_CURRENCY}|(?![号號])[^\W\d_](?:[^\W\d_]|[²³/.°]){{0,11}}|°[CF]?)?\s*(?P<trailing>-)?(?P<close>\))?"
)
_GROUPED: Final = re.compile(rf"\d{{1,3}}(?:([.,'’{_SPACES}])\d{{3}})(?:\1\d{{3}})*")
EMPTY: Final = frozenset(
    {"", "-", "–", "—", "--", "n/a", "#n/a", "n. a.", "n.a.", "k. a.", "k.a.", "s/d", "null", "nan", "."}
)
_TRUE: Final = frozenset(
    ("true", "yes", "ja", "sí", "si", "oui", "wahr", "verdadero", "vrai", "y", "✓", "✔", "да", "是")
)
_FALSE: Final = frozenset(
    ("false", "no", "nein", "non", "falsch", "falso", "faux", "n", "✗", "✘", "нет", "否")
)
_ISO: Final = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_ISO_MONTH: Final = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_PARTS: Final = re.compile(
    r"(\d{1,2})(?P<mark>[./-])\s?(\d{1,2})(?P=mark)\s?(\d{4}|\d\d)(?:,?\s+(\d\d?):(\d\d)(?::\d\d)?)?"
)
_YEAR_FIRST: Final = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})|(\d{4})年(\d{1,2})月(\d{1,2})日")
_WORDS: Final = re.compile(
    r"(?:\w+,\s+)?(?:(\d{1,2})(?:\.|st|nd|rd|th)?[\s-]+(?:de\s+)?)?([^\W\d_]{3,10})\.?[\s,-]+(?:(\d{1,2})(?:st|nd|rd|th)?,\s*)?(?:de\s+)?(\d{4}|\d\d)"
)
_LATER_YEARS: Final = 70
"""Two digits from here on mean 19.."""
_LONGEST: Final = 60


_PLAIN: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.(\d+))?", re.ASCII)
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    forms: tuple[NumberForm, ...] = ()
    unit: str = ""
    orders: tuple[DayOrder, ...] = ()
    """Of a date."""

    @property
    def decides(self) -> NumberForm | DayOrder | None:
        found = self.forms or self.orders
        return found[0] if len(found) == 1 else None


_FORMS: Final[tuple[NumberForm, ...]] = ("point", "comma")
_ORDERS: Final[tuple[DayOrder, ...]] = ("day", "month")
_WORDS_ONLY: Final = Readable()
_PLAIN_NUMBER: Final = Readable(forms=("point", "comma"))
_PLAIN_FRACTION: Final = Readable(forms=("point",))


def readable(text: str) -> Readable:
    plain = _PLAIN.fullmatch(text)
    if plain is not None and len(plain[1] or "") != 3:
        return _PLAIN_FRACTION if plain[1] else _PLAIN_NUMBER
    return _readable(text) if len(text) <= _LONGEST and _DIGIT.search(text) else _WORDS_ONLY


@functools.lru_cache(maxsize=8192)
def _readable(text: str) -> Readable:
    found: dict[NumberForm, Quantity] = {
        form: quantity for form in _FORMS if (quantity := number(text, form)) is not None
    }
    if found:
        return Readable(forms=tuple(found), unit=next(iter(found.values()))[1])
    fitting: tuple[DayOrder, ...] = tuple(order for order in _ORDERS if iso_date(text, order) is not None)
    has_points = (parts := _PARTS.fullmatch(text)) is not None and parts["mark"] == "."
    return Readable(orders=fitting[:1] if has_points else fitting)


def is_empty(text: str) -> bool:
    return text.strip().lower() in EMPTY


def truth(text: str) -> bool | None:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def number(text: str, form: NumberForm) -> Quantity | None:
    """ "(1,200.50 €)" is negative; "12 %" is 12."""
    if (plain := _PLAIN.fullmatch(text)) and (form == "point" or not plain[1]):
        return (float(text) if plain[1] else int(text)), ""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    digits = _digits(found["digits"], form)
    if digits is None or (found["before"] and found["after"]):
        return None
    signs = [sign for sign in (found["sign"], found["inner"], found["trailing"]) if sign and sign != "+"]
    if len(signs) + bool(found["open"]) > 1:
        return None
    value = float(digits + (found["power"] or ""))
    if abs(value) > 1e300:
        return None
    value = -value if signs or found["open"] else value
    exact = value if "." in digits or found["power"] or abs(value) >= 1e15 else int(value)
    return exact, found["before"] or found["after"] or ""


def _digits(text: str, form: str) -> str | None:
    point, other = (".", ",") if form == "point" else (",", ".")
    whole, _, fraction = text.partition(point)
    if point in fraction or other in fraction or any(space in fraction for space in f"'’{_SPACES}"):
        return None
    if not whole.isdecimal() and whole and _GROUPED.fullmatch(whole) is None:
        return None
    if other in whole and fraction == "" and point in text:
        return None
    plain = re.sub(r"\D", "", whole) or "0"
    if len(plain) > 1 and plain.startswith("0"):
        return None
    return f"{plain}.{fraction}" if fraction else plain


def iso_date(text: str, order: DayOrder) -> str | None:
    """ "2025-03-01", with the time; a month is its first day."""
    text = text.strip()
    if found := _ISO.fullmatch(text):
        return _iso(found[1], found[2], found[3], found[4], found[5])
    if _ISO_MONTH.fullmatch(text):
        return f"{text}-01"
    if found := _PARTS.fullmatch(text):
        is_day_first = order == "day" or found["mark"] == "."
        day, month = (found[1], found[3]) if is_day_first else (found[3], found[1])
        return _iso(found[4], month, day, found[5], found[6])
    if found := _YEAR_FIRST.fullmatch(text):
        return _iso(found[1] or found[4], found[2] or found[5], found[3] or found[6])
    return _of_words(text)


def _of_words(text: str) -> str | None:
    found = _WORDS.fullmatch(text)
    month = MONTHS.get(found[2].lower()) if found else None
    if found is None or month is None:
        return None
    day = found[1] or found[3]
    if day is None:
        return f"{_year(found[4]):04}-{month:02}-01"
    return _iso(found[4], str(month), day)


def _iso(year: str, month: str, day: str, hour: str | None = None, minute: str | None = None) -> str | None:
    try:
        text = date(_year(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
    if hour is None or minute is None or (not int(hour) and not int(minute)):
        return text
    return f"{text} {int(hour):02}:{minute}" if int(hour) < 24 and int(minute) < 60 else None


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 4:
        return year
    return 1900 + year if year >= _LATER_YEARS else 2000 + year
