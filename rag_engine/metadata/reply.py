from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.conditions import (
    MOST_CONDITIONS,
    condition_of,
    contradicts,
    described,
    merged,
    written,
)
from rag_engine.metadata.filter_types import Condition, Filter

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_SHOWN: Final = 60


def filter_of_reply(value: object) -> tuple[Filter | None, tuple[str, ...]]:
    """The most certain first, and what cannot be used."""
    any_of = False
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        any_of = str(fields.get("logic", "")).strip().casefold() == "or"
        value = fields.get("conditions", [fields] if "key" in fields else fields)
    if not value:
        return None, ()
    if not isinstance(value, list):
        return None, (_short(value),)
    found: list[tuple[float, Condition]] = []
    left_out: list[str] = []
    for item in cast("list[object]", value)[:MOST_CONDITIONS]:
        try:
            found.append(_read(item))
        except InvalidFilter:
            left_out.append(_short(item))
    conditions = [condition for _, condition in sorted(found, key=lambda pair: -pair[0])]
    if not conditions:
        return None, tuple(left_out)
    made = Filter(conditions=tuple(conditions), any_of=any_of)
    if contradicts([made]):
        return None, (*left_out, described([made]))
    return merged(made), tuple(left_out)


def limited_to(filter_: Filter | None, keys: Sequence[str]) -> tuple[Filter | None, tuple[str, ...]]:
    """`keys`: a key, or one with the operator it always has: `year >=`."""
    if filter_ is None or not keys:
        return filter_, ()
    fixed: dict[str, str] = {}
    for each in keys:
        name, _, operator = each.strip().partition(" ")
        fixed[name.casefold()] = operator.strip()
    kept: list[Condition] = []
    left_out: list[str] = []
    for condition in filter_.conditions:
        if condition.key in fixed:
            operator = fixed[condition.key] or condition.operator
            kept.append(condition_of(condition.key, operator, condition.value))
        else:
            left_out.append(written(condition))
    return (Filter(conditions=tuple(kept), any_of=filter_.any_of) if kept else None), tuple(left_out)


def _read(item: object) -> tuple[float, Condition]:
    if not isinstance(item, dict):
        raise InvalidFilter
    fields = cast("dict[str, object]", item)
    key, operator, value = (fields.get(name) for name in ("key", "op", "value"))
    if isinstance(value, list):
        value = ", ".join(str(each) for each in cast("list[object]", value))
    if not isinstance(key, str) or not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InvalidFilter
    return _certainty(fields.get("certainty")), condition_of(key, str(operator or "="), str(value))


def _certainty(value: object) -> float:
    certain = float(value) if isinstance(value, int | float) else 0.5
    return min(max(certain, 0.0), 1.0)


def _short(value: object) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = ""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}…"
