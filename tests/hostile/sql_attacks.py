"""Hostile SQL texts by family, and a run of all of them: `python -m tests.hostile.sql_attacks FOLDER EVERY [FAMILY …]` prints one JSON object
per text, of every so many.

In scope is the table `spending`. Out of scope, with the text `CANARY` in it: another document's table, a database, a text file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import resource
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.errors import QueryRefused, QueryTooHeavy
from rag_engine.tables.execution import TableQueries
from tests.hostile import sql_hard_to_run, sql_out_of_scope
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.tables.table_file import StoredTable

CANARY = "canary-7f3a91"


def attacks(places: Mapping[str, str]) -> dict[str, list[str]]:
    """By family. `places`: paths of what is out of scope: `table`, `database`, `text`, `folder`; `own`: the file of `spending`."""
    return {
        "write": sql_out_of_scope.writes(),
        "schema": sql_out_of_scope.schema_changes(),
        "attach": sql_out_of_scope.attachments(places),
        "pragma": sql_out_of_scope.pragmas(),
        "extension": sql_out_of_scope.extensions(places),
        "file": sql_out_of_scope.files(places),
        "catalog": sql_out_of_scope.catalogs(),
        "foreign": sql_out_of_scope.foreign(places),
        "several": sql_hard_to_run.several(),
        "unicode": sql_hard_to_run.unicode(),
        "recursive": sql_hard_to_run.recursive(),
        "join": sql_hard_to_run.joins(),
        "bomb": sql_hard_to_run.bombs(),
        "pattern": sql_hard_to_run.patterns(),
        "nesting": sql_hard_to_run.nesting(),
        "long": sql_hard_to_run.long(),
        "syntax": sql_hard_to_run.syntax(),
    }


def prepared(folder: Path) -> tuple[Path, dict[str, str]]:
    """A file with the table in scope, and what is out of scope."""
    own, foreign = folder / "spending.csv", folder / "salaries.csv"
    source = random.Random(3)
    lines = [
        f"{source.choice(('Field', 'Office', 'IT'))},{source.randrange(1, 9999)},{'banana ' * 6}{number}"
        for number in range(2_000)
    ]
    own.write_text("\n".join(["department,amount,note", *lines]))
    foreign.write_text(f"person,pay,note\nAda,{9},{CANARY}\nBen,{8},{CANARY}\n")
    database = sqlite3.connect(folder / "secrets.sqlite")
    database.execute("CREATE TABLE secrets(content)")
    database.execute("INSERT INTO secrets VALUES (?)", (CANARY,))
    database.commit()
    database.close()
    (folder / "secret.txt").write_text(CANARY)
    return own, {
        "database": str(folder / "secrets.sqlite"),
        "text": str(folder / "secret.txt"),
        "folder": str(folder),
    }


async def run(folder: Path, every: int, families: Sequence[str]) -> None:
    """Prints a line for each text, then whether all files are as before."""
    own, places = prepared(folder)
    _, tables = await stored_tables(folder / "tables", [own])
    _, foreign = await stored_tables(folder / "foreign", [folder / "salaries.csv"])
    places |= {"table": str(foreign[0].path), "own": str(tables[0].path)}
    control = await TableQueries().run("SELECT note FROM salaries", foreign)
    before = _digests(folder)
    for family, texts in attacks(places).items():
        for number, text in enumerate(texts if family in families or not families else ()):
            if number % every == 0:
                print(
                    json.dumps({"attack": f"{family} {number}", **await _attacked(text, tables)}), flush=True
                )
    print(json.dumps({"unchanged": _digests(folder) == before, "control": _leaks(repr(control.rows))}))


def _own_peak() -> int:
    """In KB. `getrusage` counts what the process that started this one held before."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


async def _attacked(text: str, tables: Sequence[StoredTable]) -> dict[str, object]:
    before, worked = _children(), time.process_time()
    try:
        answer = await TableQueries().run(text, tables)
        outcome, shown = "answered", repr((answer.rows, answer.sources, answer.columns))
    except (QueryRefused, QueryTooHeavy) as error:
        outcome, shown = type(error).__name__, str(error)
    except Exception as error:  # noqa: BLE001 - reported as a failure
        outcome, shown = f"crash: {type(error).__name__}", str(error)
    return {
        "sql": text[:120],
        "outcome": outcome,
        "seconds": round(_children() - before + time.process_time() - worked, 2),
        "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "own megabytes": _own_peak() // 1024,
        "leaks": _leaks(shown),
    }


def _leaks(shown: str) -> bool:
    return CANARY in shown.lower() or CANARY.encode().hex() in shown


def _digests(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
