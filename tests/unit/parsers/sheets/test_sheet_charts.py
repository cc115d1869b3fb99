"""Charts of workbooks: values that a sheet of the file has are read once, the others from the chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.sheets import ods, sheet
from tests.tables.stored import stored_tables
from tests.unit.parsers.charts import cached, chart_part, series
from tests.unit.parsers.documents.test_charts import odf_chart
from tests.unit.parsers.files import zip_of
from tests.unit.parsers.ooxml import NAMESPACES, relations, write_parts

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def _workbook(folder: Path, chart: str) -> list[Section]:
    """A sheet "Sales 24" with A1:B2 filled and the chart at D4."""
    path = folder / "file.xlsx"
    drawing = (
        f'<xdr:wsDr xmlns:xdr="urn:drawing" {NAMESPACES}><xdr:twoCellAnchor><xdr:from><xdr:col>3</xdr:col><xdr:row>3</xdr:row>'
        '</xdr:from><xdr:graphicFrame><c:chart r:id="c"/></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>'
    )
    rows = "".join(
        f'<row r="{at}"><c r="A{at}" t="inlineStr"><is><t>{name}</t></is></c><c r="B{at}" t="inlineStr"><is><t>{text}</t></is></c></row>'
        for at, (name, text) in enumerate((("Team", "Lead"), ("North", "Ann")), 1)
    )
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook {_MAIN} {NAMESPACES}><sheets><sheet name="Sales 24" r:id="s"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations({"s": ("worksheet", "worksheets/sheet1.xml")}),
        "xl/worksheets/sheet1.xml": f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>",
        "xl/worksheets/_rels/sheet1.xml.rels": relations({"d": ("drawing", "../drawings/drawing1.xml")}),
        "xl/drawings/drawing1.xml": drawing,
        "xl/drawings/_rels/drawing1.xml.rels": relations({"c": ("chart", "../charts/chart1.xml")}),
        "xl/charts/chart1.xml": chart,
    }
    write_parts(path, parts, "xl/workbook.xml")
    return list(sheet.parse(path))


def _sales(cells: str) -> str:
    months = cached(["May", "June"], cells=cells.replace("$B", "$A"), kind="str")
    return chart_part(
        "Sales",
        series("Amount", months, cached([12.5, 7], "0.0", cells)),
        axes={"valAx": "k€", "catAx": "Month"},
    )


def _beyond_the_cells(sections: list[Section]) -> list[tuple[str, str]]:
    assert (sections[0].anchor, sections[0].text) == ("Sales 24!A2:B2", "Team | Lead\nNorth | Ann")
    return [(section.anchor, section.text) for section in sections[1:]]


@pytest.mark.parametrize(
    "cells", ["'Sales 24'!$B$2:$B$3", "('SALES 24'!$B$2,'Sales 24'!$B$3)", "[0]!Amounts", "Amounts"]
)
def test_values_that_are_cells_of_a_read_sheet_are_not_repeated(cells: str, tmp_path: Path) -> None:
    assert _beyond_the_cells(_workbook(tmp_path, _sales(cells))) == [
        ("Sales 24!D4", "Chart: Sales (k€; Month)")
    ]


@pytest.mark.parametrize(
    "cells", ["", "'[Book 2.xlsx]Sales 24'!$B$2:$B$3", "[1]Data!$B$2", "#REF!$B$2", "Gone!$B$2:$B$3"]
)
def test_values_from_elsewhere_are_read_from_the_chart(cells: str, tmp_path: Path) -> None:
    assert _beyond_the_cells(_workbook(tmp_path, _sales(cells))) == [
        ("Sales 24!D4", "Chart: Sales (k€; Month)"),
        ("Sales 24!D4, chart", "Month | Amount (k€)\nMay | 12.5\nJune | 7.0"),
    ]


async def test_a_chart_of_a_workbook_is_a_table_of_its_own_place(tmp_path: Path) -> None:
    _workbook(tmp_path, _sales("[1]Data!$B$2:$B$3"))
    _, stored = await stored_tables(tmp_path / "tables", [tmp_path / "file.xlsx"])
    assert [(one.table.caption, one.table.place) for one in stored] == [
        ("Sales 24", "Sales 24!A2:B2"),
        ("Sales 24 › Sales", "Sales 24!D4, chart"),
    ]


def test_a_chart_of_the_new_kind_is_read_if_its_cells_are_elsewhere(tmp_path: Path) -> None:
    def chart(cells: str) -> str:
        return (
            f'<cx:chartSpace {NAMESPACES}><cx:chartData><cx:data id="0"><cx:strDim><cx:lvl><cx:pt idx="0">Rent</cx:pt></cx:lvl>'
            f'</cx:strDim><cx:numDim><cx:f>{cells}</cx:f><cx:lvl formatCode="0.0"><cx:pt idx="0">5</cx:pt></cx:lvl></cx:numDim>'
            "</cx:data></cx:chartData><cx:chart><cx:plotArea><cx:plotAreaRegion><cx:series><cx:dataId val='0'/></cx:series>"
            "</cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>"
        )

    assert _beyond_the_cells(_workbook(tmp_path, chart("Gone!A1"))) == [
        ("Sales 24!D4, chart", " | Series 1\nRent | 5.0")
    ]
    assert _beyond_the_cells(_workbook(tmp_path, chart("'Sales 24'!A1"))) == []


@pytest.mark.parametrize("chart", ["<c:chartSpace", "", chart_part("x" * (33 << 20))])
def test_a_damaged_chart_leaves_the_cells(chart: str, tmp_path: Path) -> None:
    assert _beyond_the_cells(_workbook(tmp_path, chart)) == [
        (
            "Sales 24!D4",
            "Charts were not read (Sales 24!D4): they are damaged, or there is too much in them.",
        )
    ]


def _spreadsheet(folder: Path, chart: str) -> list[tuple[str, str]]:
    path = folder / "file.ods"
    names = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{names}:office:1.0" xmlns:table="{names}:table:1.0" '
        f'xmlns:text="{names}:text:1.0" xmlns:draw="{names}:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">'
        '<office:body><office:spreadsheet><table:table table:name="Data"><table:table-row><table:table-cell>'
        '<text:p>Team</text:p><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
    )
    mimetype = b"application/vnd.oasis.opendocument.spreadsheet"
    path.write_bytes(
        zip_of(
            {"mimetype": mimetype, "content.xml": content.encode(), "Object 1/content.xml": chart.encode()}
        )
    )
    return [(section.anchor, section.text) for section in ods.parse(path)]


def test_a_chart_of_an_opendocument_sheet_is_read_unless_its_cells_are(tmp_path: Path) -> None:
    words = ("Data!A1", "Team"), ("Data!A1", "Chart: Visitors (by quarter; Quarter; thousands)")
    assert _spreadsheet(tmp_path, odf_chart()) == [
        *words,
        ("Data!A1, chart", "Quarter | Museum (thousands) | Park (thousands)\nQ1 | 1.234 | 5\nQ2 |  | 6"),
    ]
    assert _spreadsheet(tmp_path, odf_chart("Data.B2:Data.B3")) == list(words)
    assert _spreadsheet(tmp_path, odf_chart()[:300])[1:] == [
        ("Data!A1", "Charts were not read (Data!A1): they are damaged, or there is too much in them.")
    ]
