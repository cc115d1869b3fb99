from __future__ import annotations

import datetime
import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.metadata.filter_types import Condition, Filter, Properties

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?")
_NEGATIONS: Final = {"≠": "=", "not contains": "contains", "not in": "in", "not empty": "empty"}
_DATE_KEYS: Final = ("modified", "created", "added")


def meets(properties: Properties, filter_: Filter) -> bool:
    found = (holds(values_of(properties, each.key), each) for each in filter_.conditions)
    return any(found) if filter_.any_of else all(found)


def values_of(properties: Properties, key: str) -> Sequence[str]:
    """Of `date`: of the last change, the making, or the adding."""
    if key == "date":
        return next((properties[name] for name in _DATE_KEYS if properties.get(name)), ())
    if key == "in":
        names = properties.get("name", ())
        stems = tuple(name.rpartition(".")[0] for name in names)
        return (*names, *filter(None, stems), *properties.get("folder", ()), *properties.get("place", ()))
    return properties.get(key, ())


def holds(values: Sequence[str], condition: Condition) -> bool:
    """Without the property `≠`, `not contains` and `not in` hold."""
    operator = _NEGATIONS.get(condition.operator)
    if operator is not None:
        return not _holds(values, operator, condition.value)
    return _holds(values, condition.operator, condition.value)


def _holds(values: Sequence[str], operator: str, wanted: str) -> bool:
    if operator == "empty":
        return not any(value.strip() for value in values)
    if operator == "in":
        listed = [part.strip() for part in wanted.split(",")]
        return any(_order(value, part) == 0 for value in values for part in listed if part)
    return any(_compares(value, operator, wanted) for value in values)


def _compares(value: str, operator: str, wanted: str) -> bool:
    text, part = folded(value), folded(wanted)
    if operator in ("contains", "starts with", "ends with"):
        return {
            "contains": part in text,
            "starts with": text.startswith(part),
            "ends with": text.endswith(part),
        }[operator]
    order = _order(value, wanted)
    if order is None:
        return False
    return {"=": order == 0, ">": order > 0, "≥": order >= 0, "<": order < 0, "≤": order <= 0}[operator]


def _order(value: str, wanted: str) -> int | None:
    number, other = _number(value), _number(wanted)
    if number is not None and other is not None:
        return (number > other) - (number < other)
    asked = span(wanted)
    if asked is not None:
        day = span(value)
        if day is None:
            return None
        return -1 if day[0] < asked[0] else 1 if day[0] >= asked[1] else 0
    text, part = folded(value), folded(wanted)
    return (text > part) - (text < part)


def span(text: str) -> tuple[str, str] | None:
    """The first day, and the first one after it."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = int(found[1]), found[2], found[3]
    try:
        start = datetime.date(year, int(month or 1), int(day or 1))
        if day:
            end = start + datetime.timedelta(days=1)
        elif month:
            end = datetime.date(year + int(month) // 12, int(month) % 12 + 1, 1)
        else:
            end = datetime.date(year + 1, 1, 1)
    except (ValueError, OverflowError):
        return None
    return start.isoformat(), end.isoformat()


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _number(text: str) -> float | None:
    try:
        return float(text) if re.fullmatch(r"\s*[+-]?\d+(?:\.\d+)?\s*", text) else None
    except ValueError:
        return None
