"""How a result is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_engine.tables.answers import reply
from rag_engine.tables.types import ComputedAnswer, ResultColumn, SourceRows, TypedColumn, TypedTable, Value
from rag_engine.types import DocumentId

COLUMNS = (
    TypedColumn(name="Month", sql_name="month", kind="date"),
    TypedColumn(name="Shop", sql_name="shop"),
    TypedColumn(name="Sales", sql_name="sales", kind="number"),
)
TABLE = TypedTable(
    id="t1",
    document=DocumentId("d"),
    title="sales.csv",
    caption="sales",
    place="rows 1–9",
    sql_name="sales",
    columns=COLUMNS,
    row_count=8,
)
ROW = ("March 2025", "Köln Deutz", "195.225,90")


def written(name: str, value: Value, *rows: tuple[str, ...], language: str = "de") -> str:
    source = SourceRows(table=TABLE, numbers=tuple(range(2, 2 + len(rows))), count=len(rows), texts=rows)
    computed = ComputedAnswer(
        sql="SELECT 1", columns=(ResultColumn(name=name),), rows=((value,),), sources=(source,)
    )
    return reply.text(computed, language)


def test_a_figure_of_one_row_is_named_by_the_row() -> None:
    assert written("Summe Sales", 195_225.9, ROW).startswith(
        "Berechnet – Month: **March 2025**; Shop: **Köln Deutz**; Sales: **195.225,90**"
    )
    assert "Count: **1**" in written("Count", 1, ROW)


def test_a_figure_of_several_rows_keeps_its_own_name() -> None:
    assert "Summe Sales: **390.451,80**" in written("Summe Sales", 390_451.8, ROW, ROW)


def test_the_sum_of_one_row_is_its_cell_and_not_repeated() -> None:
    table = replace(TABLE, columns=(*COLUMNS, TypedColumn(name="Sales 2", sql_name="sales_2", kind="number")))
    source = SourceRows(table=table, numbers=(2,), count=1, texts=((*ROW, "5"),))
    names = ("Shop", "Month", "Day", "Sales", "Sum of Sales", "Sales 2")
    computed = ComputedAnswer(
        sql="SELECT 1",
        columns=tuple(ResultColumn(name=name) for name in names),
        rows=(("Köln Deutz", "March 2025", "1", 5, 5, 5),),
        sources=(source,),
    )
    line = "Shop: **Köln Deutz**; Month: **March 2025**; Day: **1**; Sales: **5**; Sales 2: **5** [1]"
    assert line in reply.text(computed, "en")


@pytest.mark.parametrize(
    ("value", "cell", "shown"),
    [
        (4.5, "4.5", "4.5"),
        (12.345, "12.30", "12.345"),
        (195_225.9, "195,225.90", "195,225.90"),
        (7, "7", "7"),
    ],
)
def test_decimals_are_those_of_the_cells(value: float, cell: str, shown: str) -> None:
    row = ("March 2025", "Köln", cell)
    assert f": **{shown}**" in written("Sum of Sales", value, row, row, language="en")


@pytest.mark.parametrize(
    ("sql", "shown"),
    [("SELECT paid FROM sales", "Paid: **ja**"), ("SELECT count(paid) AS Paid FROM sales", "Paid: **1**")],
)
def test_truth_is_written_as_in_the_cells_and_counts_are_not(sql: str, shown: str) -> None:
    paid = TypedColumn(name="Paid", sql_name="paid", kind="boolean", values=("ja", "nein"))
    source = SourceRows(table=replace(TABLE, columns=(*COLUMNS, paid)), numbers=(2, 3), count=2)
    computed = ComputedAnswer(sql=sql, columns=(ResultColumn(name="Paid"),), rows=((1,),), sources=(source,))
    assert shown in reply.text(computed, "de")


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((30.75, 45.0, 1177), ("30,75", "45,00", "1.177,00")),
        ((2.0, 45.0), ("2", "45")),
        ((0.3333, 2.0), ("0,3333", "2")),
        ((2024, 2025), ("2024", "2025")),
    ],
)
def test_numbers_below_each_other_have_the_same_decimals_at_the_right(
    values: tuple[float, ...], shown: tuple[str, ...]
) -> None:
    computed = ComputedAnswer(
        sql="SELECT 1",
        columns=(ResultColumn(name="Shop"), ResultColumn(name="Sales")),
        rows=tuple(("Köln", value) for value in values),
        sources=(SourceRows(table=TABLE, numbers=(2,), count=1),),
    )
    lines = reply.text(computed, "de").splitlines()
    assert lines[3:] == ["| --- | ---: |", *(f"| Köln | {text} |" for text in shown)]
