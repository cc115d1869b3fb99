from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import Cell, MemoryTable, memory_table

TICKETS = memory_table(
    "helpdesk.csv",
    ("Ticket", "Priority", "Team", "Assignee", "Minutes spent"),
    (
        ("T-1", "high", "Network", "Hanna Vogt", 10),
        ("T-2", "low", "Desktop", "Ikram Saleh", 30),
        ("T-3", "high", "Desktop", "Hanna Vogt", 25),
    ),
)
EXPENSES = memory_table(
    "team expenses.csv",
    ("Employee", "Category", "Amount (EUR)"),
    (("Ada", "Hotel", 60), ("Ada", "Taxi", 50), ("Ben", "Hotel", 90), ("Ben", "Taxi", 5)),
)
FRAIS = memory_table(
    "notes de frais.csv",
    ("Employé", "Catégorie", "Montant (€)"),
    (("Chloé Weber", "Hôtel", 560), ("Damien Faure", "Repas", 89), ("Chloé Weber", "Repas", 311)),
)
SPENDEN = memory_table(
    "spenden.csv",
    ("Spender", "Zweck", "Betrag in €"),
    (("Lang", "Halle", 30), ("Ott", "Platz", 60), ("Lang", "Platz", 10)),
)
AUTOS = memory_table(
    "fuhrpark.csv",
    ("Kennzeichen", "Baujahr", "Kraftstoff", "Kilometerstand"),
    (("U-1", 2014, "Diesel", 84_000), ("U-2", 2019, "Diesel", 120_000), ("U-3", 2022, "Benzin", 9_000)),
    caption="Autos",
)
ORDERS = memory_table("orders.csv", ("Order", "Total (EUR)"), (("A1", 60), ("A2", 30), ("A3", 5)))
STOCK = memory_table("库存.csv", ("品名", "库存", "单价（元）"), (("路由器", 205, 498.5), ("网线", 9, 3)))
PISOS = memory_table("alquileres.csv", ("Piso", "Superficie (m²)"), (("Piso 1", 40), ("Piso 2", 136)))
GYM = memory_table("gym.csv", ("Member", "Monthly fee (£)"), (("Abel", 59.5), ("Dora", 65.5)))
SHIFTS = memory_table(
    "考勤.csv", ("姓名", "部门", "迟到次数"), (("陈静", "研发部", 1), ("李强", "市场部", 5))
)


def answered(table: MemoryTable, question: str) -> list[tuple[Cell, ...]]:
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    return table.run(written.sql)


@pytest.mark.parametrize(
    ("table", "question", "rows"),
    [
        (TICKETS, "how many high prio tickets pls", [(2,)]),
        (TICKETS, "tickets per team", [("Desktop", 2), ("Network", 1)]),
        (TICKETS, "who had T-2", [("T-2", "Ikram Saleh")]),
        (EXPENSES, "who has the highest expenses", [("Ada", 110)]),
        (EXPENSES, "top 2 biggest expenses", [("Ada", 60), ("Ben", 90)]),
        (EXPENSES, "what share of the expenses is hotels", [(73.17, 150, 205)]),
        (ORDERS, "orders that exceed 55 euros, how many?", [(1,)]),
        (SPENDEN, "welcher anteil der spenden ging an platz", [(70.0, 70, 100)]),
        (ORDERS, "wie viele orders übersteigen 20 euro", [(2,)]),
        (AUTOS, "wie viele diesel gibt es", [(2,)]),
        (AUTOS, "welches auto hat die meisten km", [("U-2", 120_000)]),
        (FRAIS, "combien a dépensé Chloé en hôtels", [(560,)]),
        (FRAIS, "total des frais par catégorie", [("Hôtel", 560), ("Repas", 400)]),
        (FRAIS, "combien de notes dépassent 300 euros", [(2,)]),
        (FRAIS, "quel employé a dépensé le plus", [("Chloé Weber", 871)]),
        (STOCK, "路由器多少钱", [("路由器", 498.5)]),
        (PISOS, "el piso más grande", [("Piso 2", 136)]),
        (SHIFTS, "迟到超过3次的有几个人", [(1,)]),
    ],
)
def test_words_of_people_in_a_hurry_are_read(
    table: MemoryTable, question: str, rows: list[tuple[Cell, ...]]
) -> None:
    found = answered(table, question)

    assert sorted(map(str, found)) == sorted(map(str, rows))


def test_older_than_a_year_is_built_before() -> None:
    assert [row[0] for row in answered(AUTOS, "autos älter als 2018")] == ["U-1"]


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (EXPENSES, "what did Oskar spend on taxis"),
        (FRAIS, "frais de taxi de Damien"),
    ],
)
def test_what_no_column_holds_is_refused(table: MemoryTable, question: str) -> None:
    assert isinstance(write(question, [table.table]), QueryRefusal)


OTHER_LEAVE = memory_table(
    "Other leave",
    ("Reason", "Days, paid", "Who approves"),
    (
        ("Moving house", "1 a year", "team lead"),
        ("Wedding", "2", "team lead"),
        ("Death of a relative", "4", "nobody"),
        ("Volunteering", "2 a year", "team lead"),
        ("Birth or adoption", "18 weeks", "Office"),
    ),
)


@pytest.mark.parametrize(
    "question", ["How many days of leave?", "how many days leave", "How many days are there?"]
)
def test_days_that_are_written_as_text_are_not_counted_by_the_rows(question: str) -> None:
    assert isinstance(write(question, [OTHER_LEAVE.table]), QueryRefusal)
