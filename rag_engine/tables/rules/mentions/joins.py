"""Two tables as one, if each row has one of the second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.types import ROW_NUMBER, TypedColumn, TypedTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedTable(TypedTable):
    """Rows and title are of the first; names of columns hold their table."""

    first: TypedTable
    second: TypedTable
    key: TypedColumn
    """Of the first."""
    lacking: tuple[str, ...] = ()
    """Values of the key without a row of the second."""

    @property
    def row_name(self) -> str:
        return f"{self.first.sql_name}.{ROW_NUMBER}"

    def is_first(self, column: TypedColumn) -> bool:
        return column.sql_name.startswith(f"{self.first.sql_name}.")


def joined(tables: Sequence[TypedTable], language: str) -> Iterator[JoinedTable]:
    for first in tables:
        for second in tables:
            keys = [] if first is second else _keys(first, second, language)
            if any(one.name != other.name for one, other in keys) and _share_a_key(first, second, language):
                continue
            keys = [key for key in keys if not _lacking(*key)] or keys
            if len(keys) == 1:
                yield _joined(first, second, *keys[0])


def _share_a_key(one: TypedTable, other: TypedTable, language: str) -> bool:
    found = (*_keys(one, other, language), *_keys(other, one, language))
    return any(key.name == its.name for key, its in found)


def _lacking(one: TypedColumn, other: TypedColumn) -> tuple[str, ...]:
    known = set(other.values)
    return tuple(value for value in one.values if value not in known)


def _keys(first: TypedTable, second: TypedTable, language: str) -> list[tuple[TypedColumn, TypedColumn]]:
    return [
        (one, other)
        for other in second.columns
        if other.has_all_values and len(other.values) == other.filled == second.row_count > 1
        for one in first.columns
        if one.has_all_values
        and one.filled == first.row_count
        and one.kind == other.kind
        and _is_one_key(one, other, language)
        and (
            len(_lacking(one, other)) * 2 <= len(one.values)
            if one.name == other.name
            else not _lacking(one, other)
        )
    ]


def _is_one_key(one: TypedColumn, other: TypedColumn, language: str) -> bool:
    own, its = column_names.header(one.name, language), column_names.header(other.name, language)
    if {word.folded for word in own.words} == {word.folded for word in its.words}:
        return one.kind == "text" or own.is_code
    return one.kind == "text" and not one.is_number_read_as_text and len(one.values) > 1


def _joined(first: TypedTable, second: TypedTable, key: TypedColumn, other: TypedColumn) -> JoinedTable:
    own, its = f'"{first.sql_name}"', f'"{second.sql_name}"'
    beside = [replace(column, filled=0) for column in second.columns if column is not other]
    return JoinedTable(
        id=first.id,
        document=first.document,
        title=first.title,
        caption=first.caption,
        place=first.place,
        sql_name=f'{own} JOIN {its} ON {own}."{key.text_name}" = {its}."{other.text_name}"',
        columns=(*_within(first, first.columns), *_within(second, beside)),
        row_count=first.row_count,
        first=first,
        second=second,
        key=key,
        lacking=_lacking(key, other),
    )


def _within(table: TypedTable, own: Sequence[TypedColumn]) -> Iterator[TypedColumn]:
    for column in own:
        yield replace(column, sql_name=f"{table.sql_name}.{column.sql_name}")
