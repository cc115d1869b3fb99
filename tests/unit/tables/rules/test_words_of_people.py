"""Adjectives, verbs, units, places in a ranking and other ways to ask that are not the words of a header."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import Cell, MemoryTable, memory_table

LOANS = memory_table(
    "loans.csv",
    ("Borrower", "Branch", "Amount (k USD)", "Granted", "Status", "Guarantor"),
    (
        ("Akron", "North", 500, "2024-01-05", "paid", "Ida"),
        ("Bell", "South", 1500, "2024-04-20", "open", None),
        ("Cole", "North", 80, "2024-05-01", "paid", None),
        ("Dunn", "South", 900, "2024-11-30", "open", "Max"),
    ),
)
VISITS = memory_table(
    "visits.csv",
    ("Visitor", "Doctor", "Duration (min)", "Fee (EUR)"),
    (("P1", "Abel", 30, 100), ("P2", "Abel", 90, 40), ("P3", "Osei", 60, 310), ("P4", "Osei", 65, 20)),
)
COSTS = memory_table(
    "office costs.csv", ("Category", "Jan", "Feb", "Mar"), (("Rent", 10, 20, 40), ("Post", 1, 2, 3))
)
COMPLAINTS = memory_table(
    "complaints.csv",
    ("Complaint", "Customer", "Refund"),
    (("C1", "Novak", 0), ("C2", "Novak", 5), ("C3", "Otis", 90)),
)
INCIDENTS = memory_table(
    "incidents.csv",
    ("Ticket", "Opened", "Owner", "Status"),
    (
        ("I1", "2025-01-10", "Omar", "open"),
        ("I2", "2025-03-02", "Omar", "closed"),
        ("I3", "2025-04-01", "Fiona", "open"),
    ),
)
KURSE = memory_table(
    "kurse.csv",
    ("Kurs", "Dozent", "Teilnehmer", "Gebühr (€)", "Wohnfläche (m²)", "Warteliste"),
    (
        ("Yoga", "Dorn", 12, 90, 40, True),
        ("Schach", "Berg", 25, 200, 30, False),
        ("Nähen", "Dorn", 8, 350, 90, False),
    ),
)
ENTREGAS = memory_table(
    "entregas.csv",
    ("Proveedor", "Producto", "Fecha", "Cantidad (kg)", "Importe (€)"),
    (
        ("Norte", "pan", "2025-01-10", 20, 90),
        ("Sur", "pan", "2025-03-02", 5, 300),
        ("Sur", "queso", "2025-04-01", 50, 250),
    ),
)
设备 = memory_table(
    "设备.csv",
    ("设备名称", "部门", "价格（元）"),
    (("打印机", "研发部", 9000), ("服务器", "市场部", 31_000), ("空调", "研发部", 12_000)),
)


@pytest.mark.parametrize(
    ("made", "question", "shown"),
    [
        (LOANS, "Who borrowed the most?", ("Bell", 1500)),
        (LOANS, "Which borrower has the second highest amount?", ("Dunn", 900)),
        (LOANS, "What is the median amount of the loans?", (700,)),
        (LOANS, "How many loans are larger than 0.6 million USD?", (2,)),
        (LOANS, "How many loans have an amount over 600,000 USD?", (2,)),
        (LOANS, "How many loans were paid?", (2,)),
        (LOANS, "How many loans have been granted since April?", (3,)),
        (LOANS, "How many loans outside the North branch are open?", (2,)),
        (LOANS, "Are there any loans with an amount above 800?", ("Bell", 2)),
        (LOANS, "What is the ratio of the amount of Dunn to Bell?", (900, 1500, 0.6)),
        (VISITS, "How many visits took longer than an hour?", (2,)),
        (VISITS, "How many visits were longer than 1.25 hours?", (1,)),
        (VISITS, "Which doctor had the longest visits on average?", ("Osei", 62.5)),
        (VISITS, "Which visitor had the cheapest visit?", ("P4", 20)),
        (VISITS, "How long was the visit of P3?", ("P3", 60)),
        (COSTS, "By how much did the rent change from January to March?", (40, 10, 30)),
        (COSTS, "Which category was the most expensive in February?", ("Rent", 20)),
        (COMPLAINTS, "Which customer complained the most?", ("Novak", 2)),
        (COMPLAINTS, "Which customer complained most often?", ("Novak", 2)),
        (KURSE, "Welcher Kurs ist am teuersten?", ("Nähen", 350)),
        (KURSE, "Wie viele Kurse kosten mehr als 100 Euro?", (2,)),
        (KURSE, "Wie viele Kurse leitet Dorn?", (2,)),
        (KURSE, "Welcher ist der zweitteuerste Kurs?", ("Schach", 200)),
        (KURSE, "Welcher Kurs ist am besten besucht?", ("Schach", 25)),
        (KURSE, "Wie groß ist die Fläche von Yoga?", (40,)),
        (ENTREGAS, "¿Cuántos kilos de pan se entregaron?", (25,)),
        (ENTREGAS, "¿Cuánto pan se entregó?", (25,)),
        (ENTREGAS, "¿Cuántas entregas hubo desde marzo de 2025?", (2,)),
        (ENTREGAS, "¿Cuántas entregas superaron los 200 euros?", (2,)),
        (ENTREGAS, "¿Qué proveedor ha entregado más kilos?", ("Sur", 55)),
        (设备, "第二贵的设备是什么？", ("空调", 12_000)),
        (设备, "价格超过一万元的设备有几台？", (2,)),
        (设备, "各部门分别有多少台设备？", ("市场部", 1)),
        (设备, "各部门各有多少台设备？", ("市场部", 1)),
        (设备, "服务器比打印机贵多少？", (31_000, 9000, 22_000)),
        (INCIDENTS, "How many incidents are open?", (2,)),
        (INCIDENTS, "How many open incidents does Omar own?", (1,)),
    ],
)
def test_what_people_say_is_understood(made: MemoryTable, question: str, shown: tuple[Cell, ...]) -> None:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), written
    row = made.run(written.sql)[0]
    assert all(value in row for value in shown), row


@pytest.mark.parametrize(
    ("made", "question"),
    [
        (LOANS, "How many loans were cancelled by Akron?"),
        (LOANS, "How many loans were paid back?"),
        (LOANS, "Which publisher granted the most loans?"),
        (LOANS, "How many guarantees did Ida sign?"),
        (LOANS, "How many loans have an amount over 600,000 euros?"),
        (VISITS, "Which doctor earned the most in fees?"),
        (VISITS, "How many visits were longer than 3 kg?"),
        (VISITS, "Which doctor has the second best rating?"),
        (COMPLAINTS, "What is the fifth complaint?"),
        (KURSE, "Wie viele Kurse wurden abgesagt?"),
        (KURSE, "Welcher Kurs ist am schwersten?"),
        (ENTREGAS, "¿Cuántas botellas se entregaron?"),
        (设备, "设备的保修期最长的是哪台？"),
    ],
)
def test_what_is_not_understood_is_no_figure(made: MemoryTable, question: str) -> None:
    written = write(question, [made.table])
    assert isinstance(written, QueryRefusal), written
