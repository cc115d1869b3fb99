"""Questions over two tables that share a key, and those that no join answers surely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.tables.answers.computation import refusal_text
from rag_engine.tables.execution import TableQueries
from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.computed.made_files import write_csv
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rag_engine.tables.table_file import StoredTable

HOURS = [
    ("Name", "Project", "Hours"),
    ("Ana", "Atlas", 4),
    ("Ben", "Atlas", 6),
    ("Ana", "Comet", 3),
    ("Cleo", "Comet", 8),
    ("Ana", "Atlas", 1),
]
PEOPLE = [
    ("Name", "Office", "Salary"),
    ("Ana", "Berlin", 5000),
    ("Ben", "Lisbon", 4000),
    ("Cleo", "Berlin", 6000),
    ("Dov", "Lisbon", 7000),
]


async def _tables(folder: Path, **files: Sequence[Sequence[object]]) -> list[StoredTable]:
    paths = [folder / f"{name}.csv" for name in sorted(files)]
    for path in paths:
        write_csv(path, files[path.stem])
    _, stored = await stored_tables(folder / "tables", paths)
    return stored


@pytest.mark.process
@pytest.mark.parametrize(
    ("question", "rows", "cited"),
    [
        ("Total hours of people in the Berlin office", [(16,)], {"hours.csv": (2, 4, 5, 6), "people.csv": (2, 4)}),
        ("Hours per office", [("Berlin", 16), ("Lisbon", 6)], {"hours.csv": 5, "people.csv": 3}),
        ("Which office has the most hours?", [("Berlin", 16)], {"hours.csv": 5, "people.csv": 3}),
        ("Average hours on Atlas in the Lisbon office", [(6,)], {"hours.csv": (3,), "people.csv": (3,)}),
        ("Gesamte Stunden je Büro", [("Berlin", 16), ("Lisbon", 6)], {"hours.csv": 5, "people.csv": 3}),
    ],
)  # fmt: skip
async def test_two_tables_are_joined_by_their_key(
    question: str, rows: list[tuple[object, ...]], cited: dict[str, object], tmp_path: Path
) -> None:
    stored = await _tables(tmp_path, hours=HOURS, people=PEOPLE)
    written = write(question, [one.table for one in stored])
    assert isinstance(written, WrittenQuery), written
    assert "hours.csv" in written.notes[0]
    assert "people.csv" in written.notes[0]
    answer = await TableQueries().run(written.sql, stored)
    assert list(answer.rows) == rows
    for source in answer.sources:
        expected = cited[source.table.title]
        if isinstance(expected, tuple) and not source.table.title.startswith("people"):
            assert source.numbers == expected
        assert source.count in (expected, len(expected) if isinstance(expected, tuple) else expected)


@pytest.mark.process
@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("Total salary on Atlas", {"hours": HOURS, "people": PEOPLE}),
        ("Average salary per project", {"hours": HOURS, "people": PEOPLE}),
        ("Total hours of people in the Berlin office", {"hours": HOURS, "people": PEOPLE[:-2]}),
        (
            "Total hours of people in the Berlin office",
            {"hours": HOURS, "people": [*PEOPLE, ("Ana", "Lisbon", 1)]},
        ),
        (
            "Total hours in the Berlin office",
            {
                "hours": [("Author", "Reviewer", "Hours"), ("Ana", "Ben", 3), ("Ben", "Ana", 4)],
                "people": PEOPLE,
            },
        ),
    ],
    ids=["counted twice", "counted twice in groups", "unknown people", "two rows of one key", "two keys"],
)
async def test_what_no_join_answers_surely_is_refused(
    question: str, files: dict[str, Sequence[Sequence[object]]], tmp_path: Path
) -> None:
    stored = await _tables(tmp_path, **files)
    assert isinstance(write(question, [one.table for one in stored]), QueryRefusal)


@pytest.mark.process
async def test_a_key_without_partner_is_said(tmp_path: Path) -> None:
    stored = await _tables(tmp_path, hours=[*HOURS, ("Rex", "Atlas", 5)], people=PEOPLE)
    refusal = write("Hours per office", [one.table for one in stored])
    assert isinstance(refusal, QueryRefusal)
    assert (refusal.missing, refusal.name, refusal.available) == (
        "partner",
        "Rex",
        ("hours.csv", "people.csv"),
    )
    assert "“Rex” of the first has no row in the second" in refusal_text(refusal, "en")
