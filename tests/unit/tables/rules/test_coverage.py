"""Words of a question without a part in the result are no number; each case here once gave a wrong one."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

MARKS = memory_table(
    "noten 8b.xlsx", ("Schüler/in", "Mathe", "Englisch"), (("Tim", 2.0, 4.7), ("Elif", 3.3, 1.3))
)
BOOKED = memory_table(
    "reservas de salas.xlsx",
    ("Fecha", "Sala", "Departamento", "Coste"),
    (
        ("2025-03-03", "Ebro", "Ventas", 9),
        ("2025-03-04", "Duero", "Ventas", 8),
        ("2025-03-05", "Ebro", "IT", 90),
    ),
)
STAGES = memory_table(
    "stages.csv", ("Stage", "Means", "Distance"), (("A", "bike", 30), ("B", "bike", 40), ("C", "foot", 9))
)
CLASSES = memory_table(
    "evening classes.md",
    ("Course", "Teacher", "Participants", "Fee (€)"),
    (("Pottery", "Ida Holm", 8, 56), ("Yoga", "Rosa Lind", 14, 45), ("Choir", "Ida Holm", 30, 20)),
)
GIFTS = memory_table(
    "donations.xlsx",
    ("Donor", "Amount (GBP)", "Gift Aid", "Date"),
    (
        ("Dr Sen", 700, True, "2025-01-04"),
        ("Rotary Club", 900, False, "2025-02-01"),
        ("Dr Sen", 300, True, "2025-02-09"),
    ),
)
ORDERS = memory_table(
    "orders.csv",
    ("PO", "Item", "Quantity", "Net", "VAT", "Ordered on", "Due"),
    (
        ("O1", "Chairs", 4, 120, 20, "2025-01-03", "2025-03-09"),
        ("O2", "Desks", 2000, 900, 20, "2025-02-05", "2025-02-20"),
        ("O3", "Chairs", 9, 300, 5, "2025-02-07", "2025-04-01"),
    ),
    units={"Net": "£", "VAT": "%"},
)
HOURS = memory_table(
    "project hours.csv",
    ("Project", "Task", "Hours"),
    (("Alder", "Paint", 5), ("Birch", "Drill", 9), ("Alder", "Drill", 7)),
)
FLEET = memory_table(
    "fleet.xlsx",
    ("Driver", "Fuel", "Yearly cost (€)"),
    (("Lena Ruiz", "diesel", 500), ("Omar Aziz", "diesel", 900), ("Lena Ruiz", "petrol", 700)),
)
RACE = memory_table("race.md", ("Runner", "Points"), (("Lena Ruiz", 5), ("Omar Aziz", 9)))
TRAINING = memory_table(
    "training log.csv",
    ("Name", "Course", "Hours"),
    (("Lena Ruiz", "First aid", 8), ("Omar Aziz", "First aid", 4), ("Omar Aziz", "Excel", 5)),
)
OFFICES = memory_table(
    "offices.xlsx",
    ("Office", "City", "Desks", "Rent per month (CHF)"),
    (("North", "Bern", 9, 2000), ("South", "Chur", 4, 700), ("Attic", "Bern", 2, 300)),
)
REGISTRATIONS = memory_table(
    "registrations.csv",
    ("No", "Company", "Country", "Paid", "Registered"),
    (
        ("R1", "Valle GIS", "India", 30, "2025-01-03"),
        ("R2", "Valle GIS", "India", 20, "2025-02-03"),
        ("R3", "Fieldnote", "Spain", 90, "2025-03-03"),
    ),
    units={"Paid": "$"},
)
STAFF = memory_table(
    "volunteers.md",
    ("Name", "Joined", "Hours 2024", "Hours 2025", "Remote work"),
    (("Lena Ruiz", "2022-06-20", 145, 131, True), ("Omar Aziz", "2019-01-09", 20, 60, False)),
)
CONTRACTS = memory_table(
    "合同.xlsx", ("合同", "合同金额（元）", "签订日期"), (("A", 100, "2025-01-05"), ("B", 200, "2025-02-05"))
)
SPENDING = memory_table(
    "facturas.csv", ("Factura", "Importe (€)", "Fecha"), (("F1", 10, "2025-01-07"), ("F2", 20, "2025-01-09"))
)


@pytest.mark.parametrize(
    ("question", "table", "missing", "name"),
    [
        ("list the gifts of 500 pounds or more", GIFTS, "unclear", ""),
        ("which category has the most hours", HOURS, "column", "category"),
        ("who has the most hours", HOURS, "unclear", "who has the most hours"),
        ("total quantity of office chairs", ORDERS, "column", "office"),
        ("how many orders have a quantity of more than 1000 euros", ORDERS, "unit", "€"),
        ("which driver burned the most diesel", FLEET, "choice", ""),
        ("Durchschnittlicher Betrag für Bewirtung", RACE, "question", ""),
        ("which company has registered the most people", REGISTRATIONS, "choice", ""),
        ("hours Lena Ruiz volunteered in 2022", STAFF, "period", "2022"),
    ],
)
def test_it_is_refused_with_the_word(question: str, table: MemoryTable, missing: str, name: str) -> None:
    refusal = write(question, [table.table])
    assert isinstance(refusal, QueryRefusal), refusal.sql
    if name:
        assert (refusal.missing, refusal.name) == (missing, name)


@pytest.mark.parametrize(
    ("question", "table", "rows"),
    [
        ("how much is the pottery class", CLASSES, [("Pottery", 56)]),
        ("who made the single biggest donation", GIFTS, [("Rotary Club", 900)]),
        ("the 2 most expensive orders", ORDERS, [("O2", 900), ("O3", 300)]),
        ("monthly rent for all offices together", OFFICES, [(3000,)]),
        ("registrations per country", REGISTRATIONS, [("India", 2, 50), ("Spain", 1, 90)]),
        ("what is due first", ORDERS, [("O2", "2025-02-20")]),
        ("how many remote volunteers", STAFF, [(1,)]),
        ("who has done the most hours of training", TRAINING, [("Omar Aziz", 9)]),
        ("who has the most hours in 2025", STAFF, [("Lena Ruiz", 131)]),
    ],
)
def test_it_is_computed(question: str, table: MemoryTable, rows: list[tuple[object, ...]]) -> None:
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    assert table.run(written.sql) == rows


def test_what_was_ordered_is_shown_with_its_sum() -> None:
    written = write("what have we ordered of Chairs so far, net?", [ORDERS.table])
    assert isinstance(written, WrittenQuery), written
    assert {row[-1] for row in ORDERS.run(written.sql)} == {420}


def test_a_number_in_words_is_no_slip() -> None:
    """ "Three" is no "there"."""
    written = write("what three orders have the highest net", [ORDERS.table])
    assert isinstance(written, WrittenQuery), written
    assert len(ORDERS.run(written.sql)) == 3


def test_of_tables_that_fit_equally_a_looser_reading_picks_none() -> None:
    other = memory_table(
        "spenden.csv", ("Spende", "Betrag (€)", "Datum"), (("S1", 30, "2025-01-08"), ("S2", 40, "2025-01-09"))
    )
    refusal = write("how much did we spend in january 2025", [CONTRACTS.table, SPENDING.table, other.table])
    assert isinstance(refusal, QueryRefusal), refusal.sql
    assert refusal.missing == "choice"


def test_a_table_is_not_chosen_for_a_column_called_total() -> None:
    bookings = memory_table(
        "hotel bookings.xlsx",
        ("Guest", "Check-in", "Total (EUR)"),
        (("Ada", "2025-02-03", 90), ("Ben", "2025-02-09", 70)),
    )
    repairs = memory_table(
        "repairs.csv", ("Device", "Day", "Cost (€)"), (("Bike", "2025-02-01", 30), ("Saw", "2025-02-20", 40))
    )
    refusal = write("total billed in february", [bookings.table, repairs.table])
    assert isinstance(refusal, QueryRefusal), refusal.sql
    assert refusal.missing == "choice"


def test_half_a_header_is_not_enough_where_another_table_fits_but_for_one_word() -> None:
    averages = memory_table(
        "world.xlsx",
        ("Big city average location", "Total city population in 12 random cities"),
        ((1, 90), (2, 80)),
    )
    cities = memory_table("cities.xlsx", ("City", "Population"), (("Rome", 5), ("Oslo", 3)))
    refusal = write("add up the population of all big cities", [averages.table, cities.table])
    assert isinstance(refusal, QueryRefusal), refusal.sql
    assert (refusal.missing, refusal.name) == ("column", "big")


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("Wer hat die beste Note in Englisch?", MARKS),
        ("qué departamento ha gastado más en salas", BOOKED),
    ],
)
def test_the_best_mark_and_money_that_is_counted_are_no_answers(question: str, table: MemoryTable) -> None:
    refusal = write(question, [table.table])
    assert isinstance(refusal, QueryRefusal), refusal.sql


def test_what_is_to_be_added_up_is_not_listed() -> None:
    written = write("the distance of all stages by bike, added up", [STAGES.table])
    assert isinstance(written, WrittenQuery)
    assert STAGES.run(written.sql) == [(70,)]


def test_times_are_no_time() -> None:
    tickets = memory_table("tickets.csv", ("Ticket", "Times reopened"), (("#1", 2), ("#2", 0)))
    assert isinstance(write("which ticket took the most time?", [tickets.table]), QueryRefusal)
