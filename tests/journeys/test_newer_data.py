"""What a newer Footnote wrote is not touched by this one: one sentence, and the exit code that service managers do not restart on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote


REFUSED = {
    "footnote.sqlite": "belongs to a newer Footnote (schema 7000, this one knows",
    "chat.sqlite": "belongs to a newer Footnote (schema 7000, this one knows",
    "index.sqlite": "was written by a newer version of Footnote (schema 7000, known: 2)",
}


async def test_it_is_refused_in_one_sentence_and_only_the_cache_is_rebuilt(
    footnote: Footnote, tmp_path: Path
) -> None:
    (tmp_path / "leave.md").write_text("The leave is 28 days.\n", encoding="utf-8")
    assert (await footnote("add", "leave.md")).code == 0
    assert (await footnote("chat", stdin="How many days is the leave?\n")).code == 0
    for name, sentence in REFUSED.items():
        path = tmp_path / "data" / name
        known = schema(path, 7000)
        before = path.read_bytes()
        refused = await footnote("chat", stdin="How many days is the leave?\n")
        assert refused.code == 78
        assert sentence in refused.err
        assert refused.err.count("\n") == 1, refused.err
        assert path.read_bytes() == before
        schema(path, known)
    schema(tmp_path / "data" / "vectors.sqlite", 7000)
    answer = await footnote("ask", "How many days is the leave?")
    assert "28 days" in answer.out
    assert "the vector cache is created again" in answer.err


def schema(path: Path, number: int) -> int:
    """Set the schema that the file says it has; returns the one before."""
    with closing(sqlite3.connect(path)) as database:
        before = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute(f"PRAGMA user_version = {number}")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return int(before)
