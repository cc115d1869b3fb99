"""Pure: the value of a spreadsheet cell as the sheet shows it."""

from __future__ import annotations

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

_QUOTED: Final = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]')
_DROPPED: Final = re.compile(r"\[[^\]]*\]|_.|\*.")
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
    parts = _split_sections(number_format)
    if value < 0 and len(parts) > 1:
        part, value = parts[1], -value
    elif value == 0 and len(parts) > 2:
        part = parts[2]
    else:
        part = parts[0]
    literal = _DROPPED.sub("", _QUOTED.sub(_unquote, part)).replace("\x00", "")
    digits = _NUMBER.search(literal)
    if digits is None or re.search(r"[eE][+-]|/|[ymdhs]", _QUOTED.sub("", part)) is not None:
        return _plain(value)
    percent = "%" in literal
    text = _digits(round(value * 100, 10) if percent else value, digits.group())
    return f"{literal[: digits.start()]}{text}{literal[digits.end() :]}".strip()


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


def _split_sections(number_format: str) -> list[str]:
    """The format's parts for positive, negative and zero, divided at semicolons outside quotes."""
    return [part or "General" for part in re.findall(r'((?:"[^"]*"|\\.|[^;"])*)(?:;|$)', number_format)] or [
        "General"
    ]


def _unquote(match: re.Match[str]) -> str:
    return match[1] or match[2] or match[3] or ""


def _plain(value: float) -> str:
    """As the General format: at most 15 digits, no trailing zeros, no exponent where a person would not use one."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.15g}"


def _date(value: datetime.datetime | datetime.date | datetime.time, number_format: str) -> str:
    """Dates by their format, in English month names; the reader's own short date as ISO."""
    pattern = _split_sections(number_format)[0]
    bare = _DROPPED.sub("", re.sub(r'"[^"]*"|\\.', "", pattern)).strip()
    if bare.lower() in _LOCAL_DATES or not _DATE_TOKENS.search(bare):
        return _iso(value)
    moment = _moment(value)
    twelve = re.search("am/pm|a/p", pattern, re.IGNORECASE) is not None
    text = _DROPPED.sub("", _QUOTED.sub(lambda match: "\x01".join(["", *_unquote(match), ""]), pattern))
    tokens = list(_DATE_TOKENS.finditer(text))
    shown_text, end, before = "", 0, ""
    for index, token in enumerate(tokens):
        if text[token.start() - 1 : token.start()] == "\x01":
            continue
        after = tokens[index + 1].group().lower() if index + 1 < len(tokens) else ""
        word = token.group().lower()
        minutes = word in {"m", "mm"} and (before.startswith("h") or after.startswith("s"))
        shown_text += text[end : token.start()] + _part(moment, word, minutes=minutes, twelve=twelve)
        end, before = token.end(), word
    return (shown_text + text[end:]).replace("\x01", "").strip()


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
