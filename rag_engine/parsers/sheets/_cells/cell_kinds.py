from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["", "words", "number", "date", "year"]

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_DATE: Final = re.compile(
    r"\d{4}-\d\d?(?:-\d\d?)?(?:[ T]\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}[./-]\s?\d{1,2}[./-]\s?(?:\d{4}|\d\d)|\d{4}[./]\d{1,2}[./]\d{1,2}"
    r"|\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M)?|\d{4}年\d{1,2}月(?:\d{1,2}日)?"
    r"|\d{1,2}[-. ]\w{3,9}\.?[- ](?:\d{4}|\d\d)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"[-+−(]{0,2}\s?(?:[€$£¥₹₽]|[A-Z]{3}\s|R\$)?\s?[-+−]?(?:\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)(?:[eE][-+]?\d+)?"
    r"\s?(?:%|‰|€|\$|£|¥|₹|₽|[A-Z]{3}|kr|zł|Kč|Ft)?\)?"
)
_LONGEST: Final = 40


def kind(cell: str) -> Kind:
    return _kind(cell) if len(cell) <= _LONGEST else "words"


@functools.lru_cache(maxsize=512)
def _kind(cell: str) -> Kind:
    if not cell or cell.isspace():
        return ""
    if _YEAR.fullmatch(cell):
        return "year"
    if _DATE.fullmatch(cell):
        return "date"
    return "number" if _NUMBER.fullmatch(cell) else "words"


def names_columns(cells: Iterable[str]) -> bool:
    kinds = [found for cell in cells if (found := kind(cell))]
    return len(kinds) > 1 and "number" not in kinds and ("words" in kinds or set(kinds) == {"year"})


def usual(cells: Iterable[str]) -> Kind:
    counts: dict[Kind, int] = {}
    for cell in cells:
        found = kind(cell)
        if found:
            counts[found] = counts.get(found, 0) + 1
    most = max(counts.values(), default=0)
    for found, count in counts.items():
        if count == most:
            return found
    return ""
