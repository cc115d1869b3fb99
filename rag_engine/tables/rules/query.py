from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from rag_engine.tables.types import TypedColumn, TypedTable

Function = Literal["sum", "average", "median", "most", "least", "count", "distinct"]
FOLDING: Final[tuple[Function, ...]] = ("sum", "average", "median")
TimeUnit = Literal["", "year", "quarter", "month", "day"]
Extreme = Literal["", "most", "least"]
Operator = Literal[">", ">=", "<", "<="]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    function: Function
    columns: tuple[TypedColumn, ...] = ()
    is_product: bool = False
    """Of each row's cells; else several columns are added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFilter:
    """`listed`: `texts` are all spellings in the column."""

    column: TypedColumn
    texts: tuple[str, ...]
    listed: bool = True
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFilter:
    column: TypedColumn
    low: str | float | None = None
    high: str | float | None = None
    includes_low: bool = True
    includes_high: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyFilter:
    column: TypedColumn
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFilter:
    column: TypedColumn
    operator: Operator
    other: TypedColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyFilter:
    alternatives: tuple[tuple[Filter, ...], ...]


Filter = TextFilter | RangeFilter | EmptyFilter | ColumnFilter | AnyFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    column: TypedColumn
    unit: TimeUnit = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Superlative:
    """The first `limit` by the measure, with ties; `nth`: only those with the value in this place."""

    extreme: Extreme
    limit: int
    column: TypedColumn | None = None
    nth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    table: TypedTable
    measures: tuple[Measure, ...]
    filters: tuple[Filter, ...] = ()
    groups: tuple[Grouping, ...] = ()
    ranking: Superlative | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowList:
    """`summed`: columns with their sum; `counted`: with the number of rows; `distinct`: each combination once."""

    table: TypedTable
    columns: tuple[TypedColumn, ...]
    filters: tuple[Filter, ...] = ()
    ranking: Superlative | None = None
    summed: tuple[TypedColumn, ...] = ()
    counted: bool = False
    distinct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    table: TypedTable
    measure: Measure
    part: tuple[Filter, ...]
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """`columns` replace the measure's."""

    name: str
    filters: tuple[Filter, ...] = ()
    columns: tuple[TypedColumn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    table: TypedTable
    measure: Measure
    first: Side
    second: Side
    filters: tuple[Filter, ...] = ()
    is_ratio: bool = False


TableQuery = Aggregate | RowList | Share | Difference
