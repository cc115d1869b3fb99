"""Runs checked queries in a process of its own that can read nothing but the given files.

A JSON object on standard input: {"files": [path], "views": [{"name", "file": index, "table", "columns", "totals"}],
"queries": [[sql, most rows]], "seconds", "memory"}. A line "begun" on standard output, then a JSON object: {"results":
[{"columns", "rows", "cut"} or {"error": sentence}]}, or {"heavy": true}.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import sys
import time
import unicodedata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_engine.parsing import sandbox
from rag_engine.parsing.sandbox import resource_limits

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS: Final = frozenset(
    [
        "abs",
        "avg",
        "cast",
        "ceil",
        "ceiling",
        "coalesce",
        "count",
        "cume_dist",
        "date",
        "datetime",
        "dense_rank",
        "first_value",
        "floor",
        "fold",
        "group_concat",
        "ifnull",
        "iif",
        "instr",
        "julianday",
        "lag",
        "last_value",
        "lead",
        "length",
        "like",
        "lower",
        "ltrim",
        "max",
        "min",
        "nth_value",
        "ntile",
        "nullif",
        "percent_rank",
        "percentile_cont",
        "power",
        "rank",
        "replace",
        "round",
        "row_number",
        "rtrim",
        "sign",
        "sqrt",
        "strftime",
        "substr",
        "substring",
        "sum",
        "time",
        "total",
        "trim",
        "typeof",
        "unixepoch",
        "upper",
    ]
)
"""Each makes no more than it is given, or has the limit of length."""
_LONGEST_VALUE: Final = 1 << 20
_MOST_BYTES: Final = 8 << 20
_HEAP_SHARE: Final = 4
_STEPS: Final = 10_000
"""Of SQLite's machine between looks at the clock."""


class _TooMuch(Exception):
    pass


class _Percentile:
    """As SQLite has it since 3.51."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._share = 0.5

    def step(self, value: object, share: object = 0.5) -> None:
        if isinstance(value, int | float):
            self._values.append(value)
        if isinstance(share, int | float):
            self._share = min(max(float(share), 0.0), 1.0)

    def finalize(self) -> float | None:
        if not self._values:
            return None
        ordered = sorted(self._values)
        place = self._share * (len(ordered) - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        return low + (high - low) * (place - math.floor(place))


def main() -> None:
    request: dict[str, Any] = json.load(sys.stdin)
    database = _opened(request)
    protection = sandbox.enforced()
    resource_limits.limit(seconds=request["seconds"] + 1, memory=request["memory"])
    nowhere = Path(os.devnull)
    sandbox.enter(sandbox.Policy(file=nowhere, folder=nowhere, libraries=()), protection)
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    try:
        reply: dict[str, object] = {"results": _results(database, request)}
    except (_TooMuch, MemoryError):
        resource_limits.last_words()
        reply = {"heavy": True}
    sys.stdout.write(json.dumps(reply))
    sys.stdout.flush()
    # Freeing a large heap takes time.
    os._exit(0)


def _opened(request: dict[str, Any]) -> sqlite3.Connection:
    database = sqlite3.connect("file::memory:", uri=True, isolation_level=None)
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA trusted_schema = OFF")
    # An older library only lacks this limit.
    database.execute(f"PRAGMA hard_heap_limit = {request['memory'] * (_HEAP_SHARE - 1) // _HEAP_SHARE}")
    for at, path in enumerate(request["files"]):
        database.execute(f"ATTACH ? AS d{at}", (f"{Path(path).as_uri()}?mode=ro&immutable=1",))
        database.execute(f"SELECT content FROM d{at}.description").fetchone()  # noqa: S608 - our own name
    for view in request["views"]:
        columns = ", ".join(f'"{column}"' for column in view["columns"])
        chosen = "" if view["totals"] else " WHERE NOT _total"
        database.execute(
            f'CREATE TEMP VIEW "{view["name"]}" AS SELECT {columns} '  # noqa: S608 - names of our own making
            f'FROM d{view["file"]}."{view["table"]}"{chosen}'
        )
    database.create_function("fold", 1, _folded, deterministic=True)
    add_percentile(database)
    _limit(database)
    return database


def add_percentile(database: sqlite3.Connection) -> None:
    """And the median, which the parser writes as one."""
    made: Any = _Percentile
    database.create_aggregate("percentile_cont", 2, made)
    database.create_aggregate("median", 1, made)


def _limit(database: sqlite3.Connection) -> None:
    for limit, most in (
        (sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 20),
        (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 20),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    ):
        database.setlimit(limit, most)


def _results(database: sqlite3.Connection, request: dict[str, Any]) -> list[dict[str, object]]:
    deadline = time.process_time() + request["seconds"]
    database.set_progress_handler(lambda: time.process_time() > deadline, _STEPS)
    readable = {view["name"] for view in request["views"]} | {view["table"] for view in request["views"]}
    database.set_authorizer(_authorizer(readable))
    left = _MOST_BYTES
    results: list[dict[str, object]] = []
    for sql, most in request["queries"]:
        try:
            cursor = database.execute(sql)
            rows: list[list[object]] = []
            for row in islice(cursor, most):
                left -= sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
                if left < 0:
                    raise _TooMuch
                rows.append([None if isinstance(value, bytes) else value for value in row])
            names = [column[0] for column in cursor.description]
            results.append({"columns": names, "rows": rows, "cut": next(cursor, None) is not None})
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            _refuse_heavy(error)
            results.append({"error": str(error)[:300]})
    return results


def _refuse_heavy(error: Exception) -> None:
    code = getattr(error, "sqlite_errorcode", None)
    if code in (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_FULL):
        raise _TooMuch from error


def _authorizer(readable: set[str]) -> Callable[..., int]:
    def allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and (first in readable or not first):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    return allowed


def _folded(text: str | float | bytes | None) -> str | float | bytes | None:
    if not isinstance(text, str):
        return text
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())


if __name__ == "__main__":
    main()
