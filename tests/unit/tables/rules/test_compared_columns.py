"""Two columns of a row against each other, compounds, days in Chinese, units of stock."""

from __future__ import annotations

import pytest

from rag_engine.tables.rules import write
from rag_engine.tables.types import WrittenQuery
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
