from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.comparison import folded, span
from rag_engine.metadata.filter_types import Condition, Filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rag_engine.metadata.filter_types import Operator

LONGEST_VALUE: Final = 200
MOST_CONDITIONS: Final = 20
_LONGEST_KEY: Final = 64
_PARTLY: Final = frozenset({"from", "author", "folder", "place", "name"})
_SPELLINGS: Final[Mapping[Operator, str]] = {
    "=": "= == is equals equal eq :",
    "≠": "≠ != <> not_is is_not isn't not_equals ne",
    "≥": "≥ >= => ge at_least since",
    "≤": "≤ <= =< le at_most until",
    ">": "> gt",
    "<": "< lt",
    "contains": "contains contain includes",
    "not contains": "not_contains does_not_contain not_contain",
    "in": "in one_of any_of",
    "not in": "not_in none_of",
    "starts with": "starts_with start_with startswith",
    "ends with": "ends_with end_with endswith",
    "empty": "empty is_empty",
    "not empty": "not_empty is_not_empty",
}
_OPERATORS: Final[Mapping[str, Operator]] = {
    spelling.replace("_", " "): operator
    for operator, spellings in _SPELLINGS.items()
    for spelling in spellings.split()
}
_ALIASES: Final[Mapping[str, str]] = {
    "file": "name",
    "filename": "name",
    "file name": "name",
    "from": "author",
    "by": "author",
    "path": "folder",
    "directory": "folder",
    "channel": "place",
    "tags": "tag",
    "filetype": "type",
    "file type": "type",
    "format": "type",
    "updated": "modified",
    "changed": "modified",
}
_DATES: Final[Mapping[str, Operator]] = {"after": "≥", "since": "≥", "before": "<"}
_WITHOUT_VALUE: Final = frozenset({"empty", "not empty"})
_KEY: Final = r"[^\W\d][\w .-]{0,63}?"
_VALUE: Final = r"\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|'[^']*'|\([^()]*\)|[^\s\"',()]+"
_WORDS: Final = "|".join(
    re.escape(spelling).replace(r"\ ", r"\s+")
    for spelling in sorted(_OPERATORS, key=len, reverse=True)
    if spelling[0].isalpha()
)
_SIGNS: Final = "|".join(
    re.escape(spelling) for spelling in sorted(_OPERATORS, key=len, reverse=True) if not spelling[0].isalpha()
)
_CONDITION: Final = re.compile(
    rf"\s*(?P<key>\"[^\"]+\"|{_KEY})(?:\s*(?P<sign>{_SIGNS})\s*|\s+(?P<word>{_WORDS})(?!\w)\s*)(?P<value>{_VALUE})?",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"\s*(?:(?P<word>and|or)(?!\w)|[,;]|(?=\s)|$)\s*", re.IGNORECASE)
_INLINE: Final = re.compile(
    rf"(?<![\w:/`.@#-])(?P<key>in|from|after|before|since|type|tag|author|folder|place|name):(?P<value>{_VALUE})",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def condition_of(key: str, operator: str, value: str) -> Condition:
    """Raises `InvalidFilter`."""
    name = " ".join(key.strip("\"'").split()).casefold()
    spelled = " ".join(operator.replace("_", " ").split()).casefold()
    known = _OPERATORS.get(spelled)
    value = " ".join(value.split())
    if len(value) > LONGEST_VALUE:
        raise InvalidFilter(
            f"The value of a filter has {len(value):,} characters, and at most {LONGEST_VALUE} are taken."
        )
    if name in _DATES and known in ("=", None):
        name, known = "date", _DATES[name]
    if not name or len(name) > _LONGEST_KEY or known is None or not (value or known in _WITHOUT_VALUE):
        raise unreadable(f"{key} {operator} {value}")
    if name == "date" and known not in _WITHOUT_VALUE and span(value) is None:
        raise InvalidFilter(f"{_short(value)} is no date for a filter: write it like 2025-01-31.")
    return Condition(
        key=_ALIASES.get(name, name), operator=known, value="" if known in _WITHOUT_VALUE else value
    )


def filter_of(text: str) -> Filter:
    """`type:pdf`, or `year >= 2024 and author contains anna`. Raises `InvalidFilter`."""
    conditions: list[Condition] = []
    joints: set[str] = set()
    rest = text.strip()
    while rest:
        found = _CONDITION.match(rest)
        if found is None:
            raise unreadable(text)
        conditions.append(
            condition_of(found["key"], found["sign"] or found["word"], _bare(found["value"] or ""))
        )
        rest = rest[found.end() :]
        joint = _JOINT.match(rest)
        if joint is None:
            raise unreadable(text)
        if rest.strip():
            joints.add((joint["word"] or "and").casefold())
        rest = rest[joint.end() :]
    if not conditions or len(conditions) > MOST_CONDITIONS or len(joints) > 1:
        raise unreadable(text)
    return merged(Filter(conditions=tuple(conditions), any_of="or" in joints))


def taken_from(question: str) -> tuple[str, Filter | None]:
    """Without `in:file.pdf`, `after:2025` and the like. Raises `InvalidFilter`."""
    code = [found.span() for found in _CODE.finditer(question)]
    conditions: list[Condition] = []

    def taken(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in code):
            return found[0]
        value = found["value"].rstrip("?!.,;:") or found["value"]
        key = found["key"].casefold()
        operator = "contains" if key in _PARTLY else "="
        conditions.append(condition_of(key, operator, _bare(value)))
        return found["value"][len(value) :]

    left = _INLINE.sub(taken, question)
    if not conditions:
        return question, None
    question = re.sub(r" ([?!.,;:])", r"\1", " ".join(left.split()))
    return question, merged(Filter(conditions=tuple(conditions[:MOST_CONDITIONS])))


def merged(filter_: Filter) -> Filter:
    """`type:pdf type:docx` means either."""
    if filter_.any_of:
        return filter_
    equal: dict[str, list[str]] = {}
    for condition in filter_.conditions:
        if condition.operator == "=":
            equal.setdefault(condition.key, []).append(condition.value)
    made: list[Condition] = []
    for condition in filter_.conditions:
        values = list(dict.fromkeys(equal.get(condition.key, ())))
        if condition.operator != "=" or len(values) < 2 or any("," in value for value in values):
            made.append(condition)
        elif condition.value == values[0]:
            made.append(Condition(key=condition.key, operator="in", value=", ".join(values)))
    return Filter(conditions=tuple(dict.fromkeys(made)))


def written(condition: Condition) -> str:
    key = f'"{condition.key}"' if " " in condition.key else condition.key
    value = f'"{condition.value}"' if re.search(r"[\s,()']", condition.value) else condition.value
    if condition.operator in _WITHOUT_VALUE:
        return f"{key} {condition.operator}"
    if condition.operator == "=":
        return f"{key}:{value}"
    if condition.key == "date" and condition.operator in ("≥", "<"):
        return f"{'after' if condition.operator == '≥' else 'before'}:{value}"
    return f"{key} {condition.operator} {value}"


def described(filters: Iterable[Filter]) -> str:
    return ", ".join(
        (" or " if filter_.any_of else ", ").join(map(written, filter_.conditions)) for filter_ in filters
    )


def contradicts(filters: Sequence[Filter]) -> bool:
    """No document could meet them."""
    least: dict[str, str] = {}
    most: dict[str, str] = {}
    for condition in _all_needed(filters):
        dates = span(condition.value)
        if dates is None:
            continue
        start, end = dates
        if condition.operator in ("≥", ">"):
            bound = start if condition.operator == "≥" else end
            least[condition.key] = max(least.get(condition.key, bound), bound)
        elif condition.operator in ("<", "≤"):
            bound = start if condition.operator == "<" else end
            most[condition.key] = min(most.get(condition.key, bound), bound)
    return any(key in most and bound >= most[key] for key, bound in least.items()) or _excludes_itself(
        filters
    )


def unreadable(text: str) -> InvalidFilter:
    return InvalidFilter(
        f"The filter {_short(text)} cannot be read: write it like type:pdf, or year >= 2024 and tag = draft."
    )


def _excludes_itself(filters: Sequence[Filter]) -> bool:
    needed = {
        (condition.key, folded(condition.value))
        for condition in _all_needed(filters)
        if condition.operator == "="
    }
    return any(
        (condition.key, folded(condition.value)) in needed
        for condition in _all_needed(filters)
        if condition.operator in ("≠", "not contains")
    )


def _all_needed(filters: Sequence[Filter]) -> Iterator[Condition]:
    for filter_ in filters:
        if not filter_.any_of or len(filter_.conditions) == 1:
            yield from filter_.conditions


def _bare(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] in "\"'“„(" else value


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:80]}…"
