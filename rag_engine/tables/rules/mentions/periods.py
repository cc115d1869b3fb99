from __future__ import annotations

from calendar import monthrange
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.mentions.time_spans import Period, PeriodMention, joined, with_limit
from rag_engine.text.language.months import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.rules.language.lexicon import Lexicon
    from rag_engine.tables.rules.language.question_words import QuestionWord

_ORDINALS: Final = {
    name: number
    for number, names in enumerate(
        (
            "first 1st erste erstes ersten erster primer primero 一 1",
            "second 2nd zweite zweites zweiten zweiter segundo 二 2",
            "third 3rd dritte drittes dritten dritter tercer tercero 三 3",
            "fourth 4th vierte viertes vierten vierter cuarto 四 4",
        ),
        1,
    )
    for name in names.split()
}
_QUARTERS: Final = frozenset({"quarter", "quartal", "quartals", "trimestre"})
_BETWEEN: Final = frozenset(
    {
        "of",
        "de",
        "del",
        "the",
        "in",
        "im",
        "des",
        "year",
        "jahr",
        "jahres",
        "ano",
        "st",
        "nd",
        "rd",
        "th",
        "er",
        "dem",
    }
)
_ORDINAL_ENDINGS: Final = frozenset({"st", "nd", "rd", "th"})
_NUMERALS: Final = {sign: number for number, sign in enumerate("一二三四五六七八九十", 1)}
_WORDS_TOO: Final = frozenset({"may", "mai", "set", "out", "mag", "gen", "ago", "march", "mars"})
_RARE_MONTHS: Final = frozenset({"set", "out", "mag", "gen", "ago"})
_BEFORE_MONTHS: Final = frozenset(
    [
        "in",
        "of",
        "since",
        "until",
        "till",
        "through",
        "during",
        "from",
        "before",
        "after",
        "im",
        "seit",
        "ab",
        "bis",
        "en",
        "de",
        "desde",
        "hasta",
        "depuis",
    ]
)
WORDS: Final = NUMBERS.keys() | _ORDINALS.keys() | _QUARTERS | _BETWEEN | {"q1", "q2", "q3", "q4", "o"}
_FIRST_YEAR, _LAST_YEAR = 1900, 2099
_DECEMBER: Final = 12


def may_begin(word: QuestionWord) -> bool:
    name = word.folded
    is_quarter = name in _QUARTERS or (len(name) == 2 and name[0] == "q" and name[1].isdigit())
    return is_quarter or word.text.lower() in NUMBERS


def stated(words: Sequence[QuestionWord], lexicon: Lexicon, free: Sequence[bool]) -> list[PeriodMention]:
    found: list[PeriodMention] = []
    at = 0
    while at < len(words):
        mention = _ranged(words, at, lexicon) if free[at] else None
        if mention is not None and all(free[mention.start : mention.end]):
            found.append(mention)
            at = mention.end
        else:
            at += 1
    return _merged(found)


def _merged(found: list[PeriodMention]) -> list[PeriodMention]:
    years = [one.period for one in found if one.period.year and not one.period.months]
    months = [one.period for one in found if one.period.months and not one.period.year]
    if len(found) != 2 or len(years) != 1 or len(months) != 1:
        return found
    period = replace(months[0], year=years[0].year)
    return [replace(one, period=period) for one in found]


def whole(words: Sequence[QuestionWord]) -> Period | None:
    end, period = simple(words, 0)
    return period if period is not None and end == len(words) else None


def within(words: Sequence[QuestionWord]) -> list[tuple[int, int, Period]]:
    found: list[tuple[int, int, Period]] = []
    at = 0
    while at < len(words):
        end, period = simple(words, at)
        if period is not None:
            found.append((at, end, period))
        at = max(end, at + 1)
    return found


def _ranged(words: Sequence[QuestionWord], at: int, lexicon: Lexicon) -> PeriodMention | None:
    start = at
    end, meaning = lexicon.at(words, at, "periods")
    link = meaning.removeprefix("periods ")
    if link in {"first_half", "second_half"}:
        return _half_of(words, start, end, link)
    first = _skipped(words, end) if link else at
    after_first, period = simple(words, first)
    if period is None:
        return _days_of_month(words, start, first, link, lexicon)
    half = _half_behind(words, after_first, period, lexicon)
    if half is not None:
        return PeriodMention(start=start, end=half[0], period=half[1])
    second = _second(words, after_first, link, lexicon)
    if second is not None:
        both = joined(period, second.period)
        if both is None:
            return None
        year = period.year or second.period.year
        parts = (
            PeriodMention(start=first, end=after_first, period=replace(period, year=year)),
            replace(
                second,
                start=lexicon.at(words, second.start, "periods", "links")[0],
                period=replace(second.period, year=second.period.year or year),
            ),
        )
        return PeriodMention(start=start, end=second.end, period=both, parts=parts)
    if link in {"between", "relative"}:
        return None
    end_behind, behind = (
        lexicon.at(words, after_first, "periods") if after_first < len(words) else (after_first, "")
    )
    if behind.endswith("_behind"):
        link, after_first = behind.removeprefix("periods ").removesuffix("_behind"), end_behind
    limited = with_limit(period, link)
    return None if limited is None else PeriodMention(start=start, end=after_first, period=limited)


def _days_of_month(
    words: Sequence[QuestionWord], start: int, first: int, link: str, lexicon: Lexicon
) -> PeriodMention | None:
    if first >= len(words) or not words[first].text.isdecimal() or not 1 <= int(words[first].text) <= 31:
        return None
    end = first + 1
    while end < len(words) and words[end].folded in _ORDINAL_ENDINGS:
        end += 1
    if end >= len(words) or not _is_joined(words, end, link, lexicon):
        return None
    after, last = _month(words, _skipped(words, end + 1))
    if last is None or not last.year or not last.day:
        return None
    both = joined(replace(last, day=int(words[first].text)), last)
    return None if both is None else PeriodMention(start=start, end=after, period=both)


def _is_joined(words: Sequence[QuestionWord], at: int, link: str, lexicon: Lexicon) -> bool:
    if link == "between":
        return lexicon.at(words, at, "links") == (at + 1, "links and")
    return link in {"from", "since", ""} and lexicon.at(words, at, "periods") == (at + 1, "periods until")


def _half_of(words: Sequence[QuestionWord], start: int, end: int, link: str) -> PeriodMention | None:
    after, halved = simple(words, _skipped(words, end))
    if halved is None or not halved.months:
        return _half(words, start, end, link)
    if len(halved.months) > 1 or halved.day or not halved.year:
        return None
    (month,) = halved.months
    middle = monthrange(halved.year, month)[1] // 2
    turn = date(halved.year, month, middle + 1).isoformat()
    low, high = halved.bounds
    half = Period(low=low, high=turn) if link == "first_half" else Period(low=turn, high=high)
    return PeriodMention(start=start, end=after, period=half)


def _half(words: Sequence[QuestionWord], start: int, end: int, link: str) -> PeriodMention:
    months = frozenset(range(1, 7) if link == "first_half" else range(7, 13))
    after, year = _year_at(words, _skipped(words, end))
    return PeriodMention(start=start, end=after if year else end, period=Period(year=year, months=months))


def _half_behind(
    words: Sequence[QuestionWord], at: int, period: Period, lexicon: Lexicon
) -> tuple[int, Period] | None:
    if at >= len(words) or not period.year or period.months:
        return None
    end, meaning = lexicon.at(words, at, "periods")
    if meaning in {"periods first_half", "periods second_half"}:
        half = _half(words, at, end, meaning.removeprefix("periods "))
        return end, replace(half.period, year=period.year)
    return None


def _second(words: Sequence[QuestionWord], at: int, link: str, lexicon: Lexicon) -> PeriodMention | None:
    if at >= len(words):
        return None
    end, meaning = lexicon.at(words, at, "periods")
    is_joined = meaning == "periods until" and link in {"from", "since", ""}
    if not is_joined and link == "between":
        end, meaning = lexicon.at(words, at, "links")
        is_joined = meaning == "links and"
    if not is_joined or end >= len(words):
        return None
    after, period = simple(words, _skipped(words, end))
    return None if period is None else PeriodMention(start=at, end=after, period=period)


def simple(words: Sequence[QuestionWord], at: int) -> tuple[int, Period | None]:
    if at >= len(words):
        return at, None
    for read in (_numeric_date, _asian, _quarter, _month):
        end, period = read(words, at)
        if period is not None:
            return end, period
    end, year = _year_at(words, at)
    if not year:
        return at, None
    for read in (_quarter, _month) if end < len(words) else ():
        after, period = read(words, end)
        if period is not None and not period.year:
            return after, replace(period, year=year)
    return end, Period(year=year)


def _numeric_date(words: Sequence[QuestionWord], at: int) -> tuple[int, Period | None]:
    text = words[at].text
    parts = text.replace("/", ".").replace("-", ".").split(".")
    if not all(part.isdigit() for part in parts):
        return at, None
    numbers = [int(part) for part in parts]
    if "-" in text and len(numbers) in {2, 3}:
        return at + 1, _checked(*numbers)
    if len(numbers) == 3 and len(parts[2]) == 4 and "." in text:
        return at + 1, _checked(numbers[2], numbers[1], numbers[0])
    if len(numbers) == 3 and len(parts[2]) == 4:
        day, month = numbers[:2]
        if (day > _DECEMBER) == (month > _DECEMBER) and day != month:
            return at, None
        return at + 1, _checked(numbers[2], min(day, month), max(day, month))
    return at, None


def _checked(year: int, month: int, day: int = 0) -> Period | None:
    try:
        date(year, month, day or 1)
    except ValueError:
        return None
    return Period(year=year, months=frozenset((month,)), day=day)


def _asian(words: Sequence[QuestionWord], at: int) -> tuple[int, Period | None]:
    end, year = _year_at(words, at)
    if year and (end >= len(words) or not (words[end].is_han or words[end - 1].text == "年")):
        return at, None
    after, quarter = _asian_quarter(words, end if year else at)
    if quarter:
        return after, Period(year=year, months=_quarter_months(quarter))
    after, month = _han_number(words, end if year else at, "月")
    if not month or month > _DECEMBER:
        return (end, Period(year=year)) if year else (at, None)
    end_of_day, day = _han_number(words, after, "日号")
    if after < len(words) and words[after].text == "份":
        after += 1
    if day and year:
        return end_of_day, _checked(year, month, day)
    return after, Period(year=year, months=frozenset((month,)))


def _asian_quarter(words: Sequence[QuestionWord], at: int) -> tuple[int, int]:
    if at < len(words) and words[at].text == "第":
        at += 1
    texts = [word.text for word in words[at : at + 3]]
    if texts[1:] == ["季", "度"] and texts[0] in _ORDINALS:
        return at + 3, _ORDINALS[texts[0]]
    return at, 0


def _han_number(words: Sequence[QuestionWord], at: int, unit: str) -> tuple[int, int]:
    texts = [word.text for word in words[at : at + 4]]
    if len(texts) > 1 and texts[0].isdigit() and texts[1] in unit:
        return at + 2, int(texts[0])
    value = 0
    for offset, text in enumerate(texts):
        if text in unit and value:
            return at + offset + 1, value
        if text not in _NUMERALS:
            break
        number = _NUMERALS[text]
        value = value + number if not value or value % 10 == 0 else value * number
    return at, 0


def _quarter(words: Sequence[QuestionWord], at: int) -> tuple[int, Period | None]:
    word = words[at].folded
    number, end = 0, at
    if len(word) == 2 and word[0] == "q" and word[1] in "1234":
        number, end = int(word[1]), at + 1
    elif word in _ORDINALS and not words[at].is_han:
        after = at + 1
        if after < len(words) and words[after].folded in {"st", "nd", "rd", "th", "er", "o"}:
            after += 1
        if after < len(words) and words[after].folded in _QUARTERS:
            number, end = _ORDINALS[word], after + 1
    elif word in _QUARTERS and at + 1 < len(words) and words[at + 1].text in {"1", "2", "3", "4"}:
        number, end = int(words[at + 1].text), at + 2
    if not number:
        return at, None
    after, year = _year_at(words, _skipped(words, end))
    return (after if year else end), Period(year=year, months=_quarter_months(number))


def _quarter_months(quarter: int) -> frozenset[int]:
    return frozenset(range(3 * quarter - 2, 3 * quarter + 1))


def _month(words: Sequence[QuestionWord], at: int) -> tuple[int, Period | None]:
    day = 0
    start = at
    if words[at].text.isdigit() and 1 <= int(words[at].text) <= 31:
        day, at = int(words[at].text), _skipped(words, at + 1)
    month = _month_number(words, at) if at < len(words) else 0
    if not month:
        return start, None
    end = at + 1
    if not day and end < len(words) and words[end].text.isdigit() and 1 <= int(words[end].text) <= 31:
        day, end = int(words[end].text), end + 1
        if end < len(words) and words[end].folded in {"st", "nd", "rd", "th"}:
            end += 1
    after, year = _year_at(words, _skipped(words, end))
    if day and not year:
        return end, Period(months=frozenset((month,)), day=day)
    if year:
        period = _checked(year, month, day)
        return (after, period) if period is not None else (start, None)
    return end, Period(months=frozenset((month,)))


def _month_number(words: Sequence[QuestionWord], at: int) -> int:
    word = words[at]
    number = NUMBERS.get(word.text.lower(), 0)
    is_name = word.text[0].isupper() and (at > 0 or word.folded not in _RARE_MONTHS)
    if word.folded not in _WORDS_TOO or is_name:
        return number
    is_led = at > 0 and words[at - 1].folded in _BEFORE_MONTHS
    return number if is_led or _year_at(words, at + 1)[1] else 0


def _year_at(words: Sequence[QuestionWord], at: int) -> tuple[int, int]:
    if at >= len(words) or len(words[at].text) != 4 or not words[at].text.isdecimal():
        return at, 0
    year = int(words[at].text)
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return at, 0
    end = at + 1
    if end < len(words) and words[end].text == "年":
        end += 1
        if end < len(words) and words[end].text == "度":
            end += 1
    return end, year


def _skipped(words: Sequence[QuestionWord], at: int) -> int:
    while at < len(words) and words[at].folded in _BETWEEN:
        at += 1
    return at
