from __future__ import annotations

import datetime
import re
from itertools import pairwise
from typing import Final

EPOCH: Final = datetime.datetime(1899, 12, 30)
EPOCH_1904: Final = datetime.datetime(1904, 1, 1)

_LAST_SERIAL: Final = 2_958_466
_TOKENS: Final = re.compile(
    r"\[h+\]|\[m+\]|\[s+\]|y+|e+|m+|d+|h+|s+(?:\.0+)?|am/pm|a/p|上午/下午|\.0+", re.IGNORECASE
)
_ELAPSED: Final = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
# Short dates follow the reader's locale, which the file lacks.
_LOCAL_DATES: Final = re.compile(r"m{1,2}[-/]d{1,2}[-/](?:yy){1,2}(?P<time>\s+h{1,2}:mm(?::ss)?)?")
_LOCALE: Final = re.compile(r"\[\$[^\]-]*-([0-9a-f]{1,8})\]", re.IGNORECASE)

# Primary language of a Windows locale -> long and short names. Others are English.
_MONTHS: Final = {
    0x07: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    0x0A: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    0x0C: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    0x10: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    0x13: "januari februari maart april mei juni juli augustus september oktober november december",
    0x15: "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
    0x16: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    0x19: "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    0x1D: "januari februari mars april maj juni juli augusti september oktober november december",
}
_DAYS: Final = {
    0x07: "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    0x0A: "lunes martes miércoles jueves viernes sábado domingo",
    0x0C: "lundi mardi mercredi jeudi vendredi samedi dimanche",
    0x10: "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    0x13: "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    0x15: "poniedziałek wtorek środa czwartek piątek sobota niedziela",
    0x16: "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    0x19: "понедельник вторник среда четверг пятница суббота воскресенье",
    0x1D: "måndag tisdag onsdag torsdag fredag lördag söndag",
}
_ENGLISH_MONTHS: Final = (
    "January February March April May June July August September October November December"
)
_ENGLISH_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_DIVIDERS: Final = {0x07: ".", 0x13: "-", 0x15: ".", 0x19: ".", 0x1D: "-"}
_SHORT: Final = {
    (0x0C, 1): "janv.",
    (0x0C, 2): "févr.",
    (0x0C, 4): "avr.",
    (0x0C, 7): "juil.",
    (0x0C, 9): "sept.",
    (0x0C, 10): "oct.",
    (0x0C, 11): "nov.",
    (0x0C, 12): "déc.",
}
_SHORT_WHOLE: Final = 4
"""French does not abbreviate mars, mai, juin, août."""


def moment(serial: float, *, epoch: datetime.datetime = EPOCH) -> datetime.datetime | None:
    if not 0 <= serial < _LAST_SERIAL:
        return None
    if epoch is EPOCH and serial < 60:
        # As in Lotus, 1900 is a leap year: day 60 is 29 February, earlier days are off by one.
        serial += 1 if serial >= 1 else 0
    return epoch + datetime.timedelta(milliseconds=round(serial * 86_400_000))


def is_date_format(masked: str) -> bool:
    bare = re.sub(r"\[[^\]]*\]", lambda match: match[0] if _ELAPSED.fullmatch(match[0]) else "", masked)
    return re.search(r"[ymdhs]", re.sub("general", "", bare, flags=re.IGNORECASE), re.IGNORECASE) is not None


def date_text(value: datetime.datetime, pattern: str, masked: str) -> str:
    """`masked` is the pattern with blanked literals."""
    bare = masked.replace("\x00", "").strip().lower()
    local = _LOCAL_DATES.fullmatch(bare)
    if local is not None or not _TOKENS.search(bare):
        return iso(value, with_time=bool(local and local["time"]))
    found = _LOCALE.search(pattern)
    language = int(found[1], 16) & 0x3FF if found else 0
    tokens = list(_TOKENS.finditer(masked))
    twelve = any(token[0].lower() in {"am/pm", "a/p", "上午/下午"} for token in tokens)
    text, end = "", 0
    for index, token in enumerate(tokens):
        word = token[0].lower()
        before = tokens[index - 1][0].lower() if index else ""
        after = tokens[index + 1][0].lower() if index + 1 < len(tokens) else ""
        is_minute = word in {"m", "mm"} and (before.startswith(("h", "[h")) or after.startswith("s"))
        text += _between(pattern, masked, end, token.start(), language)
        text += _part(value, "minute" * is_minute + word, twelve=twelve, language=language)
        end = token.end()
    return (text + literal(pattern[end:])).strip()


def _between(pattern: str, masked: str, start: int, end: int, language: int) -> str:
    divider = _DIVIDERS.get(language, "/")
    if divider == "/" or "/" not in masked[start:end]:
        return literal(pattern[start:end])
    return "".join(
        divider if masked[at] == "/" else literal(pattern[at:next_at])
        for at, next_at in _parts_between(masked, start, end)
    )


def _parts_between(masked: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = sorted(
        {start, end} | {at + step for at in range(start, end) if masked[at] == "/" for step in (0, 1)}
    )
    return list(pairwise(cuts))


def duration_text(days: float, pattern: str, masked: str) -> str:
    pieces = list(re.finditer(r"\[(h+|m+|s+)\]|h+|m+|s+(?:\.(0+))?", masked, re.IGNORECASE))
    fraction = next((len(piece[2]) for piece in pieces if piece[2]), 0)
    rest = round(abs(days) * 86_400, fraction)
    text, end = "-" if days < 0 and rest else "", 0
    shown_unit = 0
    for piece in pieces:
        word = piece[0].strip("[]").lower()
        unit = {"h": 3600, "m": 60, "s": 1}[word[0]]
        width = len(word.partition(".")[0])
        whole = rest // unit if not shown_unit else rest % shown_unit // unit
        part = f"{int(whole):0{width}}"
        if piece[2]:
            part = f"{(rest % shown_unit if shown_unit else rest):0{width + 1 + fraction}.{fraction}f}"
        text += literal(pattern[end : piece.start()]) + part
        shown_unit, end = unit, piece.end()
    return (text + literal(pattern[end:])).strip()


def is_duration(masked: str) -> bool:
    return _ELAPSED.search(masked) is not None


LONGEST_FORMAT: Final = 255
LITERAL: Final = re.compile(
    r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.|\*.', re.I
)
"""Not displayed: literals in quotes, colours, conditions and padding."""


def literal(part: str) -> str:
    return LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", part)


def iso(value: datetime.datetime | datetime.date | datetime.time, *, with_time: bool = False) -> str:
    if isinstance(value, datetime.datetime):
        only_date = value.time() == datetime.time() and not with_time
        return value.date().isoformat() if only_date else value.isoformat(sep=" ", timespec="minutes")
    return value.isoformat()


def _part(value: datetime.datetime, word: str, *, twelve: bool, language: int) -> str:
    letter, length = word[0], len(word)
    if word.startswith("minute"):
        return f"{value.minute:02}" if word.endswith("mm") else str(value.minute)
    if letter in {"a", "上"}:
        return _half_of_day(value, word)
    if letter == "m":
        return _month(value, length, language)
    if letter == "d":
        return _day(value, length, language)
    if letter in {"y", "e"}:
        return f"{value.year % 100:02}" if letter == "y" and length <= 2 else f"{value.year:04}"
    if letter == "h":
        hour = (value.hour % 12 or 12) if twelve else value.hour
        return f"{hour:02}" if length > 1 else str(hour)
    digits = len(word.partition(".")[2])
    fraction = f".{value.microsecond // 1000:03}"[: digits + 1].ljust(digits + 1, "0") if digits else ""
    if letter == ".":
        return fraction
    whole = len(word.partition(".")[0])
    return (f"{value.second:02}" if whole > 1 else str(value.second)) + fraction


def _half_of_day(value: datetime.datetime, word: str) -> str:
    early = value.hour < 12
    if word == "上午/下午":
        return "上午" if early else "下午"
    return ("AM" if early else "PM")[: 2 if word == "am/pm" else 1]


def _month(value: datetime.datetime, length: int, language: int) -> str:
    if length <= 2:
        return f"{value.month:0{length}}"
    name = _MONTHS.get(language, _ENGLISH_MONTHS).split()[value.month - 1]
    if length == 5:
        return name[:1]
    if length == 4:
        return name
    if language == 0x0C:
        return name if len(name) <= _SHORT_WHOLE else _SHORT[language, value.month]
    return name[:3]


def _day(value: datetime.datetime, length: int, language: int) -> str:
    if length <= 2:
        return f"{value.day:0{length}}"
    name = _DAYS.get(language, _ENGLISH_DAYS).split()[value.weekday()]
    if length > 3:
        return name
    if language == 0x0C:
        return f"{name[:3]}."
    return name[: 2 if language in {0x07, 0x13, 0x19} else 3]
