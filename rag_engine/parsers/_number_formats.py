"""Pure: the value of a spreadsheet cell as the sheet shows it."""

from __future__ import annotations

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Final

# What is not digits or letters of the format: literals in quotes or after a backslash, a currency in brackets, and
# colours, conditions, widths and fillings, which are not shown.
_LITERAL: Final = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_DATE_TOKENS: Final = re.compile(
    r"yyyy|yy|mmmmm|mmmm|mmm|mm|m|dddd|ddd|dd|d|hh|h|ss(?:\.0+)?|s|am/pm|a/p", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"[#0?][#0?,]*(?:\.[#0?]+)?")
# Excel's short date depends on the reader's country; ISO does not.
_LOCAL_DATES: Final = frozenset({"mm-dd-yy", "m/d/yy", "m/d/yyyy", "mm-dd-yyyy"})
_EPOCH: Final = datetime.datetime(1899, 12, 30)


def shown(value: object, number_format: str) -> str:
    """`value` under an Excel number format; formats too odd to follow give the plain value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return _date(value, number_format)
    if isinstance(value, datetime.timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, int | float):
        return _number(value, number_format)
    return str(value)


def _number(value: float, number_format: str) -> str:
    if number_format in {"General", "@", ""}:
        return _plain(value)
    parts = _format_sections(number_format)
    if value < 0 and len(parts) > 1:
        part, value = parts[1], -value
    elif value == 0 and len(parts) > 2:
        part = parts[2]
    else:
        part = parts[0]
    masked = _masked(part)
    digits = _NUMBER.search(masked)
    if digits is None or re.search(r"[eE][+-]|/|[ymdhs]", masked) is not None:
        return _plain(value)
    text = _digits(round(value * 100, 10) if "%" in masked else value, digits.group())
    return (_unquoted(part[: digits.start()]) + text + _unquoted(part[digits.end() :])).strip()


def _digits(value: float, pattern: str) -> str:
    whole, _, fraction = pattern.partition(".")
    thousands = "," if "," in whole.rstrip(",") else ""
    scaled = value / 1000 ** (len(whole) - len(whole.rstrip(",")))
    # Spreadsheets round half away from zero, on the decimal digits that they show.
    rounded = Decimal(repr(scaled)).quantize(Decimal(1).scaleb(-len(fraction)), rounding=ROUND_HALF_UP)
    text = f"{rounded:{thousands}f}"
    optional = len(fraction) - len(fraction.rstrip("#"))
    for _ in range(optional):
        text = text.removesuffix("0")
    return text.rstrip(".") if "." in text else text


def _format_sections(number_format: str) -> list[str]:
    """The format's parts for positive, negative and zero, divided at semicolons outside quotes."""
    masked = _masked(number_format)
    cuts = [-1, *(at for at, character in enumerate(masked) if character == ";"), len(masked)]
    return [number_format[start + 1 : end] for start, end in pairwise(cuts)]


def _masked(part: str) -> str:
    """The format at the same length, with everything literal made invisible."""
    return _LITERAL.sub(lambda match: "\x00" * len(match.group()), part)


def _unquoted(part: str) -> str:
    return _LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", part)


def _plain(value: float) -> str:
    """As the General format: at most 15 digits, no trailing zeros, no exponent where a person would not use one."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.15g}"


def _date(value: datetime.datetime | datetime.date | datetime.time, number_format: str) -> str:
    """Dates by their format, in English month names; the reader's own short date as ISO."""
    pattern = _format_sections(number_format)[0]
    masked = _masked(pattern)
    bare = masked.replace("\x00", "").strip()
    if bare.lower() in _LOCAL_DATES or not _DATE_TOKENS.search(bare):
        return _iso(value)
    moment = _moment(value)
    twelve = re.search("am/pm|a/p", masked, re.IGNORECASE) is not None
    tokens = list(_DATE_TOKENS.finditer(masked))
    text, end = "", 0
    for index, token in enumerate(tokens):
        word = token.group().lower()
        before = tokens[index - 1].group().lower() if index else ""
        after = tokens[index + 1].group().lower() if index + 1 < len(tokens) else ""
        minutes = word in {"m", "mm"} and (before.startswith("h") or after.startswith("s"))
        text += _unquoted(pattern[end : token.start()]) + _part(moment, word, minutes=minutes, twelve=twelve)
        end = token.end()
    return (text + _unquoted(pattern[end:])).strip()


def _part(moment: datetime.datetime, word: str, *, minutes: bool, twelve: bool) -> str:
    if minutes:
        return f"{moment.minute:02}" if word == "mm" else str(moment.minute)
    hour = (moment.hour % 12 or 12) if twelve else moment.hour
    if word.startswith("ss."):
        return f"{moment.second + moment.microsecond / 1e6:0{len(word)}.{len(word) - 3}f}"
    values = {
        "yyyy": f"{moment.year:04}",
        "yy": f"{moment.year % 100:02}",
        "mmmmm": f"{moment:%B}"[:1],
        "mmmm": f"{moment:%B}",
        "mmm": f"{moment:%b}",
        "mm": f"{moment.month:02}",
        "m": str(moment.month),
        "dddd": f"{moment:%A}",
        "ddd": f"{moment:%a}",
        "dd": f"{moment.day:02}",
        "d": str(moment.day),
        "hh": f"{hour:02}",
        "h": str(hour),
        "ss": f"{moment.second:02}",
        "s": str(moment.second),
        "am/pm": f"{moment:%p}",
        "a/p": f"{moment:%p}"[:1],
    }
    return values[word]


def _moment(value: datetime.datetime | datetime.date | datetime.time) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.time):
        return datetime.datetime.combine(_EPOCH.date(), value)
    return datetime.datetime.combine(value, datetime.time())


def _iso(value: datetime.datetime | datetime.date | datetime.time) -> str:
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="minutes")
    return value.isoformat()
