from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from rag_engine.types import DocumentId

ColumnKind = Literal["text", "number", "date", "boolean"]
Value: TypeAlias = "str | int | float | None"

ROW_NUMBER: Final = "_row"
"""Of every table: the row in the sheet, or the line in the file."""
ORIGINAL: Final = "__text"
"""A column's cells as displayed."""
WITH_TOTALS: Final = "__all"
"""A table's rows with totals."""
MOST_ROWS: Final = 200
"""Of a result."""
MOST_VALUES: Final = 1_000
"""Kept of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedColumn:
    """`sql_name` holds numbers, ISO dates ("2025-03-01", "2025-03-01 14:30"), 1 or 0, or text; NULL: empty or unread."""

    name: str
    """As in the header, its levels joined by a space."""
    sql_name: str
    kind: ColumnKind = "text"
    unit: str = ""
    """Such as "€", "%" (12 % is stored as 12) or "h"."""
    filled: int = 0
    """Without totals; `unread`: those of another kind."""
    unread: int = 0
    values: tuple[str, ...] = ()
    """As they first appear; the most frequent of many."""
    has_all_values: bool = False
    least: Value = None
    greatest: Value = None

    @property
    def text_name(self) -> str:
        """A text column's is itself."""
        return self.sql_name if self.kind == "text" else f"{self.sql_name}{ORIGINAL}"

    @property
    def is_number_read_as_text(self) -> bool:
        """An identifier, as the rules see it."""
        return self.kind == "text" and self.sql_name.endswith(ORIGINAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedTable:
    """`sql_name` is without totals, `all_name` with them; unique in a query."""

    id: str
    """In its document, such as "t1"."""
    document: DocumentId
    title: str
    caption: str
    place: str
    """With the header, such as "Budget!A4:N15" or "rows 1–40"."""
    sql_name: str
    columns: tuple[TypedColumn, ...]
    row_count: int
    """Without totals."""
    totals: int = 0
    too_large: bool = False
    uri: str = ""

    @property
    def all_name(self) -> str:
        return f"{self.sql_name}{WITH_TOTALS}"

    @property
    def row_name(self) -> str:
        return ROW_NUMBER


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuery:
    """One SELECT over tables by their `sql_name`."""

    sql: str
    tables: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """For people: how the question was taken."""
    language: str = ""
    """In which the question was understood."""
    unread: str = ""
    """Words that have no part in it."""
    most_rows: int = MOST_ROWS
    """If there are more, they are no answer."""


Missing = Literal["question", "table", "column", "value", "period", "unit", "choice", "unclear", "partner"]
"""`question`: nothing that is computed; `choice`: several readings; `unclear`: not understood over `table`;
`partner`: values of a key that the second table lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRefusal:
    """All but `question` are said to people."""

    missing: Missing
    name: str = ""
    available: tuple[str, ...] = ()
    """Columns, values, titles or the first and last period."""
    table: str = ""
    readings: tuple[WrittenQuery, ...] = ()
    """One per table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumn:
    name: str
    unit: str = ""
    """Of the only column it is computed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRows:
    table: TypedTable
    numbers: tuple[int, ...]
    """In the sheet or file; the first of many."""
    count: int
    texts: tuple[tuple[str, ...], ...] = ()
    """The first as displayed, a text per column."""


QueryWarning = Literal["unread_cells", "unread_words", "empty_cell", "totals_left_out", "cut"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedWarning:
    """`unread_cells`: of another kind than `column`; `unread_words`: of the question; `totals_left_out`: rows; `cut`: more than `MOST_ROWS`."""

    kind: QueryWarning
    count: int
    table: str = ""
    column: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedAnswer:
    sql: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    sources: tuple[SourceRows, ...] = ()
    warnings: tuple[ComputedWarning, ...] = field(default=())
    is_drawn: bool = False
    """As a chart too."""
