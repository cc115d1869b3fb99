"""Excel files written by openpyxl."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, cast

import openpyxl
import pytest

from rag_engine.errors import CorruptFile
from rag_engine.parsers.sheets import sheet
from rag_engine.parsers.sheets._cells.number_formats import format_value
from rag_engine.types import Section
from tests.unit.parsers.files import CHINESE, write_xlsx, zip_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_xlsx(path)
    table = f"Office | Since | Cost | Share\nKöln | 2024-03-01 | 1,234.50 | 12.5%\n{CHINESE} | 2025-12-31 | 99.00 | 50.0%"
    assert list(sheet.parse(path)) == [
        Section(text=table, anchor="Budget!A2:D3", headings=("Budget",), kind="table"),
        Section(text="kept", anchor="Old!B3", headings=("Old (hidden)",), kind="table"),
    ]


def test_a_long_sheet_comes_in_parts_with_its_header_and_its_cells(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    active = cast("Any", workbook.active)
    active.append(["Team budgets of the year"])
    active.append([])
    active.append(["Team", "Cost"])
    for number in range(4, 204):
        active.append([f"team {number}", number])
    path = tmp_path / "file"
    workbook.save(path)
    title, *parts = sheet.parse(path)
    assert (title.text, title.anchor) == ("Team budgets of the year", "Sheet!A1")
    assert len(parts) > 3
    for part in parts:
        header, *rows = part.text.splitlines()
        assert header == "Team | Cost"
        first, last = rows[0].split(" | ")[1], rows[-1].split(" | ")[1]
        assert part.anchor == f"Sheet!A{first}:B{last}"


def test_a_cell_at_the_far_corner(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    cast("Any", workbook.active)["XFD1048576"] = "far"
    path = tmp_path / "file"
    workbook.save(path)
    assert [(section.text, section.anchor) for section in sheet.parse(path)] == [("far", "Sheet!XFD1048576")]


def test_two_tables_on_one_sheet(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    active = cast("Any", workbook.active)
    for row in (["Team", "Cost"], ["A", 1], [], ["B", 2], [], ["City", "Country"], ["Köln", "DE"]):
        active.append(row)
    path = tmp_path / "file"
    workbook.save(path)
    assert [(section.text, section.anchor) for section in sheet.parse(path)] == [
        ("Team | Cost\nA | 1", "Sheet!A2:B2"),
        ("Team | Cost\nB | 2", "Sheet!A4:B4"),
        ("City | Country\nKöln | DE", "Sheet!A7:B7"),
    ]


def test_an_archive_without_a_document_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(zip_of({"[Content_Types].xml": b"<Types/>", "other": b""}))
    with pytest.raises(CorruptFile):
        list(sheet.parse(path))


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (None, "General", ""),
        (True, "General", "TRUE"),
        (3, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1e20, "General", "1E+20"),
        ("007", "@", "007"),
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, "#,##0.00;(#,##0.00)", "(1,234.50)"),
        (-2, "0.0", "-2.0"),
        (0, '0;-0;"none"', "none"),
        (0.025, "0%", "3%"),
        (0.125, "0.0%", "12.5%"),
        (1599.99, '"$"#,##0.00', "$1,599.99"),
        (5, '#,##0.00\\ "€"', "5.00 €"),
        (1234567, "#,##0,", "1,235"),
        (12.5, "0.##", "12.5"),
        (12, "0.##", "12"),
        (7, "[Red]0", "7"),
        (0.5, "# ?/?", "1/2"),
        (datetime.datetime(2024, 3, 1), "mm-dd-yy", "2024-03-01"),
        (datetime.datetime(2024, 3, 1, 8, 5), "mm-dd-yy", "2024-03-01 08:05"),
        (datetime.datetime(2024, 3, 1), "d-mmm-yy", "1-Mar-24"),
        (datetime.datetime(2024, 3, 1), "dddd, mmmm d, yyyy", "Friday, March 1, 2024"),
        (datetime.datetime(2024, 3, 1), 'd"." mm"." yyyy', "1. 03. 2024"),
        (datetime.datetime(2024, 3, 1, 15, 4, 5), "h:mm AM/PM", "3:04 PM"),
        (datetime.datetime(2024, 3, 1, 15, 4, 5), "yyyy-mm-dd hh:mm:ss", "2024-03-01 15:04:05"),
        (datetime.time(8, 30), "h:mm", "8:30"),
        (datetime.date(2024, 3, 1), "General", "2024-03-01"),
        (datetime.timedelta(hours=30, minutes=5), "[h]:mm:ss", "30:05:00"),
    ],
)
def test_values_as_shown(value: object, number_format: str, text: str) -> None:
    assert format_value(value, number_format) == text
