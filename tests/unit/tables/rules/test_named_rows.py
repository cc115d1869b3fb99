"""The row that a question names, with the words that are not known there."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

LEAGUE = memory_table(
    "walking football.csv",
    ("Team", "P", "GF", "Pts", "Home ground"),
    (("Denby Veterans", 18, 38, 21, "Mill Field"), ("Westgate", 18, 27, 27, "Abbey Park")),
)
STAFF = memory_table(
    "staff.csv",
    ("Emp No", "Name", "Department", "Phone", "Start date"),
    (
        (1043, "Ana Ruiz", "Sales", "0117 496 0539", "2012-04-24"),
        (1057, "Ben Hartley", "Sales", None, "2020-01-06"),
        (1061, "Clara Vogt", "Finance", "0117 496 0111", "2021-03-01"),
    ),
)
CLAIMS = memory_table(
    "claims.csv",
    ("Claim", "Date", "Employee", "Details"),
    (
        ("E-1", "2025-12-03", "Ben Hartley", "Printer toner"),
        ("E-2", "2025-11-04", "Ben Hartley", "Train"),
        ("E-3", "2025-12-09", "Ana Ruiz", "Hotel"),
    ),
)
TENANTS = memory_table(
    "mieter.csv", ("Whg-Nr.", "Mieter", "Einzug"), (("L1", "Lorenz, Petra", "2000-07-15"), ("L2", "Aydin, Selma", "2010-01-01"))
)  # fmt: skip


@pytest.mark.parametrize(
    ("made", "question", "row", "unread"),
    [
        (LEAGUE, "shirt colour Westgate", "Westgate", "shirt colour"),
        (LEAGUE, "where do Denby Veterans play?", "Denby Veterans", "play"),
        (STAFF, "What is the shoe size of Ana Ruiz?", "Ana Ruiz", "shoe size"),
        (STAFF, "how old is Clara Vogt", "Clara Vogt", "how old"),
    ],
)
def test_the_whole_row_is_shown(made: MemoryTable, question: str, row: str, unread: str) -> None:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), written
    (shown,) = made.run(written.sql)
    assert row in shown
    assert len(shown) == len(made.table.columns)
    assert (written.unread, written.most_rows) == (unread, 1)


def test_two_conditions_leave_a_row() -> None:
    written = write("What did Ben Hartley put on expenses in December?", [CLAIMS.table])
    assert isinstance(written, WrittenQuery), written
    assert [row[3] for row in CLAIMS.run(written.sql)] == ["Printer toner"]
    assert written.most_rows > 1


@pytest.mark.parametrize(
    "question",
    [
        "What is the phone number of Clara Wegner?",
        "What is the salary of everybody but Ana Ruiz?",
        "What is the average bonus of Ana Ruiz?",
        "What is the shoe size of people in Sales?",
    ],
)
def test_no_row_is_shown_for_another_name_a_group_or_a_figure(question: str) -> None:
    assert isinstance(write(question, [STAFF.table]), QueryRefusal)


def test_a_name_that_is_turned_in_its_cell_is_found() -> None:
    written = write("Wann ist Petra Lorenz eingezogen?", [TENANTS.table])
    assert isinstance(written, WrittenQuery), written
    assert "2000-07-15" in str(TENANTS.run(written.sql))
