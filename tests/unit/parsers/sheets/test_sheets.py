"""Workbooks: merged cells, adjacent tables, hidden sheets, comments, charts, formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.table import Table

from rag_engine.errors import CorruptFile, FileTooLarge
from rag_engine.parsers.sheets import sheet
from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag_engine.types import Section

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _read(tmp_path: Path, fill: Callable[[Any], None]) -> list[tuple[str, str]]:
    return [(section.anchor, section.text) for section in _sections(tmp_path, fill)]


def _sections(tmp_path: Path, fill: Callable[[Any], None]) -> list[Section]:
    workbook = openpyxl.Workbook()
    active = cast("Any", workbook.active)
    active.title = "Data"
    fill(active)
    path = tmp_path / "file"
    workbook.save(path)
    return list(sheet.parse(path))


def _raw(
    tmp_path: Path, rows: str, *, strings: str = "", before: str = "", after: str = ""
) -> list[tuple[str, str]]:
    """The sections of a workbook with one sheet of these rows as XML."""
    path = tmp_path / "file"
    kinds = {"rId1": ("worksheet", "worksheets/sheet1.xml"), "rId2": ("sharedStrings", "sharedStrings.xml")}
    relations = "".join(
        f'<Relationship Id="{key}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for key, (kind, target) in kinds.items()
    )
    members = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_RELATIONS}">{before}<sheets><sheet name="S" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relations}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {_MAIN}>{strings}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {_MAIN}><sheetData>{rows}</sheetData>{after}</worksheet>",
    }
    path.write_bytes(zip_of({name: content.encode() for name, content in members.items()}))
    return [(section.anchor, section.text) for section in sheet.parse(path)]


def test_a_header_merged_over_columns_names_each_of_them(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        active.append(["Team", "2024", None, "2025", None])
        active.append([None, "Plan", "Actual", "Plan", "Actual"])
        active.append(["IT", 1, 2, 3, 4])
        for area in ("A1:A2", "B1:C1", "D1:E1"):
            active.merge_cells(area)

    assert _read(tmp_path, fill) == [
        ("Data!A3:E3", "Team | 2024 Plan | 2024 Actual | 2025 Plan | 2025 Actual\nIT | 1 | 2 | 3 | 4")
    ]


def test_a_cell_merged_over_rows_belongs_to_each_of_them(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in (
            ["Region", "City", "Heads"],
            ["North", "Oslo", 3],
            [None, "Bergen", 4],
            ["South", "Rome", 5],
        ):
            active.append(row)
        active.merge_cells("A2:A3")

    assert _read(tmp_path, fill) == [
        ("Data!A2:C4", "Region | City | Heads\nNorth | Oslo | 3\nNorth | Bergen | 4\nSouth | Rome | 5")
    ]


def test_a_title_merged_over_the_table_is_a_heading_and_not_a_column_name(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in (["Budget of 2025"], [], ["Item", "Cost"], ["Travel", 5]):
            active.append(row)
        active.merge_cells("A1:B1")

    title, table = _sections(tmp_path, fill)
    assert (title.text, title.anchor) == ("Budget of 2025", "Data!A1:B1")
    assert (table.text, table.anchor) == ("Item | Cost\nTravel | 5", "Data!A4:B4")
    assert table.headings == ("Data", "Budget of 2025")


def test_tables_side_by_side_are_read_one_after_the_other(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        active.append(["Item", "Cost", None, None, "Name", "Phone"])
        active.append(["Pen", 1, None, None, "Ann", "030 1"])
        active.append(["Ink", 2, None, None, "Ben", "030 2"])

    assert _read(tmp_path, fill) == [
        ("Data!A2:B3", "Item | Cost\nPen | 1\nInk | 2"),
        ("Data!E2:F3", "Name | Phone\nAnn | 030 1\nBen | 030 2"),
    ]


def test_a_header_that_begins_with_an_empty_cell_keeps_its_columns(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in ([None, "2024", "2025"], ["Pen", 1, 2], ["Ink", 3, 4]):
            active.append(row)

    assert _read(tmp_path, fill) == [("Data!A2:C3", " | 2024 | 2025\nPen | 1 | 2\nInk | 3 | 4")]


def test_an_empty_column_inside_a_table_does_not_divide_it(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in (["Item", None, "2024", "2025"], ["Pen", None, 1, 2], ["Ink", None, 3, 4]):
            active.append(row)

    assert _read(tmp_path, fill) == [("Data!A2:D3", "Item |  | 2024 | 2025\nPen |  | 1 | 2\nInk |  | 3 | 4")]


def test_a_declared_table_is_a_table(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in (["note", "x"], ["1", "2"], ["3", "4"], ["below"]):
            active.append(row)
        active.add_table(Table(displayName="T", ref="A2:B3"))

    assert ("Data!A3:B3", "1 | 2\n3 | 4") in _read(tmp_path, fill)


def test_a_table_without_a_header_repeats_no_row(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for number in range(100):
            active.append([f"k{number}", number, number * 2])

    parts = _read(tmp_path, fill)
    assert len(parts) > 1
    assert "\n".join(text for _, text in parts).count("k0 ") == 1
    assert parts[0][0].startswith("Data!A1:C")


def test_a_gap_ends_a_section_so_that_lines_count_rows(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in (["Item", "Cost"], ["Pen", 1], [], ["Ink", 2]):
            active.append(row)

    assert [anchor for anchor, _ in _read(tmp_path, fill)] == ["Data!A2:B2", "Data!A4:B4"]


def test_hidden_sheets_comments_charts_and_chart_sheets(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    active = cast("Any", workbook.active)
    active.title = "Data"
    for row in (["City", "Heads"], ["Oslo", 3]):
        active.append(row)
    active["B2"].comment = Comment("Ann:\nincludes trainees", "Ann")
    hidden = cast("Any", workbook.create_sheet("Secret"))
    hidden.sheet_state = "veryHidden"
    hidden.append(["pin", "code"])
    for page, title, place in (
        (active, "Heads by city", "D4"),
        (workbook.create_chartsheet("Page"), "All", None),
    ):
        chart = BarChart()
        chart.title = title
        chart.add_data(Reference(active, min_col=2, min_row=1, max_row=2), titles_from_data=True)
        cast("Any", page).add_chart(chart, *filter(None, [place]))
    path = tmp_path / "file"
    workbook.save(path)
    found = {(section.anchor, section.headings, section.text) for section in sheet.parse(path)}
    assert found == {
        ("Data!A2:B2", ("Data",), "City | Heads\nOslo | 3"),
        ("Data!B2", ("Data",), "Comment by Ann: includes trainees"),
        ("Data!D4", ("Data",), "Chart: Heads by city"),
        ("Secret!A1:B1", ("Secret (hidden)",), "pin | code"),
        ("Page", ("Page",), "Chart: All"),
    }


def test_a_formula_without_a_result_is_read_and_an_empty_text_is_empty(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1"><f>SUM(A2:A3)</f></c><c r="C1" t="str"><f>""</f><v></v></c></row>'
        '<row r="2"><c r="A2"><f>1/0</f><v/></c><c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="C2" t="b"><v>1</v></c></row>'
    )
    assert _raw(tmp_path, rows) == [("S!A2:C2", "a | =SUM(A2:A3)\n=1/0 | #DIV/0! | TRUE")]


def test_shared_and_rich_strings_without_how_they_are_pronounced(tmp_path: Path) -> None:
    strings = (
        "<si><r><t>bold</t></r><r><t> and not</t></r></si>"
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si><si><t>a_x000D_b_x0041_</t></si>"
    )
    cells = "".join(f'<c r="{letter}1" t="s"><v>{at}</v></c>' for at, letter in enumerate("ABC"))
    assert _raw(tmp_path, f'<row r="1">{cells}</row>', strings=strings) == [
        ("S!A1:C1", "bold and not | 東京 | a bA")
    ]


def test_dates_count_from_1904_where_the_workbook_says_so(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1" t="d"><v>2026-03-14T00:00:00Z</v></c></row>'
    assert _raw(tmp_path, rows, before='<workbookPr date1904="1"/>') == [("S!A1", "2026-03-14")]


def test_cells_with_missing_or_false_references(tmp_path: Path) -> None:
    rows = '<row><c><v>1</v></c><c><v>2</v></c></row><row r="99999999999"><c r="A1"><v>3</v></c></row><row r="3"><c r="ZZZ3"><v>4</v></c></row>'
    assert _raw(tmp_path, rows) == [("S!A1:B1", "1 | 2")]


def test_a_hundred_columns_come_in_bands_with_the_first_column(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        active.append(["Country", *(f"Indicator {number}" for number in range(120))])
        active.append(["Norway", *range(120)])

    parts = _read(tmp_path, fill)
    assert len(parts) > 5
    for anchor, text in parts:
        header, row = (line.split(" | ") for line in text.split("\n"))
        assert (header[0], row[0]) == ("Country", "Norway")
        assert [name.split()[1] for name in header[1:]] == row[1:]
        assert anchor.endswith("2")
    assert parts[0][0].startswith("Data!A2:")


def test_a_far_cell_makes_no_wide_row(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in (["Item", "Cost"], ["Pen", 1]):
            active.append(row)
        active["XFD2"] = "far"
        active["XFD1048576"] = "farther"

    parts = _read(tmp_path, fill)
    assert ("Data!A2:B2", "Item | Cost\nPen | 1") in parts
    assert {anchor for anchor, text in parts if "far" in text} == {"Data!XFD2", "Data!XFD1048576"}
    assert max(len(text) for _, text in parts) < 100


@pytest.mark.slow
def test_one_long_string_shown_by_every_cell_is_refused(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{number}"><c r="A{number}" t="s"><v>0</v></c></row>' for number in range(1, 20_000)
    )
    with pytest.raises(FileTooLarge, match="over and over"):
        _raw(tmp_path, rows, strings=f"<si><t>{'x' * 30_000}</t></si>")


@pytest.mark.parametrize(
    "rows", ["<row", '<row r="1"><c t="s"><v>7</v></c></row>', '<row r="1"><c t="s"><v>x</v></c></row>']
)
def test_damage_is_reported(tmp_path: Path, rows: str) -> None:
    with pytest.raises(CorruptFile):
        _raw(tmp_path, rows)


@pytest.mark.parametrize(
    "rows",
    [
        [("Number:", "INV-7"), ("Date:", "5 May"), ("Customer:", "ACME")],
        [("Company", "ACME"), ("City", "Rome"), ("Employees", 45)],
    ],
)
def test_the_first_line_of_a_form_is_one_of_its_lines(tmp_path: Path, rows: list[tuple[str, object]]) -> None:
    def fill(active: Any) -> None:
        for row in rows:
            active.append(row)

    [(anchor, text)] = _read(tmp_path, fill)
    assert anchor == "Data!A1:B3"
    assert text.splitlines()[0] == " | ".join(map(str, rows[0]))


def test_a_header_above_words_and_numbers_is_one(tmp_path: Path) -> None:
    def fill(active: Any) -> None:
        for row in [("Item", "Price"), ("Chair", 50), ("Desk", 150), ("Lamp", 20), ("Water", "free")]:
            active.append(row)

    assert [anchor for anchor, _ in _read(tmp_path, fill)] == ["Data!A2:B5"]


def test_numbers_without_a_format_have_their_exponent_as_excel_writes_it(tmp_path: Path) -> None:
    assert _read(tmp_path, lambda active: active.append(["Atoms", 1e20]))[0][1].endswith("1E+20")
