# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

from tests.tables.computed.question_set import SHARED, ComputedQuestion, real_sheet

Q = ComputedQuestion
REAL = {"cities.xlsx": "real/poi-DataTableCities.xlsx", "fruit stock.md": "real/unst-simple-table.md"}


def questions() -> list[Q]:
    if not all((SHARED / place).is_file() for place in REAL.values()):
        return []
    # The big cities are left of the small ones.
    rows = [
        row
        for row in real_sheet(REAL["cities.xlsx"], "Table")
        if isinstance(row[5], int) and row[2] != "Total"
    ]
    t, f = "<cities.xlsx#Table!C3:F15>", "<fruit stock.md>"
    return [
        Q(text="add up the population of all big cities", kind="sum", gold=(sum(row[5] for row in rows),), sql=f"SELECT SUM([Population]) FROM {t}"),
        Q(text="how many juicy apples are in stock", kind="lookup", gold=(739,), sql=f"SELECT [# In stock] FROM {f} WHERE [Item] = 'Juicy Apples'"),
    ]  # fmt: skip
