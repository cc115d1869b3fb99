"""What a shown answer is worth: right, a wrong number, refused, or quotes alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tables.computed.question_set import ComputedQuestion, Gold

_CENT = 0.0051
_MONTH = re.compile(r"(\d{4})-(\d\d)(?:-01)?")
Verdict = Literal["right", "warned", "wrong", "refused", "quoted"]
"""`warned`: a wrong number with a warning; `quoted`: passages, nothing computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """`rows`: the computed result, None if nothing was computed; `quotes`: lines with a citation."""

    text: str
    rows: Sequence[Sequence[Gold | None]] | None = None
    quotes: Sequence[str] = ()
    warnings: int = 0
    cited: bool = True


def verdict(question: ComputedQuestion, shown: ShownAnswer) -> Verdict:
    if shown.rows is None:
        if not shown.quotes:
            return "refused"
        first = shown.quotes[0]
        is_found = question.kind == "lookup" and all(shows(first, value) for value in question.gold)
        return "right" if is_found else "quoted"
    if _is_empty(shown.rows):
        return "refused" if not question.gold or not shown.quotes else "quoted"
    if question.gold and holds(question, shown.rows) and _is_written(question, shown):
        return "right"
    return "warned" if shown.warnings else "wrong"


def holds(question: ComputedQuestion, rows: Sequence[Sequence[Gold | None]]) -> bool:
    """Every gold value in a row of its own if the question has several, in order for the top n, and nothing else. One
    figure may be beside each row that went into it.
    """
    wanted = question.gold
    is_listed = question.kind in ("filter", "dates") and len(rows) > 1
    if (question.kind in ("group", "join", "top") or is_listed) and len(wanted) > 1:
        if len(rows) != len(wanted):
            return False
        if question.kind == "top":
            pairs = zip(rows, wanted, strict=True)
            return all(any(is_same(cell, value) for cell in row) for row, value in pairs)
        left = list(rows)
        for value in wanted:
            found = next((row for row in left if any(is_same(cell, value) for cell in row)), None)
            if found is None:
                return False
            left.remove(found)
        return True
    if question.kind == "lookup":
        return any(all(any(is_same(cell, value) for cell in row) for value in wanted) for row in rows)
    columns = list(zip(*rows, strict=True))
    if len(rows) > 1:
        return len(wanted) == 1 and any(
            all(is_same(cell, wanted[0]) for cell in column) for column in columns
        )
    return all(any(is_same(cell, value) for cell in rows[0]) for value in wanted)


def is_same(cell: Gold | None, value: Gold) -> bool:
    """The same number to the digits shown, date or text."""
    if cell is None:
        return False
    if isinstance(value, str):
        return _folded(str(cell)) == _folded(value) or (_day(str(cell)) or cell) == _day(value)
    if isinstance(cell, str):
        return shows(cell, value)
    return abs(cell - value) <= max(0.0051 if cell != int(cell) else 1e-6, 1e-9 * abs(value))


def shows(text: str, value: Gold) -> bool:
    """A text with this value somewhere."""
    if isinstance(value, str):
        if (month := _MONTH.fullmatch(value)) and _in_words(month) in _folded(text):
            return True
        return _folded(value) in _folded(text) or (_day(value) is not None and _day(value) in _days(text))
    rounded = 0.0 if value == int(value) else _CENT
    return any(
        abs(number - value) <= max(tolerance, rounded) + 1e-9 * abs(value)
        for number, tolerance in numbers(text)
    )


def _in_words(month: re.Match[str]) -> str:
    return date(int(month[1]), int(month[2]), 1).strftime("%B %Y").casefold()


def numbers(text: str) -> list[tuple[float, float]]:
    """Each number by both decimal marks, with half of its last place."""
    found: list[tuple[float, float]] = []
    for match in re.finditer(r"[-−]?\d(?:[\d.,'\u00a0\u202f ]*\d)?", text):
        for part in {match[0], *match[0].split()}:
            plain = re.sub(r"[\s'\u00a0\u202f]", "", part).replace("−", "-")
            for decimal, thousands in ((".", ","), (",", ".")):
                whole, _, places = plain.replace(thousands, "").partition(decimal)
                if decimal not in places and re.fullmatch(r"-?\d+", whole):
                    found.append(
                        (float(f"{whole}.{places or 0}"), 0.5001 * 10 ** -len(places) if places else 1e-6)
                    )
    return found


def _is_written(question: ComputedQuestion, shown: ShownAnswer) -> bool:
    """People read the text, not the rows."""
    return shown.cited and all(shows(shown.text, value) for value in question.gold)


def _is_empty(rows: Sequence[Sequence[Gold | None]]) -> bool:
    return not any(cell is not None for row in rows for cell in row)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


_FORMS = (
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %y",
    "%a %d %b %Y",
    "%Y-%m-%d",
    "%d %b %Y",
    "%d %B %Y",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%m/%d/%Y",
)


def _day(text: str) -> date | None:
    for form in _FORMS:
        try:
            return datetime.strptime(text.strip(), form).date()
        except ValueError:
            continue
    return None


def _days(text: str) -> set[date]:
    found = re.findall(
        r"\d{1,2}[- ][A-Z][a-z]{2}[- ]\d{2,4}|\d{4}-\d\d-\d\d|\d{1,2}[./]\d\d[./]\d{4}|\d{1,2} \w+ \d{4}|\w+ \d{1,2}, \d{4}",
        text,
    )
    return {day for day in map(_day, found) if day is not None}
