from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, cast

import openpyxl
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def budget(tmp_path: Path) -> Path:
    """A title, an empty row, a header, five rows and a total; two of the rows are by "Field"."""
    workbook = openpyxl.Workbook()
    sheet = cast("Any", workbook.active)
    sheet.title = "Budget"
    sheet["A1"] = "Spending"
    sheet.append([])
    sheet.append(["Department", "Date", "Amount", "Share", "Paid"])
    rows = [("Field", 1234.567), ("Office", 200), ("Field", 99.5), ("IT", -40), ("IT", 7)]
    for month, (department, amount) in enumerate(rows, 1):
        sheet.append([department, datetime.date(2025, month, 3), amount, amount / 1000, month % 2 == 1])
    sheet.append(["Total", None, sum(amount for _, amount in rows), None, None])
    for row in range(4, 10):
        sheet.cell(row, 2).number_format = "dd.mm.yyyy"
        sheet.cell(row, 3).number_format = "[$€-407] #,##0.00"
        sheet.cell(row, 4).number_format = "0.0%"
    path = tmp_path / "budget.xlsx"
    workbook.save(path)
    return path
