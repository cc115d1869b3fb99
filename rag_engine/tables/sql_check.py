"""Admits one SELECT over known tables and columns, written again from what was parsed; the process that runs it checks
every access, too.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rag_engine.errors import QueryRefused
from rag_engine.tables.types import ROW_NUMBER, ResultColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rag_engine.tables.types import TypedColumn, TypedTable

Node: TypeAlias = Any
"""Of sqlglot, whose types are incomplete."""

_LONGEST: Final = 10_000
_MOST_NODES: Final = 3_000
_DEEPEST: Final = 60
_MOST_TABLES: Final = 12
_MOST_NAMED: Final = 40
_DIALECT: Final = "sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsQuery:
    table: TypedTable
    sql: str
    is_inner: bool = False
    """In a condition or an expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuery:
    sql: str
    columns: tuple[ResultColumn, ...]
    """Fewer if it selects all."""
    tables: tuple[TypedTable, ...]
    used: tuple[tuple[TypedTable, TypedColumn], ...]
    """The columns it reads."""
    without_totals: tuple[TypedTable, ...]
    """Of `tables`, those read without their totals."""
    sources: tuple[RowsQuery, ...]


def checked(sql: str, tables: Sequence[TypedTable]) -> CheckedQuery:
    """Raises `QueryRefused`."""
    query = _parsed(sql)
    known = {name: table for table in tables for name in (table.sql_name, table.all_name)}
    _check_nodes(query)
    ours = _check_tables(query, known)
    used = _check_columns(query, ours, known)
    by_id = {(table.document, table.id): table for table in (known[name] for name in ours)}
    return CheckedQuery(
        sql=query.sql(dialect=_DIALECT),
        columns=tuple(_result_columns(query, known)),
        tables=tuple(by_id.values()),
        used=tuple(used),
        without_totals=tuple(
            table for name, table in known.items() if name in ours and name == table.sql_name
        ),
        sources=tuple(_sources(query, known)),
    )


def _parsed(sql: str) -> Node:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    text = sql.strip().removesuffix(";").strip()
    if not text or len(text) > _LONGEST or "\x00" in text:
        raise QueryRefused("The query is empty or too long.")
    if _depth(text) > _DEEPEST:
        raise QueryRefused("The query is nested too deeply.")
    # It logs what it cannot parse, which may be people's words.
    logging.getLogger("sqlglot").disabled = True
    try:
        statements = sqlglot.parse(text, dialect=_DIALECT)
    except (SqlglotError, RecursionError, ValueError) as error:
        raise QueryRefused(f"The query cannot be read: {str(error).splitlines()[0][:200]}") from error
    found = [one for one in statements if one is not None]
    if len(found) != 1 or not isinstance(found[0], exp.Select | exp.SetOperation):
        raise QueryRefused("Only one SELECT is allowed.")
    return found[0]


def _depth(text: str) -> int:
    deepest = depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        deepest = max(deepest, depth)
    return deepest


def _check_nodes(query: Node) -> None:
    from sqlglot import exp

    refused = (
        *(
            exp.Command,
            exp.DDL,
            exp.Insert,
            exp.Update,
            exp.Delete,
            exp.Merge,
            exp.Pragma,
            exp.Attach,
            exp.Detach,
            exp.Into,
            exp.Placeholder,
        ),
        *(exp.Parameter, exp.SessionParameter, exp.Lateral, exp.Unnest, exp.Lock),
    )
    for count, node in enumerate(query.walk()):
        if count > _MOST_NODES:
            raise QueryRefused("The query is too long.")
        if isinstance(node, refused):
            raise QueryRefused("Only one SELECT is allowed.")
        if isinstance(node, exp.With) and node.recursive:
            raise QueryRefused("A query may not call itself (WITH RECURSIVE).")


def _check_tables(query: Node, known: Mapping[str, TypedTable]) -> set[str]:
    from sqlglot import exp

    own = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    if own & set(known):
        raise QueryRefused("A subquery may not have the name of a table.")
    ours: set[str] = set()
    found = list(query.find_all(exp.Table))
    if len(found) > _MOST_TABLES:
        raise QueryRefused("The query reads too many tables at once.")
    for node in found:
        name = node.name.lower()
        if not isinstance(node.this, exp.Identifier) or node.args.get("db") or node.args.get("catalog"):
            raise QueryRefused("Only the given tables may be read, by their names.")
        if name in known:
            ours.add(name)
        elif name not in own:
            raise QueryRefused(f"There is no table {name!r}; there are: {', '.join(known)}.")
    if not ours:
        raise QueryRefused("The query reads no table.")
    if large := [name for name in ours if known[name].too_large]:
        raise QueryRefused(f"The table {large[0]!r} is too large to compute over.")
    return ours


def _check_columns(
    query: Node, ours: set[str], known: Mapping[str, TypedTable]
) -> Iterator[tuple[TypedTable, TypedColumn]]:
    """SQLite takes an unknown name in quotes for a text."""
    from sqlglot import exp

    columns: dict[str, list[tuple[TypedTable, TypedColumn]]] = {ROW_NUMBER: []}
    for name in sorted(ours):
        for column in known[name].columns:
            for each in {column.sql_name, column.text_name}:
                columns.setdefault(each, []).append((known[name], column))
    aliases = {alias.alias.lower() for alias in query.find_all(exp.Alias, exp.TableAlias)}
    aliases |= {
        column.name.lower()
        for alias in query.find_all(exp.TableAlias)
        for column in alias.args.get("columns") or ()
    }
    used: dict[tuple[str, str, str], tuple[TypedTable, TypedColumn]] = {}
    for node in query.find_all(exp.Column):
        name = node.name.lower()
        if name not in columns and name not in aliases:
            raise QueryRefused(
                f"There is no column {name!r}; there are: {', '.join(list(columns)[:_MOST_NAMED])}."
            )
        for table, column in columns.get(name, ()):
            if column.sql_name == name:
                used[table.document, table.id, name] = (table, column)
    return iter(used.values())


def _result_columns(query: Node, known: Mapping[str, TypedTable]) -> Iterator[ResultColumn]:
    from sqlglot import exp

    select = query
    while isinstance(select, exp.SetOperation):
        select = select.this
    if any(isinstance(one, exp.Star) or one.is_star for one in select.selects):
        return
    for projection in select.selects:
        column = _only_column(projection, _base_tables(select, known))
        inner = projection.unalias()
        name = projection.alias or projection.name
        if not projection.alias and column is not None:
            own = column.name
            name = own if isinstance(inner, exp.Column) else f"{type(inner).__name__} {own}"
        if isinstance(inner, exp.Count) and not projection.alias:
            name = projection.sql(_DIALECT)
        yield ResultColumn(name=name or projection.sql(_DIALECT), unit=_unit(projection, column))


def _only_column(node: Node, tables: Sequence[tuple[str, TypedTable]]) -> TypedColumn | None:
    from sqlglot import exp

    names = {column.name.lower() for column in node.find_all(exp.Column)}
    if len(names) != 1:
        return None
    (name,) = names
    found = [
        column
        for _, table in tables
        for column in table.columns
        if name in (column.sql_name, column.text_name)
    ]
    return found[0] if found else None


def _unit(node: Node, column: TypedColumn | None) -> str:
    from sqlglot import exp

    if column is None or column.kind != "number" or node.find(exp.Count, exp.Div, exp.Mul, exp.Subquery):
        return ""
    return column.unit


def _base_tables(select: Node, known: Mapping[str, TypedTable]) -> list[tuple[str, TypedTable]]:
    from sqlglot import exp

    start = select.args.get("from_") or select.args.get("from")
    parts = [start.this] if start is not None else []
    parts += [join.this for join in select.args.get("joins") or ()]
    return [
        (part.alias_or_name, known[part.name.lower()])
        for part in parts
        if isinstance(part, exp.Table) and part.name.lower() in known
    ]


def _sources(query: Node, known: Mapping[str, TypedTable]) -> Iterator[RowsQuery]:
    from sqlglot import exp

    outer = list(_reading_selects(query, query))
    shown = {id(select) for select in outer}
    inner = [select for select in query.find_all(exp.Select) if id(select) not in shown]
    for select in (*outer, *inner):
        tables = list(_base_tables(select, known))
        own = {
            name.lower()
            for _, table in tables
            for one in table.columns
            for name in (one.sql_name, one.text_name)
        }
        for alias, table in tables:
            yield RowsQuery(
                table=table, sql=_rows_sql(select, alias, query, own), is_inner=id(select) not in shown
            )


def _reading_selects(node: Node, root: Node, depth: int = 0) -> Iterator[Node]:
    from sqlglot import exp

    if depth > _MOST_TABLES:
        return
    if isinstance(node, exp.Subquery | exp.CTE):
        yield from _reading_selects(node.this, root, depth + 1)
    elif isinstance(node, exp.SetOperation):
        for part in (node.this, node.expression):
            yield from _reading_selects(part, root, depth + 1)
    elif isinstance(node, exp.Select):
        yield node
        start = node.args.get("from_") or node.args.get("from")
        parts = [start.this] if start is not None else []
        parts += [join.this for join in node.args.get("joins") or ()]
        ctes = {cte.alias.lower(): cte for cte in root.find_all(exp.CTE)}
        for part in parts:
            if isinstance(part, exp.Subquery):
                yield from _reading_selects(part, root, depth + 1)
            elif isinstance(part, exp.Table) and part.name.lower() in ctes:
                yield from _reading_selects(ctes[part.name.lower()], root, depth + 1)


def _rows_sql(select: Node, alias: str, root: Node, own: Collection[str]) -> str:
    from sqlglot import exp

    rows = select.copy()
    is_grouped = bool(
        rows.args.get("group")
        or rows.args.get("distinct")
        or any(one.find(exp.AggFunc) for one in rows.selects)
    )
    _replace_aliases(rows, own)
    for part in ("group", "having", "distinct", "windows"):
        rows.set(part, None)
    if is_grouped or not rows.args.get("limit"):
        for part in ("order", "limit", "offset"):
            rows.set(part, None)
    rows.set("expressions", [exp.column(ROW_NUMBER, table=alias, quoted=True)])
    for name in ("with_", "with"):
        outer = root.args.get(name)
        if outer is not None and not rows.args.get(name):
            rows.set(name, outer.copy())
    return str(rows.sql(dialect=_DIALECT))


def _replace_aliases(select: Node, own: Collection[str]) -> None:
    from sqlglot import exp

    meant = {one.alias.lower(): one.this for one in select.selects if isinstance(one, exp.Alias)}
    for part in ("where", "order"):
        clause = select.args.get(part)
        for column in list(clause.find_all(exp.Column)) if clause is not None else ():
            is_own = part == "where" and column.name.lower() in own
            if not column.table and not is_own and column.name.lower() in meant:
                column.replace(meant[column.name.lower()].copy())
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        place = ordered.this
        if isinstance(place, exp.Literal) and place.is_int and 0 < int(place.this) <= len(select.selects):
            place.replace(select.selects[int(place.this) - 1].unalias().copy())
