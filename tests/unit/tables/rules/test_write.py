"""Questions over one table become the right SELECT, or a refusal that names what is missing."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
ORDERS = memory_table(
    "orders.csv",
    (
        "Order ID",
        "Order Date",
        "Customer",
        "City",
        "Product",
        "Quantity",
        "Amount",
        "Status",
        "Paid",
        "Ship date",
    ),
    (
        (1001, "2024-01-10", "ACME Corp", "Berlin", "Keyboard", 2, 100, "open", True, None),
        (1002, "2024-03-05", "Field", "Munich", "Mouse", 5, 250, "shipped", False, "2024-03-09"),
        (1003, "2024-03-20", "North", "Berlin", "Monitor", 1, 900, "cancelled", False, None),
        (1004, "2025-03-02", "North-East", "Paris", "Mouse", 3, 75.5, "shipped", True, "2025-03-03"),
        (1005, "2025-03-28", "ACME Corp", "Berlin", "Monitor", 4, 1600, "open", True, None),
        (1006, "2025-07-01", "Field", "Paris", "Keyboard", 7, 350, "shipped", True, "2025-08-01"),
    ),
    units={"Amount": "€"},
)
STAFF = memory_table(
    "employees.xlsx",
    ("Name", "Department", "City", "Salary", "Start date", "Age"),
    (
        ("Anna Schmidt", "Sales", "Berlin", 5200, "2019-03-01", 34),
        ("Ben Okafor", "Sales", "Munich", 4800, "2021-07-15", 29),
        ("Carla Ruiz", "IT", "Berlin", 6100, "2018-01-10", 45),
        ("Dev Patel", "IT", "Paris", 5900, "2022-09-01", 31),
        ("Eva Lind", "HR", "Berlin", 4500, "2020-05-20", 52),
    ),
    caption="Staff",
    units={"Salary": "€"},
)
BUDGET = memory_table(
    "budget.xlsx",
    ("Department", "Item", *_MONTHS),
    (
        ("Field", "Travel", *range(100, 112)),
        ("Field", "Software", *range(200, 212)),
        ("Office", "Travel", *range(300, 312)),
    ),
    caption="Budget 2025",
)
TURNOVER = memory_table(
    "umsatz filialen.csv",
    ("Filiale", "Umsatz 2022", "Umsatz 2023", "Umsatz 2024"),
    (("Berlin Mitte", 1000, 1100, 1300), ("Köln Deutz", 2000, 2500, 900), ("Leipzig", 500, 600, 750)),
)
VENTAS = memory_table(
    "ventas.csv",
    ("Fecha", "Ciudad", "Producto", "Importe", "Unidades"),
    (
        ("2025-01-10", "Madrid", "mesa", 100, 1),
        ("2025-03-10", "Sevilla", "silla", 240, 4),
        ("2025-03-12", "Madrid", "silla", 60, 2),
    ),
    units={"Importe": "€"},
)
SALES_ZH = memory_table(
    "销售.csv",
    ("月份", "部门", "产品", "销售额", "数量"),
    (
        ("1月", "市场部", "键盘", 300, 3),
        ("2月", "市场部", "鼠标", 600, 9),
        ("1月", "研发部", "键盘", 800, 8),
        ("2月", "研发部", "鼠标", 100, 2),
    ),
)
TABLES = {made.table.sql_name: made for made in (ORDERS, STAFF, BUDGET, TURNOVER, VENTAS, SALES_ZH)}


def _asked(question: str) -> list[tuple[object, ...]]:
    written = write(question, [made.table for made in TABLES.values()])
    assert isinstance(written, WrittenQuery), written
    return [tuple(row) for row in TABLES[written.tables[0]].run(written.sql)]


def _refusal(question: str, *tables: MemoryTable) -> QueryRefusal:
    refusal = write(question, [made.table for made in tables or TABLES.values()])
    assert isinstance(refusal, QueryRefusal), refusal
    return refusal


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("How many orders are there?", 6),
        ("How many orders were placed in March 2025?", 2),
        ("How many orders from Berlin are open?", 2),
        ("How many orders are not paid?", 2),
        ("How many different customers are there?", 4),
        ("How many orders did ACME Corp place in 2024 and 2025?", 2),
        ("How many orders were placed between 1 March 2024 and 30 June 2024?", 2),
        ("How many orders had a quantity of at least 4?", 3),
        ("How many orders in Q3 2025?", 1),
        ("What is the total amount of all orders?", 3275.5),
        ("What is the total amount for ACME Corp in 2025?", 1600),
        ("What is the total amount for North?", 900),
        ("How much did Field order in total in 2024?", 250),
        ("total amount except Berlin", 675.5),
        ("average amount for open or shipped orders", 475.1),
        ("What is the total quantity of orders over 300 € from Berlin?", 5),
        ("How many units of Keyboard were sold in Paris?", 7),
        ("What is the highest amount for Field?", 350),
        ("average salary in Sales", 5000),
        ("How many employees work in Berlin?", 3),
        ("How many employees are older than 40?", 2),
        ("What is the average age in the IT department?", 38),
        ("What is the total budget of Field in Q1 2025?", 906),
        ("What is the total budget for travel?", 5 * 12 * 100 - 1200 - 800 + 932),
        ("What was the highest budget in March 2025?", 302),
        ("Wie viele Bestellungen gab es aus Berlin?", 3),
        ("Wie hoch ist das Durchschnittsgehalt in der Abteilung Sales?", 5000),
        ("Wie viele Mitarbeiter sind älter als 40?", 2),
        ("Wie hoch war der Gesamtumsatz 2024?", 2950),
        ("Wie hoch war der Umsatz 2023 in Köln Deutz?", 2500),
        ("¿Cuál es el importe total en Madrid?", 160),
        ("¿Cuántas unidades de silla se vendieron en marzo de 2025?", 6),
        ("¿Cuántos empleados hay en Berlín?", 3),
        ("市场部2月的总销售额是多少？", 600),
        ("1月和2月市场部的销售额总和是多少？", 900),
        ("销售额超过500的记录有多少条？", 2),
        ("研发部卖出了多少键盘？", 8),
    ],
)
def test_one_number(question: str, number: float) -> None:
    assert _asked(question) == [(pytest.approx(number),)]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which customer has the highest total amount?", [("ACME Corp", 1700)]),
        ("Which city has the fewest orders?", [("Munich", 1)]),
        ("Which product was sold most in 2025?", [("Keyboard", 7)]),
        ("What are the top 2 customers by amount?", [("ACME Corp", 1700), ("North", 900)]),
        ("What is the largest order?", [("1005", "ACME Corp", 1600)]),
        ("In which month was the total amount highest?", [("2025-03", 1675.5)]),
        ("Which department has the highest average salary?", [("IT", 6000)]),
        ("Who has the highest salary in IT?", [("Carla Ruiz", 6100)]),
        ("Who earns the most?", [("Carla Ruiz", 6100)]),
        ("Who is the oldest employee?", [("Eva Lind", 52)]),
        ("Welche Filiale hatte 2024 den höchsten Umsatz?", [("Berlin Mitte", 1300)]),
        ("Wer verdient am meisten?", [("Carla Ruiz", 6100)]),
        ("¿Qué ciudad tiene el mayor importe?", [("Sevilla", 240)]),
        ("哪个部门的销售额最高？", [("市场部", 900), ("研发部", 900)]),
        ("Total number of orders per status", [("cancelled", 1), ("open", 2), ("shipped", 3)]),
        ("Durchschnittsgehalt pro Abteilung", [("HR", 4500), ("IT", 6000), ("Sales", 5000)]),
        ("¿Cuál es el importe medio por producto?", [("mesa", 100), ("silla", 150)]),
        ("每个产品的平均销售额是多少？", [("键盘", 550), ("鼠标", 350)]),
        ("total amount by month in 2025", [("2025-03", 1675.5), ("2025-07", 350)]),
        ("What percentage of orders were cancelled in 2024?", [(33.33, 1, 3)]),
        ("What share of the total amount is Munich?", [(7.63, 250, 3275.5)]),
        ("What is the difference in amount between Berlin and Munich?", [(2600, 250, 2350, 940)]),
        (
            "Um wie viel ist der Umsatz in Leipzig von 2022 auf 2024 gestiegen?",
            [(750, 500, 250, 50)],
        ),
        ("What is the minimum and maximum amount?", [(75.5, 1600)]),
    ],
)
def test_groups_extremes_shares_and_differences(question: str, rows: list[tuple[object, ...]]) -> None:
    assert _asked(question) == rows


@pytest.mark.parametrize(
    ("question", "cells"),
    [
        ("What is the salary of Anna Schmidt?", {"Anna Schmidt", 5200}),
        ("What is Anna's salary?", {"Anna Schmidt", 5200}),
        ("What is the status of order 1005?", {"1005", "open"}),
        ("When was order 1004 shipped?", {"1004", "2025-03-03"}),
        ("Where does Anna Schmidt work?", {"Anna Schmidt", "Berlin"}),
        ("When did Eva Lind start?", {"Eva Lind", "2020-05-20"}),
        ("Who works in HR?", {"Eva Lind", "HR"}),
        ("What is the budget of Field for travel in March 2025?", {"Field", "Travel", 102}),
    ],
)
def test_a_cell_is_shown_with_the_names_of_its_row(question: str, cells: set[object]) -> None:
    (row,) = _asked(question)
    assert set(row) == cells


def test_rows_are_listed() -> None:
    assert _asked("List all orders over 500 €") == [("1003", 900), ("1005", 1600)]
    assert _asked("Which orders have no ship date?") == [("1001",), ("1003",), ("1005",)]
    assert [row[0] for row in _asked("Which employees started before 2020?")] == [
        "Anna Schmidt",
        "Carla Ruiz",
    ]


@pytest.mark.parametrize(
    ("question", "missing", "name"),
    [
        ("What is the total weight of all orders?", "column", "weight"),
        ("How many orders came from Rome?", "value", "Rome"),
        ("How many orders were placed in May 2031?", "period", "May 2031"),
        ("What is the total budget of Field in 2031?", "period", "2031"),
        ("What is the total amount in March?", "choice", "March"),
        ("How many orders were shipped in March 2025?", "choice", ""),
        ("Which customers ordered more than 1000 € in total?", "unclear", "customers"),
    ],
)
def test_what_is_not_there_is_named(question: str, missing: str, name: str) -> None:
    refusal = _refusal(question)
    assert (refusal.missing, refusal.name) == (missing, name)


def test_rows_with_a_name_of_their_own_are_counted_by_a_value() -> None:
    people = memory_table(
        "people.csv",
        ("Name", "Office", "Role"),
        (("Anna", "Berlin", "Engineer"), ("Ben", "London", "Designer"), ("Dan", "Berlin", "Engineer")),
    )
    made = write("How many engineers are in Berlin?", [people.table])
    assert isinstance(made, WrittenQuery)
    assert people.run(made.sql) == [(2,)]
    hours = memory_table("hours.csv", ("Name", "Role"), (("Anna", "Engineer"), ("Anna", "Engineer")))
    assert isinstance(write("How many engineers are there?", [hours.table]), QueryRefusal)


def test_rows_are_not_counted_for_an_amount_in_one_of_their_columns() -> None:
    leave = memory_table(
        "handbook.pdf",
        ("Reason", "Days, paid"),
        (("Moving house", "1 a year"), ("Own wedding", "2"), ("Birth", "18 weeks")),
        caption="Other leave",
    )
    assert isinstance(write("How many leave days?", [leave.table]), QueryRefusal)
    assert isinstance(write("How many leaves are there?", [leave.table]), WrittenQuery)


def test_a_refusal_says_what_there_is() -> None:
    assert _refusal("What is the total weight of all orders?").available[:2] == ("Order ID", "Order Date")
    assert _refusal("How many orders came from Rome?").available == ("Berlin", "Munich", "Paris")
    assert _refusal("How many orders in 2031?").available == ("2024-01-10", "2025-07-01")


CLASSES = memory_table("Klassen.xlsx", ("Klasse", "Schüler"), (("5a", 24), ("5b", 27), ("6a", 21)))
PROJECTS = memory_table(
    "projects.csv",
    ("Project", "Manager", "Created", "Closed", "Hours planned", "Hours spent"),
    (
        ("Apollo", "Mia", "2025-01-10", "2025-06-30", 400, 380),
        ("Borealis", "Lee", "2025-03-01", None, 900, 450),
        ("Cygnus", "Mia", "2025-03-15", None, 300, 310),
    ),
)
INVOICES = memory_table(
    "invoices.csv",
    ("Invoice", "Amount", "Currency"),
    (("I-1", 100, "EUR"), ("I-2", 50, "USD"), ("I-3", 30, "EUR")),
)
SPENDING = memory_table(
    "spending.csv",
    ("Month", "Team", "Item", "Budget"),
    tuple(
        (f"2025-0{month}-01", team, item, 100 * month + at)
        for month in (1, 2, 3)
        for at, (team, item) in enumerate((("Sales", "Fuel"), ("Legal", "Cloud"), ("Ops", "Paper")))
    ),
)
RECHNUNGEN = memory_table(
    "rechnungen.csv", ("Nummer", "Kunde", "Betrag"), (("R-1", "Alpha", 99), ("R-2", "Beta", 120))
)
STAFF_ZH = memory_table(
    "员工表.xlsx",
    ("姓名", "部门", "工资", "城市"),
    (("张伟", "市场部", 9000, "北京"), ("李娜", "研发部", 15000, "上海"), ("王芳", "研发部", 13000, "北京")),
)


@pytest.mark.parametrize(
    ("made", "question", "rows"),
    [
        (CLASSES, "Durchschnittliche Schülerzahl pro Klasse", [(24,)]),
        (CLASSES, "Wie viele Schüler gibt es insgesamt?", [(72,)]),
        (PROJECTS, "How many hours were spent in total?", [(1140,)]),
        (PROJECTS, "How many projects have not been closed?", [(2,)]),
        (PROJECTS, "Number of projects per month", [("2025-01", 1), ("2025-03", 2)]),
        (PROJECTS, "Which manager has the most projects?", [("Mia", 2)]),
        (PROJECTS, "How many more hours were spent on Borealis than on Cygnus?", [(450, 310, 140, 45.16)]),
        (STAFF_ZH, "哪个城市的员工最多？", [("北京", 2)]),
        (STAFF_ZH, "工资超过10000的员工有几个？", [(2,)]),
        (STAFF_ZH, "每个部门的平均工资", [("市场部", 9000), ("研发部", 14000)]),
        (INVOICES, "total amount of all invoices", [("EUR", 130), ("USD", 50)]),
        (INVOICES, "How many invoices have an amount over 40 EUR?", [(1,)]),
        (SPENDING, "top 2 teams by total", [("Ops", 606), ("Legal", 603)]),
        (SPENDING, "Top 2 teams by total budget", [("Ops", 606), ("Legal", 603)]),
        (SPENDING, "the two teams with the lowest total budget", [("Sales", 600), ("Legal", 603)]),
        (SPENDING, "Los 2 equipos con mayor presupuesto total", [("Ops", 606), ("Legal", 603)]),
        (RECHNUNGEN, "Welche Rechnung hat den höchsten Betrag?", [("R-2", "Beta", 120)]),
        (RECHNUNGEN, "Die 2 Kunden mit dem höchsten Gesamtbetrag", [("Beta", 120), ("Alpha", 99)]),
    ],
)
def test_other_tables(made: MemoryTable, question: str, rows: list[tuple[object, ...]]) -> None:
    written = write(question, [made.table])
    assert isinstance(written, WrittenQuery), written
    assert [tuple(row) for row in made.run(written.sql)] == rows


@pytest.mark.parametrize(
    ("made", "question", "refusal"),
    [
        (PROJECTS, "What is the standard deviation of the hours spent?", ("unclear", ())),
        (PROJECTS, "How many hours did project Zeus take?", ("value", ("Apollo", "Borealis", "Cygnus"))),
        (INVOICES, "total amount of all invoices in yen", ("unit", ())),
        (
            SPENDING,
            "How much did we budget for travel in March?",
            ("value", ("Sales", "Legal", "Ops", "Fuel", "Cloud", "Paper")),
        ),
        (INVOICES, "Which invoice has the highest amount?", ("unit", ("EUR", "USD"))),
    ],
)
def test_other_refusals(made: MemoryTable, question: str, refusal: tuple[str, tuple[str, ...]]) -> None:
    found = _refusal(question, made)
    assert (found.missing, found.available) == refusal


@pytest.mark.parametrize(
    "question",
    [
        "How many vacation days do I get?",
        "What is the notice period?",
        "Who is responsible for travel?",
        "How do I order a keyboard?",
        "Wie viele Urlaubstage habe ich?",
        "¿Cuántos días de vacaciones tengo?",
        "年假有多少天？",
        "What does the travel policy say about hotels?",
        "Thanks!",
        "",
    ],
)
def test_an_ordinary_question_stays_one(question: str) -> None:
    assert _refusal(question) == QueryRefusal(missing="question")


def test_equal_tables_are_not_chosen_between() -> None:
    names, row = ("City", "Amount"), (("Berlin", 5),)
    march, april = (memory_table(f"{month} sales.csv", names, row) for month in ("north", "south"))
    assert _refusal("What is the total amount in Berlin?", march, april).available == (
        "north sales.csv",
        "south sales.csv",
    )
    written = write("What is the total amount in Berlin in south?", [march.table, april.table])
    assert isinstance(written, WrittenQuery)
    assert written.tables == (april.table.sql_name,)


def test_a_quote_in_a_value_ends_no_literal() -> None:
    made = memory_table("pubs.csv", ("Pub", "Seats"), (("O'Neill's", 40), ("Anchor", 30)))
    written = write("How many seats does O'Neill's have?", [made.table])
    assert isinstance(written, WrittenQuery)
    assert [row[-1] for row in made.run(written.sql)] == [40]
