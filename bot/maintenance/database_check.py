"""Whether a database that others may have made is sound, and one of Footnote's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from rag_engine.storage.sqlite.migrations import objects, objects_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable
    from pathlib import Path

_INSTRUCTIONS_PER_CHECK = 1_000_000


def fault(path: Path, *, schema: int, scripts: Traversable | None, check: Callable[[], None]) -> str:
    """What is wrong with it, or nothing. `check` may raise to stop."""
    stopped: list[Exception] = []

    def goes_on() -> bool:
        try:
            check()
        except Exception as error:  # noqa: BLE001 - it is raised below
            stopped.append(error)
        return bool(stopped)

    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.set_progress_handler(goes_on, _INSTRUCTIONS_PER_CHECK)
            return _fault(connection, path.name, schema=schema, scripts=scripts)
    except sqlite3.Error as error:
        if stopped:
            raise stopped[0] from error
        return f"{path.name} is no sound database"


def _fault(connection: sqlite3.Connection, name: str, *, schema: int, scripts: Traversable | None) -> str:
    if connection.execute("PRAGMA user_version").fetchone()[0] != schema:
        return f"{name} does not have the schema given in manifest.json"
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        return f"{name} is no sound database"
    if scripts is None:
        return ""
    needed, found = objects(scripts, schema), objects_of(connection)
    # Triggers run whenever we write.
    foreign = {one for one in found - needed if one[0] in ("trigger", "view")}
    return f"{name} is another program's database" if needed - found or foreign else ""
