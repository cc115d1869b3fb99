"""Spreadsheet values as displayed under Excel number formats (ECMA-376, 18.8.31)."""

from __future__ import annotations

import datetime
import functools
import math
import operator
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Final

from rag_engine.parsers.sheets._cells.date_formats import (
    EPOCH,
    LITERAL,
    LONGEST_FORMAT,
    date_text,
    duration_text,
    is_date_format,
    is_duration,
    iso,
    literal,
    moment,
)

BUILT_IN: Final = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "mm-dd-yy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yy h:mm",
    5: "$#,##0;($#,##0)",
    6: "$#,##0;($#,##0)",
    7: "$#,##0.00;($#,##0.00)",
    8: "$#,##0.00;($#,##0.00)",
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    41: "#,##0",
    42: "$#,##0",
    43: "#,##0.00",
    44: "$#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), "mm-dd-yy"),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}
"""Missing ids are General."""

_CONDITION: Final = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)\]")
_COMPARED: Final = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_GENERAL: Final = re.compile("general|standard", re.IGNORECASE)
_SCIENTIFIC: Final = re.compile(r"([#0?]+)(?:\.([#0?]+))?[eE]([+-])([#0?]+)")
_FRACTION: Final = re.compile(r"(?:(?<![#0?])([#0?]+)\s+)?(?<![#0?])([#0?]+)\s*/\s*([#0?]+|\d+)")


def format_value(value: object, number_format: str, *, epoch: datetime.datetime = EPOCH) -> str:
    """The plain value if the format is not supported. Dates count from `epoch`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if len(number_format) > LONGEST_FORMAT:
        number_format = "General"
    if isinstance(value, int | float):
        return _number(value, number_format, epoch)
    if isinstance(value, datetime.timedelta):
        days = value.total_seconds() / 86_400
        pattern = number_format if is_duration(_masked(number_format)) else "[h]:mm:ss"
        return duration_text(days, pattern, _masked(pattern))
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return _moment_text(value, number_format)
    return _text(str(value), number_format)


def _moment_text(value: datetime.datetime | datetime.date | datetime.time, number_format: str) -> str:
    pattern = _format_sections(number_format)[0]
    masked = _masked(pattern)
    if not is_date_format(masked):
        return iso(value)
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(EPOCH.date(), value)
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    return date_text(value, pattern, masked)


def _text(value: str, number_format: str) -> str:
    if '"' not in number_format or "@" not in number_format:
        return value
    part = next((part for part in reversed(_format_sections(number_format)) if "@" in _masked(part)), "@")
    before, _, after = part.partition("@")
    return literal(before) + value + literal(after)


def _number(value: float, number_format: str, epoch: datetime.datetime) -> str:
    if number_format in {"General", "@", ""}:
        return plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    part, value = _part_for(value, _format_sections(number_format))
    masked = _masked(part)
    if _GENERAL.search(masked):
        return _GENERAL.sub(lambda _: plain(value), literal(part)).strip()
    if is_duration(masked):
        return duration_text(value, part, masked)
    scientific, fraction = _SCIENTIFIC.search(masked), _FRACTION.search(masked)
    if scientific:
        text, found = _scientific(value, scientific), scientific
    elif is_date_format(masked):
        date = moment(value, epoch=epoch)
        return date_text(date, part, masked) if date else plain(value)
    elif fraction:
        text, found = _fraction(value, fraction), fraction
    else:
        return _decimal(value, part, masked)
    return (literal(part[: found.start()]) + text + literal(part[found.end() :])).strip()


def _part_for(value: float, parts: list[str]) -> tuple[str, float]:
    conditions = [_CONDITION.search(part) for part in parts]
    if any(conditions):
        for part, condition in zip(parts, conditions, strict=True):
            if condition is None or _COMPARED[condition[1]](value, float(condition[2])):
                return part, value
        return parts[-1], value
    if value < 0 and len(parts) > 1:
        return parts[1], -value
    if value == 0 and len(parts) > 2:
        return parts[2], value
    return parts[0], value


def _decimal(value: float, part: str, masked: str) -> str:
    places = [match.start() for match in re.finditer(r"[#0?]", masked)]
    if not places:
        if "@" in masked:
            return literal(part).replace("@", plain(value))
        return literal(part).strip()
    first, last = places[0], places[-1]
    first -= first > 0 and masked[first - 1] == "."
    point = masked.find(".", first)
    point = point if point >= 0 else last + 1
    end = last + 1
    whole_end = max((at + 1 for at in places if at < point), default=first)
    scale = sum(len(masked[at:]) - len(masked[at:].lstrip(",")) for at in {whole_end, end})
    decimals = sum(1 for at in places if at > point)
    scaled = value * 100 ** masked.count("%") / 1000**scale
    digits = _rounded(scaled, decimals)
    whole, _, fraction = digits.lstrip("-").partition(".")
    negative = digits.startswith("-") and any(character in "123456789" for character in digits)
    text = _whole(whole, part, masked, first, min(point, whole_end), thousands="," in masked[first:whole_end])
    if point < len(masked) and masked[point] == ".":
        text += _decimals(fraction, part[point + 1 : last + 1], masked[point + 1 : last + 1])
        end = max(end, point + 1)
    rest = part[end:].lstrip(",") if masked[end : end + 1] == "," else part[end:]
    before = literal(part[:first])
    return (f"{'-' if negative else ''}{before}{text}{literal(rest)}").strip()


def _rounded(value: float, decimals: int) -> str:
    # Spreadsheets round half away from zero, at fifteen significant digits.
    with localcontext() as context:
        context.prec = 400
        number = Decimal(f"{value:.15g}") if isinstance(value, float) else Decimal(value)
        return f"{number.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP):f}"


def _whole(digits: str, part: str, masked: str, first: int, end: int, *, thousands: bool) -> str:
    digits = digits.lstrip("0")
    slots = [at for at in range(first, end) if masked[at] in "#0?"]
    if end - first == len(slots) + masked[first:end].count(","):
        least = max((len(slots) - index for index, at in enumerate(slots) if masked[at] == "0"), default=0)
        digits = digits.rjust(least, "0")
        return f"{int(digits):0{len(digits) + (len(digits) - 1) // 3},}" if thousands and digits else digits
    shown_digits, left = "", len(digits)
    required = next((at for at in slots if masked[at] == "0"), end)
    for at in range(end - 1, first - 1, -1):
        if masked[at] in "#0?":
            taken = digits[0 if at == slots[0] else left - 1 : left] if left > 0 else ""
            shown_digits = (taken or ("0" if at >= required else "")) + shown_digits
            left -= 1
        elif masked[at] == "\x00":
            shown_digits = _literal_character(part, masked, at) + shown_digits
        elif masked[at] != ",":
            shown_digits = part[at] + shown_digits
    return shown_digits


def _literal_character(part: str, masked: str, at: int) -> str:
    for match in LITERAL.finditer(part):
        if match.start() <= at < match.end():
            return literal(match[0]) if at == match.end() - 1 else ""
    return ""


def _decimals(digits: str, part: str, masked: str) -> str:
    optional = len(masked) - len(masked.rstrip("#?"))
    for _ in range(optional):
        digits = digits.removesuffix("0")
    return f".{digits}" if digits else ""


def _scientific(value: float, found: re.Match[str]) -> str:
    whole, fraction, sign, places = found[1], found[2] or "", found[3], len(found[4])
    exponent = math.floor(math.log10(abs(value))) if value else 0
    step = len(whole)
    exponent -= exponent % step if step > 1 else 0
    mantissa = _rounded(value / 10**exponent, len(fraction)) if abs(exponent) < 300 else f"{value:e}"
    if abs(float(mantissa)) >= 10**step:
        exponent += step
        mantissa = _rounded(value / 10**exponent, len(fraction))
    if "." in mantissa:
        for _ in range(len(fraction) - len(fraction.rstrip("#"))):
            mantissa = mantissa.removesuffix("0")
        mantissa = mantissa.rstrip(".")
    shown_sign = "-" if exponent < 0 else "+" if sign == "+" else ""
    return f"{mantissa}E{shown_sign}{abs(exponent):0{places}}"


def _fraction(value: float, found: re.Match[str]) -> str:
    apart, below = found[1] is not None, found[3]
    exact = Fraction(repr(abs(value))) if isinstance(value, float) else Fraction(abs(value))
    if below.isdigit() and below.strip("0"):
        near = Fraction(round(exact * int(below)), int(below))
        denominator = int(below)
    else:
        near = exact.limit_denominator(10 ** min(len(below), 6) - 1)
        denominator = near.denominator
    sign = "-" if value < 0 and near else ""
    whole, part = divmod(near, 1) if apart else (0, near)
    numerator = part * denominator
    if apart and not numerator:
        return f"{sign}{whole}"
    text = f"{numerator}/{denominator}"
    return f"{sign}{whole} {text}" if apart and whole else sign + text


@functools.lru_cache(maxsize=512)
def _format_sections(number_format: str) -> list[str]:
    masked = _masked(number_format)
    cuts = [-1, *(at for at, character in enumerate(masked) if character == ";"), len(masked)]
    return [number_format[start + 1 : end] for start, end in pairwise(cuts)]


@functools.lru_cache(maxsize=512)
def _masked(part: str) -> str:
    return LITERAL.sub(lambda match: "\x00" * len(match.group()), part)


def plain(value: float) -> str:
    """At most 15 digits, no trailing zeros, an exponent only for extreme values."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.15g}".upper()
