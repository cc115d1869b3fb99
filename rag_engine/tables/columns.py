from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.tables import values
from rag_engine.tables.types import ROW_NUMBER, TypedColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.tables.types import ColumnKind, Value
    from rag_engine.tables.values import DayOrder, NumberForm
    from rag_engine.text.table_anchors import Cell

_CURRENCIES: Final = frozenset("€$£¥")
_SHARE: Final = 0.8
"""Of the filled cells: the column is of their kind."""
_LONGEST_NAME: Final = 40
_LEADING_ZERO: Final = re.compile(r"0\d+")
_LONG_NUMBER: Final = re.compile(r"\d{16,}")
KEYWORDS: Final = frozenset(
    [
        "abort",
        "action",
        "add",
        "after",
        "all",
        "alter",
        "always",
        "analyze",
        "and",
        "as",
        "asc",
        "attach",
        "autoincrement",
        "before",
        "begin",
        "between",
        "by",
        "cascade",
        "case",
        "cast",
        "check",
        "collate",
        "column",
        "commit",
        "conflict",
        "constraint",
        "create",
        "cross",
        "current",
        "current_date",
        "current_time",
        "current_timestamp",
        "database",
        "default",
        "deferrable",
        "deferred",
        "delete",
        "desc",
        "detach",
        "distinct",
        "do",
        "drop",
        "each",
        "else",
        "end",
        "escape",
        "except",
        "exclude",
        "exclusive",
        "exists",
        "explain",
        "fail",
        "filter",
        "first",
        "following",
        "for",
        "foreign",
        "from",
        "full",
        "generated",
        "glob",
        "group",
        "groups",
        "having",
        "if",
        "ignore",
        "immediate",
        "in",
        "index",
        "indexed",
        "initially",
        "inner",
        "insert",
        "instead",
        "intersect",
        "into",
        "is",
        "isnull",
        "join",
        "key",
        "last",
        "left",
        "like",
        "limit",
        "match",
        "materialized",
        "natural",
        "no",
        "not",
        "nothing",
        "notnull",
        "null",
        "nulls",
        "of",
        "offset",
        "on",
        "or",
        "order",
        "others",
        "outer",
        "over",
        "partition",
        "plan",
        "pragma",
        "preceding",
        "primary",
        "query",
        "raise",
        "range",
        "recursive",
        "references",
        "regexp",
        "reindex",
        "release",
        "rename",
        "replace",
        "restrict",
        "returning",
        "right",
        "rollback",
        "row",
        "rowid",
        "rows",
        "savepoint",
        "select",
        "set",
        "table",
        "temp",
        "temporary",
        "then",
        "ties",
        "to",
        "transaction",
        "trigger",
        "unbounded",
        "union",
        "unique",
        "update",
        "using",
        "vacuum",
        "values",
        "view",
        "virtual",
        "when",
        "where",
        "window",
        "with",
        "without",
    ]
)


def sql_name(name: str, taken: Collection[str], *, otherwise: str) -> str:
    """ASCII, lower case, no keyword, none of `taken`."""
    folded = unicodedata.normalize("NFKD", name.replace("ß", "ss").replace("%", " percent ").casefold())
    plain = re.sub(r"[^a-z0-9]+", "_", folded.encode("ascii", "ignore").decode("ascii")).strip("_")
    plain = plain[:_LONGEST_NAME].strip("_") or otherwise
    if plain[0].isdigit():
        plain = f"c_{plain}"
    if plain in KEYWORDS:
        plain = f"{plain}_"
    number, unique = 1, plain
    while unique in taken or unique == ROW_NUMBER:
        number += 1
        unique = f"{plain}_{number}"
    return unique


@dataclass(slots=True)
class ColumnProfile:
    """What a column's cells can be read as."""

    name: str
    filled: int = 0
    marks: int = 0
    """ "-" and "n/a": empty in a column of numbers."""
    numbers: dict[str, int] = field(default_factory=lambda: {"point": 0, "comma": 0})
    only: Counter[str] = field(default_factory=Counter[str])
    """They decide the form of numbers or dates."""
    dates: dict[str, int] = field(default_factory=lambda: {"day": 0, "month": 0})
    truths: int = 0
    has_codes: bool = False
    units: Counter[str] = field(default_factory=Counter[str])
    dotted_dates: int = 0
    groups: Counter[str] = field(default_factory=Counter[str])
    """Marks of numbers such as "45,210" and "45.210", which of money are thousands."""

    def add(self, cell: Cell) -> None:
        text = cell if isinstance(cell, str) else cell[0]
        if not text:
            return
        self.filled += 1
        if not isinstance(cell, str):
            self._add_typed(cell[1], cell[2])
        elif values.is_empty(text):
            self.marks += 1
        else:
            self._add_text(text)

    def _add_typed(self, value: str | float, unit: str) -> None:
        counts = self.dates if isinstance(value, str) else self.numbers
        for reading in counts:
            counts[reading] += 1
        if not isinstance(value, str):
            self.units[unit] += 1

    def _add_text(self, text: str) -> None:
        self.truths += values.truth(text) is not None
        if _LEADING_ZERO.fullmatch(text) or _LONG_NUMBER.fullmatch(text):
            self.has_codes = True
            return
        found = values.readable(text)
        for form in found.forms:
            self.numbers[form] += 1
        for order in found.orders:
            self.dates[order] += 1
        self.dotted_dates += bool(found.orders) and "." in text
        if len(found.forms) > 1:
            self.groups.update(mark for mark in ",." if mark in text)
        if found.forms:
            self.units[found.unit] += 1
        if found.decides:
            self.only[found.decides] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CellReading:
    kind: ColumnKind
    form: NumberForm = "point"
    order: DayOrder = "day"
    unit: str = ""

    def value(self, cell: Cell) -> Value:
        """None if empty or not of the kind."""
        text = cell if isinstance(cell, str) else cell[0]
        if self.kind == "text":
            return text or None
        if self.kind == "boolean":
            found = values.truth(text)
            return None if found is None else int(found)
        if not isinstance(cell, str):
            fits = isinstance(cell[1], str) == (self.kind == "date")
            return cell[1] if fits else None
        if self.kind == "date":
            return values.iso_date(text, self.order)
        quantity = values.number(text, self.form)
        return quantity[0] if quantity is not None else None


def readings(profiles: Sequence[ColumnProfile]) -> list[CellReading]:
    """Columns without a decisive cell follow the others."""
    votes: Counter[str] = Counter()
    for profile in profiles:
        votes.update(profile.only)
    form: NumberForm = "comma" if votes["comma"] > votes["point"] else "point"
    if not votes["comma"] and not votes["point"] and votes["day"] and not votes["month"]:
        form = _form_beside_dates(profiles)
    order: DayOrder = "month" if votes["month"] > votes["day"] else "day"
    if not votes["month"] and not votes["day"] and form == "point":
        order = "month"
    return [_reading(profile, form, order) for profile in profiles]


def _form_beside_dates(profiles: Sequence[ColumnProfile]) -> NumberForm:
    groups = Counter[str]()
    for profile in profiles:
        groups.update(profile.groups)
    is_dotted = any(profile.dotted_dates for profile in profiles)
    return "comma" if is_dotted or groups["."] > groups[","] else "point"


def _reading(profile: ColumnProfile, form: NumberForm, order: DayOrder) -> CellReading:
    filled = profile.filled - profile.marks
    if not filled or profile.has_codes:
        return CellReading(kind="text")
    if profile.only["comma"] != profile.only["point"]:
        form = "comma" if profile.only["comma"] > profile.only["point"] else "point"
    if profile.only["day"] != profile.only["month"]:
        order = "month" if profile.only["month"] > profile.only["day"] else "day"
    if not profile.only and profile.groups and any(unit in _CURRENCIES for unit in profile.units):
        form = "comma" if profile.groups["."] > profile.groups[","] else "point"
    if profile.truths == filled:
        return CellReading(kind="boolean")
    if profile.dates[order] >= _SHARE * filled:
        return CellReading(kind="date", order=order)
    unit = _unit(profile.units)
    if profile.numbers[form] >= _SHARE * filled and unit is not None:
        return CellReading(kind="number", form=form, unit=unit)
    return CellReading(kind="text")


def _unit(units: Counter[str]) -> str | None:
    named = {unit: count for unit, count in units.items() if unit}
    if not named:
        return ""
    if len(named) > 1:
        return None
    ((unit, count),) = named.items()
    bare = units[""]
    return unit if bare <= count or unit not in {"%", "‰"} else None


def typed_columns(profiles: Sequence[ColumnProfile], read: Sequence[CellReading]) -> list[TypedColumn]:
    """Without what is counted while rows are written."""
    taken: set[str] = set()
    columns: list[TypedColumn] = []
    for at, (profile, reading) in enumerate(zip(profiles, read, strict=True), 1):
        name = sql_name(profile.name, taken, otherwise=f"column_{at}")
        taken |= {name, f"{name}__text"}
        columns.append(
            TypedColumn(
                name=profile.name or name,
                sql_name=name,
                kind=reading.kind,
                unit=reading.unit,
                filled=profile.filled,
            )
        )
    return columns
