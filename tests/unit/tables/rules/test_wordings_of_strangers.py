"""Identifiers, asides, bounds, worths, default dates and short headers, as strangers wrote them."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

TICKETS = memory_table(
    "tickets.csv",
    ("Ticket", "Opened", "Closed", "Category", "Status", "Time spent (min)"),
    tuple(
        (20_501 + n, f"2025-0{1 + n % 6}-10", None if n % 4 else f"2025-0{2 + n % 6}-11", ("Network", "Software")[n % 2], "Open" if n % 4 else "Closed", 10 * n)
        for n in range(12)
    ),
)  # fmt: skip
STOCK = memory_table(
    "workshop stock.csv",
    ("Item", "Category", "Qty", "Reorder level", "Unit price (£)"),
    (
        ("Angle grinder 115 mm", "Power tools", 2, 5, 80.0),
        ("Hex bolt M8", "Fixings", 900, 500, 0.5),
        ("Cordless drill", "Power tools", 4, 3, 120.0),
    ),
)
FLEET = memory_table(
    "fleet.xlsx",
    ("Reg", "Type", "Depot", "Main driver", "Lease per month (£)", "Peak °C"),
    (("AB1", "Van", "Leeds", "Mike", 318.0, 90), ("AB2", "van", "Leeds", None, 276.0, 80), ("AB3", "Car", "Hull", "Tara", 200.0, 70)),
)  # fmt: skip
SQUAD = memory_table(
    "squad.xlsx",
    ("Name", "Pos", "DOB", "Goals", "Subs paid", "Hrs/week"),
    (("Zara Malik", "DEF", "1993-02-22", 2, True, 37.5), ("Demi Fox", "FWD", "2001-05-09", 9, False, 20), ("Jo Ray", "DEF", "1999-01-01", 0, False, 30)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("made", "question", "rows"),
    [
        (TICKETS, "How many Network tickets were there?", [(6,)]),
        (TICKETS, "When was ticket 20501 closed?", [("20501", "2025-02-11")]),
        (TICKETS, "How many tickets came in in March 2025?", [(2,)]),
        (TICKETS, "How many minutes did we spend on Network tickets altogether?", [(300,)]),
        (TICKETS, "Out of curiosity, how many tickets are closed?", [(3,)]),
        (STOCK, "Which items are below their reorder level?", [("Angle grinder 115 mm", 2, 5)]),
        (STOCK, "What is the stock of power tools worth in total (qty times unit price)?", [(640.0,)]),
        (STOCK, "What is the unit price of the angle grinder?", [("Angle grinder 115 mm", 80.0)]),
        (
            FLEET,
            "Which vehicles have no main driver at the moment? I need the registrations",
            [("AB2", "van")],
        ),
        (FLEET, "What do we pay in lease per month for all the Leeds vehicles together?", [(594.0,)]),
        (FLEET, "How many vehicles per type?", [("Car", 1), ("Van", 2)]),
        (FLEET, "Which vehicle reached the highest peak temperature?", [("AB1", "Van", 90)]),
        (SQUAD, "When is Zara Malik's date of birth?", [("Zara Malik", "1993-02-22")]),
        (SQUAD, "Who is the oldest in the squad?", [("Zara Malik", "1993-02-22")]),
        (SQUAD, "How many people are there per position?", [("DEF", 2), ("FWD", 1)]),
        (SQUAD, "Who hasn't paid their subs yet?", [("Demi Fox", False), ("Jo Ray", False)]),
        (SQUAD, "How many people work 37.5 hours a week?", [(1,)]),
        (SQUAD, "Who works 30 hours a week or less?", [("Demi Fox", 20), ("Jo Ray", 30)]),
    ],
)
def test_what_strangers_asked(made: MemoryTable, question: str, rows: list[tuple[object, ...]]) -> None:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), written
    assert [tuple(row) for row in made.run(written.sql)] == rows
    assert not written.unread


@pytest.mark.parametrize(
    ("made", "question", "rows", "unread"),
    [
        (
            TICKETS,
            "How many problems were there per category?",
            [("Network", 6), ("Software", 6)],
            "problems",
        ),
        (FLEET, "How many contraptions do we have in Leeds?", [(2,)], "contraptions"),
    ],
)
def test_an_unknown_noun_or_verb_is_said(
    made: MemoryTable, question: str, rows: list[tuple[object, ...]], unread: str
) -> None:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), written
    assert [tuple(row) for row in made.run(written.sql)] == rows
    assert written.unread == unread


@pytest.mark.parametrize(
    ("made", "question"),
    [
        (TICKETS, "How many Network tickets were escalated?"),
        (TICKETS, "How many tickets did we get from Portland?"),
        (STOCK, "How much does the fleet of power tools weigh?"),
        (FLEET, "What did we spend on fuel in Leeds?"),
        (SQUAD, "How many assists do the DEF have?"),
    ],
)
def test_a_condition_or_measure_that_is_not_there_is_refused(made: MemoryTable, question: str) -> None:
    assert isinstance(write(question, [made.table]), QueryRefusal)


def test_a_date_that_no_word_names_is_said() -> None:
    written = write("How many tickets came in in March 2025?", [TICKETS.table])
    assert isinstance(written, WrittenQuery), written
    assert written.notes == ("Dates are taken from “Opened”.",)
