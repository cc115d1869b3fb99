"""Two columns of a row against each other, compounds, days in Chinese, units of stock."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import is_about, write
from rag_engine.tables.types import QueryRefusal, WrittenQuery
from tests.tables.memory_table import MemoryTable, memory_table

STOCK = memory_table(
    "inventario.csv",
    ("Artículo", "Familia", "Existencias", "Mínimo"),
    (("Tuerca", "Tornillería", 9, 20), ("Tornillo", "Tornillería", 50, 20), ("Casco", "Ropa", 3, 4)),
)
BUDGET = memory_table(
    "budget association.html",
    ("Pôle", "Prévu (€)", "Dépensé (€)", "Clos"),
    (("Sport", 100, 80, True), ("Culture", 90, 95, False)),
)
WORKS = memory_table(
    "planning chantier.docx",
    ("Lot", "Début", "Avancement"),
    (("Toiture", "2025-06-09", 40), ("Peinture", "2025-06-01", 90)),
    units={"Avancement": "%"},
)
ENERGY = memory_table(
    "Energieverbrauch.xlsx",
    ("Standort", "Energie", "Menge (kWh)"),
    (("Nord", "Strom", 10), ("Süd", "Strom", 30), ("Nord", "Gas", 70), ("Süd", "Gas", 20)),
)
METERS = memory_table(
    "Wasserzähler.csv", ("Nummer", "Einbauort"), (("W1", "Nord"), ("W2", "Süd"), ("W3", "Nord"))
)
QUARTERS = memory_table(
    "Energie 2024.xlsx",
    ("Standort", "Energie", "1. Quartal (kWh)", "2. Quartal (kWh)"),
    (("Nord", "Strom", 10, 20), ("Süd", "Strom", 30, 50), ("Nord", "Gas", 7, 8), ("Süd", "Gas", 2, 3)),
    caption="Verbrauch",
)
BRANCHES = memory_table(
    "branches.csv",
    ("Branch", "Revenue 2024 (EUR)", "Costs 2024 (EUR)", "Revenue 2025 (EUR)", "Costs 2025 (EUR)"),
    (("Ulm", 10, 9, 20, 8), ("Bonn", 30, 4, 25, 7), ("Kiel", 5, 5, 9, 4)),
)
REGIONS = memory_table(
    "sales by region.xlsx",
    ("Region", "2023", "2024", "2025"),
    (("North", 10, 20, 30), ("South", 30, 25, 20), ("West", 1, 2, 8)),
)
FILIALEN = memory_table(
    "filialen.csv", ("Filiale", "Umsatz 2024", "Umsatz 2025"), (("Ulm", 10, 20), ("Bonn", 30, 25))
)
INVOICES = memory_table(
    "sales invoices.csv",
    ("Invoice no.", "Client", "Due date", "Gross", "Payment date"),
    (
        ("I-1", "Ash", "2025-03-01", 10, "2025-03-04"),
        ("I-2", "Elm", "2025-03-01", 30, "2025-02-20"),
        ("I-3", "Ash", "2025-04-01", 50, None),
    ),
)
CANDIES = memory_table(
    "candy ranking.csv",
    ("name", "chocolate", "fruity", "winpercent"),
    (("Twix", 1, 0, 80), ("Nerds", 0, 1, 50), ("Pop", 1, 1, 40)),
)
WEATHER = memory_table(
    "weather.csv",
    ("date", "temp_min", "wind"),
    (("2013-01-01", -1, 3), ("2013-01-02", 1, 9), ("2013-01-03", -4, 10)),
)
MEMBERS = memory_table(
    "socios del club.csv",
    ("Nº socio", "Nombre", "Cuota (€)"),
    ((1270, "Celia Pastor", 9), (1241, "Ana Ruiz", 7)),
)
LONG = memory_table(
    "branches by year.csv",
    ("Branch", "Year", "Revenue"),
    (("Ulm", 2024, 5), ("Ulm", 2025, 9), ("Bonn", 2024, 7)),
)
SHOPS = memory_table(
    "门店.xlsx",
    ("门店", "开业日期"),
    (("南京店", "2020-01-01"), ("杭州店", "2020-01-20"), ("天津店", "2019-05-05")),
)


@pytest.mark.parametrize(
    ("question", "table", "rows"),
    [
        ("artículos con existencias por debajo del mínimo", STOCK, [("Tuerca", 9, 20), ("Casco", 3, 4)]),
        ("¿Cuántas unidades de tornillería hay en total?", STOCK, [(59,)]),
        ("Dime cuántos artículos tenemos por familia, por favor", STOCK, [("Ropa", 1), ("Tornillería", 2)]),
        ("quels pôles ont dépensé plus que prévu", BUDGET, [("Culture", 95, 90)]),
        ("Combien a-t-on dépensé en tout, tous pôles confondus ?", BUDGET, [(175,)]),
        ("lots dont l'avancement est inférieur à 50 %", WORKS, [("Toiture", 40)]),
        ("Quels lots commencent après le 1er juin 2025 ?", WORKS, [("Toiture", "2025-06-09")]),
        ("average of the Avancement column", WORKS, [(65,)]),
        ("Welcher Standort hat den höchsten Gasverbrauch?", ENERGY, [("Nord", 70)]),
        ("Anzahl der Zähler je Einbauort", METERS, [("Nord", 2), ("Süd", 1)]),
        ("2020年1月1日之后开业的门店有哪些？", SHOPS, [("杭州店", "2020-01-20")]),
    ],
)
def test_it_is_computed(question: str, table: MemoryTable, rows: list[tuple[object, ...]]) -> None:
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    assert table.run(written.sql) == rows


def test_of_all_places_the_sum_is_shown_beside_them() -> None:
    written = write("Stromverbrauch aller Standorte im 2. Quartal", [QUARTERS.table])
    assert isinstance(written, WrittenQuery), written
    assert {row[-1] for row in QUARTERS.run(written.sql)} == {70}


@pytest.mark.parametrize(
    ("question", "table", "rows"),
    [
        ("Which regions sold more in 2025 than in 2024?", REGIONS, [("North", 30, 20), ("West", 8, 2)]),
        ("How many regions sold less in 2025 than in 2024?", REGIONS, [(1,)]),
        ("Which branch had a lower revenue in 2025 than in 2024?", BRANCHES, [("Bonn", 25, 30)]),
        ("How many branches had higher costs in 2025 than in 2024?", BRANCHES, [(1,)]),
        ("Welche Filialen hatten 2025 mehr Umsatz als 2024?", FILIALEN, [("Ulm", 20, 10)]),
        ("¿Qué regiones vendieron más en 2025 que en 2024?", REGIONS, [("North", 30, 20), ("West", 8, 2)]),
    ],
)
def test_two_years_in_columns_of_their_own_are_compared(
    question: str, table: MemoryTable, rows: list[tuple[object, ...]]
) -> None:
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    assert table.run(written.sql) == rows
    assert is_about(question, [table.table])


@pytest.mark.parametrize(
    "question",
    ["Which branch had more revenue in 2025 than in 2024?", "Which branch had more in 2025 than in 2024?"],
)
def test_two_years_of_one_column_are_not_added_up(question: str) -> None:
    assert isinstance(write(question, [LONG.table]), QueryRefusal)


def test_how_much_more_is_a_difference() -> None:
    written = write("How much more did North sell in 2025 than in 2024?", [REGIONS.table])
    assert isinstance(written, WrittenQuery)
    assert REGIONS.run(written.sql)[0][:3] == (30, 20, 10)


@pytest.mark.parametrize(
    ("question", "table", "rows"),
    [
        ("How many invoices have a payment date after their due date?", INVOICES, [(1,)]),
        (
            "List the clients with a payment date before the due date",
            INVOICES,
            [("I-2", "2025-02-20", "2025-03-01", "Elm")],
        ),
        ("how many of the candies are chocolate", CANDIES, [(2,)]),
        ("average win percent of the fruity candy", CANDIES, [(45,)]),
        ("and the win percent for Nerds?", CANDIES, [("Nerds", 50)]),
        ("On how many days was the wind above 8?", WEATHER, [(2,)]),
        ("How many days had a temp_min below zero?", WEATHER, [(2,)]),
        ("número de socio de Celia Pastor", MEMBERS, [("Celia Pastor", "1270")]),
        ("¿Cuál es el número de socios?", MEMBERS, [(2,)]),
    ],
)
def test_dates_flags_and_numbers_of_rows(
    question: str, table: MemoryTable, rows: list[tuple[object, ...]]
) -> None:
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    assert table.run(written.sql) == rows


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("How many visits were there between the 2nd and the 31st of March 2025?", 1),
        ("How many visits from 1 to 15 March 2025?", 2),
        ("How many visits between 1 and 15 March 2025?", 2),
        ("Wie viele Visits gab es vom 1. bis 15. März 2025?", 2),
    ],
)
def test_days_of_one_month(question: str, number: int) -> None:
    table = memory_table(
        "visits.csv",
        ("Visit", "Day"),
        (("V-1", "2025-03-01"), ("V-2", "2025-03-15"), ("V-3", "2025-04-10"), ("V-4", "2024-03-09")),
    )
    written = write(question, [table.table])
    assert isinstance(written, WrittenQuery), written
    assert table.run(written.sql) == [(number,)]
