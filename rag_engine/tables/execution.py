"""Each query in a process that ends after seconds or too much memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rag_engine import errors
from rag_engine.errors import QueryRefused, QueryTooHeavy, Unavailable
from rag_engine.storage.concurrency import process_groups
from rag_engine.tables.sql_check import checked
from rag_engine.tables.types import (
    MOST_ROWS,
    ORIGINAL,
    ROW_NUMBER,
    ComputedAnswer,
    ComputedWarning,
    ResultColumn,
    SourceRows,
)
from rag_engine.tables.values import EMPTY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.sql_check import CheckedQuery
    from rag_engine.tables.table_file import StoredTable
    from rag_engine.tables.types import TypedColumn, TypedTable, Value

_MODULE: Final = "rag_engine.tables.query_process"
_PACKAGE: Final = str(Path(errors.__file__).resolve().parents[1])
_START_SECONDS: Final = 30.0
_END_SECONDS: Final = 10.0
_SECONDS: Final = 3.0
"""Of a processor."""
_LONGEST_SECONDS: Final = 20.0
"""A busy machine refuses no light query."""
_MEMORY: Final = 256 << 20
_LARGEST_REPLY: Final = 64 << 20
_PROCESSES: Final = 4
_MOST_SOURCES: Final = 100_000
_TEXTS: Final = 20
_EXAMPLES: Final = 3
_EMPTY: Final = ", ".join(f"'{text}'" for text in sorted(EMPTY))
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")

_Result: TypeAlias = "dict[str, Any]"


class TableQueries:
    """Raises `QueryRefused` for a query that cannot run, `QueryTooHeavy`."""

    def __init__(self, *, processes: int = _PROCESSES) -> None:
        self._slots = asyncio.Semaphore(processes)

    async def run(self, sql: str, tables: Sequence[StoredTable]) -> ComputedAnswer:
        """With the rows that went into the result."""
        query = await asyncio.to_thread(checked, sql, [stored.table for stored in tables])
        stored = {(one.table.document, one.table.id): one for one in tables}
        chosen = [stored[table.document, table.id] for table in query.tables]
        result, *others = await self._results(chosen, _queries(query, chosen))
        if "error" in result:
            raise QueryRefused(f"The query cannot be run: {result['error']}.")
        count = len(query.sources)
        columns, rows = _shown(query, result)
        return ComputedAnswer(
            sql=query.sql,
            columns=columns,
            rows=rows,
            sources=_source_rows(query, others[:count], others[count : 2 * count]),
            warnings=_warnings(query, others[2 * count :], is_cut=bool(result["cut"])),
        )

    async def _results(
        self, tables: Sequence[StoredTable], queries: Sequence[tuple[str, int]]
    ) -> list[_Result]:
        request = json.dumps(_request(tables, queries)).encode("ascii")
        async with self._slots:
            reply = await _answered(request)
        if reply.get("heavy") or not isinstance(reply.get("results"), list):
            raise QueryTooHeavy
        return reply["results"]


async def _answered(request: bytes) -> dict[str, Any]:
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join([_PACKAGE, *(entry for entry in sys.path if entry)])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-X", "utf8", "-m", _MODULE),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        process_group=0,
    )
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise RuntimeError("a process is always started with pipes")
    try:
        async with asyncio.timeout(_START_SECONDS):
            stdin.write(request)
            with suppress(BrokenPipeError, ConnectionResetError):
                await stdin.drain()
            stdin.close()
            begun = await stdout.readline()
        if begun != b"begun\n":
            raise Unavailable("The process that computes over tables does not start; try again in a moment.")
        async with asyncio.timeout(_LONGEST_SECONDS):
            content = await stdout.read(_LARGEST_REPLY)
            while more := await stdout.read(_LARGEST_REPLY):
                content += more
                if len(content) > _LARGEST_REPLY:
                    raise QueryTooHeavy
        return json.loads(content) if content else {"heavy": True}
    except TimeoutError as error:
        raise QueryTooHeavy from error
    finally:
        await process_groups.end(process, seconds=_END_SECONDS)


def _request(tables: Sequence[StoredTable], queries: Sequence[tuple[str, int]]) -> dict[str, object]:
    files = list(dict.fromkeys(str(one.path.resolve()) for one in tables))
    views: list[dict[str, object]] = []
    for one in tables:
        names = [ROW_NUMBER]
        for column in one.table.columns:
            names += dict.fromkeys((column.sql_name, column.text_name))
        view = {"file": files.index(str(one.path.resolve())), "table": one.table.id, "columns": names}
        views.append({**view, "name": one.table.sql_name, "totals": False})
        views.append({**view, "name": one.table.all_name, "totals": True})
    return {
        "files": files,
        "views": views,
        "queries": list(queries),
        "seconds": _SECONDS,
        "memory": _MEMORY,
    }


def _queries(query: CheckedQuery, tables: Sequence[StoredTable]) -> list[tuple[str, int]]:
    layouts = {(one.table.document, one.table.id): one.layout for one in tables}
    queries = [(query.sql, MOST_ROWS)]
    queries += [(f"SELECT DISTINCT * FROM ({source.sql})", _MOST_SOURCES) for source in query.sources]  # noqa: S608 - checked
    for source in query.sources:
        layout = layouts[source.table.document, source.table.id]
        cells = ", ".join(f'"{name}"' if name else "''" for name in layout)
        rows = f'"{ROW_NUMBER}" IN ({source.sql})'
        queries.append((f'SELECT {cells} FROM "{source.table.all_name}" WHERE {rows}', _TEXTS))  # noqa: S608 - checked
    for table, column in _unread(query):
        text = f'"{column.text_name}"'
        unread = f'"{column.sql_name}" IS NULL AND length({text}) > 0 AND lower({text}) NOT IN ({_EMPTY})'
        queries.append((f'SELECT DISTINCT {text} FROM "{table.sql_name}" WHERE {unread}', _EXAMPLES))  # noqa: S608 - our own names
    return queries


def _unread(query: CheckedQuery) -> list[tuple[TypedTable, TypedColumn]]:
    return [(table, column) for table, column in query.used if column.unread]


def _source_rows(
    query: CheckedQuery, places: Sequence[_Result], shown: Sequence[_Result]
) -> tuple[SourceRows, ...]:
    found: dict[tuple[str, str, bool], SourceRows] = {}
    for source, rows, texts in zip(query.sources, places, shown, strict=True):
        table = source.table
        key = table.document, table.id, source.is_inner
        numbers = {int(row[0]) for row in rows.get("rows", ()) if row[0] is not None}
        outer = found.get((table.document, table.id, False)) if source.is_inner else None
        if outer is not None and _covers(outer, numbers, is_known="error" not in rows):
            continue
        known = found.get(key)
        numbers |= set(known.numbers) if known else set()
        is_whole = "error" in rows or (known is not None and known.count > len(known.numbers))
        lines = tuple(tuple(str(cell or "") for cell in row) for row in texts.get("rows", ()))
        found[key] = SourceRows(
            table=table,
            numbers=() if is_whole else tuple(sorted(numbers)),
            count=table.row_count if is_whole else len(numbers),
            texts=known.texts if known else lines,
        )
    return tuple(found.values())


def _covers(outer: SourceRows, numbers: set[int], *, is_known: bool) -> bool:
    is_whole = bool(outer.count) and not outer.numbers
    return is_whole or (is_known and numbers <= set(outer.numbers))


def _shown(
    query: CheckedQuery, result: _Result
) -> tuple[tuple[ResultColumn, ...], tuple[tuple[Value, ...], ...]]:
    names: list[str] = result["columns"]
    rows: list[list[Value]] = result["rows"]
    if len(query.columns) == len(names):
        return query.columns, tuple(map(tuple, rows))
    known = {column.sql_name: column for table in query.tables for column in table.columns}
    kept = [at for at, name in enumerate(names) if name != ROW_NUMBER and not name.endswith(ORIGINAL)]
    columns = tuple(
        ResultColumn(name=known[name].name, unit=known[name].unit)
        if name in known
        else ResultColumn(name=name)
        for name in (names[at] for at in kept)
    )
    return columns, tuple(tuple(row[at] for at in kept) for row in rows)


def _warnings(
    query: CheckedQuery, examples: Sequence[_Result], *, is_cut: bool
) -> tuple[ComputedWarning, ...]:
    warnings = [
        ComputedWarning(
            kind="unread_cells",
            count=column.unread,
            table=table.sql_name,
            column=column.name,
            examples=tuple(str(row[0]) for row in result.get("rows", ())),
        )
        for (table, column), result in zip(_unread(query), examples, strict=True)
    ]
    warnings += [
        ComputedWarning(kind="totals_left_out", count=table.totals, table=table.sql_name)
        for table in query.without_totals
        if table.totals
    ]
    if is_cut:
        warnings.append(ComputedWarning(kind="cut", count=MOST_ROWS))
    return tuple(warnings)
