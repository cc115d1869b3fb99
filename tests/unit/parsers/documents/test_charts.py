"""Charts of Word, PowerPoint and OpenDocument files: what a reader takes from them, within limits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import pptx
import pytest
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from rag_engine.parsers.documents import docx as docx_parser
from rag_engine.parsers.documents import odt as odt_parser
from rag_engine.parsers.documents import pptx as pptx_parser
from tests.tables.stored import stored_tables
from tests.unit.parsers.charts import cached, chart_part, series
from tests.unit.parsers.files import zip_of
from tests.unit.parsers.ooxml import box, paragraph, part, relations, slide, write_parts, write_slides
from tests.unit.parsers.parsed import places

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section

_MONTHS = cached(["January", "February"], cells="Sheet1!$A$2:$A$3", kind="str")
_DAMAGED = "Charts were not read ({}): they are damaged, or there is too much in them."


def _frame(relation: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="1" name="x"/></p:nvGraphicFramePr><a:graphic><a:graphicData>'
        f'<c:chart r:id="{relation}"/></a:graphicData></a:graphic></p:graphicFrame>'
    )


def _slides(folder: Path, *charts: str, shown: int = 1) -> list[Section]:
    """A presentation with one slide and each of the charts on it."""
    path = folder / "file.pptx"
    frames = [_frame(f"c{at}") for at in range(len(charts))] * shown
    links = {f"c{at}": ("chart", f"../charts/chart{at}.xml") for at in range(len(charts))}
    parts = {f"ppt/charts/chart{at}.xml": text for at, text in enumerate(charts)}
    write_slides(
        path,
        [slide(box("Our year", placeholder='type="title"'), *frames)],
        {**parts, "ppt/slides/_rels/slide0.xml.rels": relations(links)},
    )
    return list(pptx_parser.parse(path))


def _table(sections: list[Section]) -> list[str]:
    (table,) = [section for section in sections if section.kind == "table"]
    return table.text.splitlines()


def test_titles_of_axes_name_the_columns(tmp_path: Path) -> None:
    chart = chart_part(
        "Revenue",
        series("North", _MONTHS, cached([1250.5, 990])),
        series("South", _MONTHS, cached([7, 8])),
        axes={"catAx": "Month", "valAx": "thousand euros"},
    )
    sections = _slides(tmp_path, chart)
    assert places(sections) == [
        ("slide 1", ("Our year",), "Our year\n\nChart: Revenue (Month; thousand euros)"),
        (
            "slide 1",
            ("Our year", "Revenue"),
            "Month | North (thousand euros) | South (thousand euros)\nJanuary | 1250.5 | 7\nFebruary | 990 | 8",
        ),
    ]


def test_an_axis_in_millions_does_not_name_the_unit_of_its_values(tmp_path: Path) -> None:
    for scale in ("<c:dispUnits/>", '<c:numFmt formatCode="#,##0,,"/>'):
        values = cached([2_000_000, 1], code="#,##0")
        chart = chart_part("Sales", series("All", _MONTHS, values), axes={"valAx": f"€ million{scale}"})
        assert _table(_slides(tmp_path, chart)) == [" | All", "January | 2,000,000", "February | 1"]


def test_the_only_series_of_a_chart_is_its_automatic_title(tmp_path: Path) -> None:
    sections = _slides(tmp_path, chart_part(None, series("Heads", _MONTHS, cached([3, 4]))))
    assert [section.text for section in sections] == [
        "Our year\n\nChart: Heads",
        " | Heads\nJanuary | 3\nFebruary | 4",
    ]
    chart = chart_part(None, *(series(name, _MONTHS, cached([3, 4])) for name in ("A", "B")))
    assert [section.headings for section in _slides(tmp_path, chart)] == [("Our year",), ("Our year",)]


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        ("1234567.5", "#,##0", "1,234,567.5"),
        ("1234.5", "&quot;€&quot;\\ #,##0.00", "€ 1,234.50"),
        ("-40", "[$$-409]#,##0;[Red]([$$-409]#,##0)", "($40)"),
        ("0.125", "0%", "12.5%"),
        ("0.333333333333333", "0%", "33%"),
        ("0.33333333333333331", "General", "0.333333333333333"),
        ("1234000", "0.0,,&quot;M&quot;", "1.234M"),
        ("45352", "d\\-mmm\\-yyyy", "1-Mar-2024"),
        ("0.75", "h:mm", "18:00"),
        ("#N/A", "General", "#N/A"),
        ("7", ";;;", "7"),
    ],
)
def test_values_have_their_format_and_the_digits_that_were_typed(
    value: str, code: str, shown: str, tmp_path: Path
) -> None:
    chart = chart_part("Any", series("Value", _MONTHS, cached([value], code=code)))
    assert _table(_slides(tmp_path, chart)) == [" | Value", f"January | {shown}"]


async def test_a_chart_is_a_typed_table_with_exact_values(tmp_path: Path) -> None:
    path = tmp_path / "report.pptx"
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[6])
    for title, values in (("Costs 2024", (0.5, 1234.5678)), ("Costs 2025", (3, 4))):
        data = cast("Any", CategoryChartData)(number_format="[$€-407] #,##0.00")
        data.categories = ["Rent", "Travel"]
        data.add_series("Amount", values)
        frame = one.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, Inches(4), Inches(4), data)
        frame.chart.has_title = True
        frame.chart.chart_title.text_frame.text = title
    presentation.save(str(path))
    _, stored = await stored_tables(tmp_path / "tables", [path])
    tables = [one.table for one in stored]
    assert [(table.caption, table.place, table.row_count) for table in tables] == [
        ("Costs 2024", "slide 1", 2),
        ("Costs 2025", "slide 1", 2),
    ]
    amount = tables[0].columns[1]
    assert (amount.kind, amount.unit, amount.greatest) == ("number", "€", 1234.5678)
    assert amount.values == ("€ 0.50", "€ 1,234.5678")


async def test_untitled_charts_beside_each_other_are_two_tables(tmp_path: Path) -> None:
    chart = chart_part("", series("Amount", _MONTHS, cached([1, 2])))
    _slides(tmp_path, chart, chart.replace("<c:v>1<", "<c:v>7<"))
    _, stored = await stored_tables(tmp_path / "tables", [tmp_path / "file.pptx"])
    assert [one.table.columns[1].least for one in stored] == [1, 2]


def test_points_are_tables_by_their_across_values(tmp_path: Path) -> None:
    path = tmp_path / "file"
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = cast("Any", XyChartData)()
    for name, points in (("Pumps", ((10, 2.5), (20, 5))), ("Fans", ((1, 7),))):
        added = data.add_series(name)
        for x, y in points:
            added.add_data_point(x, y)
    frame = one.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, 0, Inches(4), Inches(4), data)
    for axis, title in ((frame.chart.category_axis, "Flow (l/s)"), (frame.chart.value_axis, "Power (kW)")):
        axis.has_title = True
        axis.axis_title.text_frame.text = title
    presentation.save(str(path))
    tables = [section.text for section in pptx_parser.parse(path) if section.kind == "table"]
    assert tables == [
        "Flow (l/s) | Pumps, Power (kW)\n10 | 2.5\n20 | 5",
        "Flow (l/s) | Fans, Power (kW)\n1 | 7",
    ]


def _word(folder: Path, chart: str | bytes) -> list[Section]:
    path = folder / "file.docx"
    drawing = (
        '<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="x"/><a:graphic><a:graphicData><c:chart r:id="c"/>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )
    body = f"<w:body>{paragraph('Costs', 'Heading1')}{drawing}{paragraph('That was all.')}</w:body>"
    styles = part("w:styles", '<w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>')
    links = relations({"c": ("chart", "charts/chart1.xml"), "s": ("styles", "styles.xml")})
    parts: dict[str, str | bytes] = {
        "word/document.xml": part("w:document", body),
        "word/styles.xml": styles,
        "word/charts/chart1.xml": chart,
        "word/_rels/document.xml.rels": links,
    }
    write_parts(path, parts, "word/document.xml")
    return list(docx_parser.parse(path))


def test_a_chart_of_a_word_document_is_under_its_heading(tmp_path: Path) -> None:
    sections = _word(tmp_path, chart_part("By month", series("Amount", _MONTHS, cached([1, 2]))))
    assert places(sections) == [
        ("§ Costs", ("Costs",), "Costs\n\nChart: By month"),
        ("§ Costs", ("Costs", "By month"), " | Amount\nJanuary | 1\nFebruary | 2"),
        ("§ Costs", ("Costs",), "That was all."),
    ]


def test_a_strict_file_has_the_same_charts(tmp_path: Path) -> None:
    chart = chart_part("By month", series("Amount", _MONTHS, cached([1, 2])))
    plain = _word(tmp_path, chart)
    strict = chart.replace(
        "http://schemas.openxmlformats.org/drawingml/2006", "http://purl.oclc.org/ooxml/drawingml"
    )
    assert strict != chart
    assert places(_word(tmp_path, strict)) == places(plain)


@pytest.mark.parametrize(
    "chart",
    [
        "<c:chartSpace",
        "",
        '<!DOCTYPE x [<!ENTITY a "aaaa">]>' + "<x>&a;</x>",
        b"\xff\xfe\x00",
        chart_part("x" * (9 << 20)),
        chart_part(
            "Many",
            *(
                series(f"S{at}", _MONTHS, f'<c:numLit><c:pt idx="{at}"><c:v>1</c:v></c:pt></c:numLit>')
                for at in range(2_000)
            ),
        ),
    ],
    ids=["cut", "empty", "entities", "bytes", "large", "diagonal"],
)
def test_a_chart_that_cannot_be_read_is_said_and_the_document_is_read(
    chart: str | bytes, tmp_path: Path
) -> None:
    started = time.monotonic()
    *others, notice = _word(tmp_path, chart)
    assert time.monotonic() - started < 10
    assert (notice.text, notice.kind) == (_DAMAGED.format("§ Costs"), "notice")
    assert "That was all." in "\n".join(section.text for section in others)
    assert sum(len(section.text) for section in others) < 1_000


def test_one_chart_shown_without_end_is_read_within_limits(tmp_path: Path) -> None:
    values = cached(["1"] * 2_000)
    sections = _slides(tmp_path, chart_part("Same", series("Amount", values, values)), shown=500)
    rows = sum(section.text.count("\n") for section in sections if section.kind == "table")
    assert 40_000 < rows < 120_000
    assert sections[-1].text == _DAMAGED.format("slide 1")


def test_long_names_do_not_multiply(tmp_path: Path) -> None:
    long = "long " * 40_000
    outer = cached([long], kind="str").replace("strLit", "lvl")
    inner = cached(["x"] * 3_000, kind="str").replace("strLit", "lvl")
    nested = f"<c:multiLvlStrRef><c:multiLvlStrCache>{inner}{outer}</c:multiLvlStrCache></c:multiLvlStrRef>"
    chart = chart_part(long, series(long, nested, cached(["1"] * 3_000)), axes={"catAx": long})
    assert (
        sum(len(section.text) + len(str(section.headings)) for section in _slides(tmp_path, chart)) < 2 << 20
    )


_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{_ODF}:{name}:1.0"'
    for prefix, name in (
        *((one, one) for one in ("office", "text", "table", "chart")),
        ("draw", "drawing"),
    )
)


def odf_chart(values: str = "local-table.B2:.B3") -> str:
    """With the copy of its cells that LibreOffice keeps."""

    def row(*cells: str) -> str:
        written = (
            f'<table:table-cell office:value-type="float" office:value="{cell}"><text:p>{cell}</text:p></table:table-cell>'
            if cell.replace(".", "").isdecimal() or cell == "NaN"
            else f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            for cell in cells
        )
        return f"<table:table-row>{''.join(written)}</table:table-row>"

    return (
        f"<office:document-content {_ODF_NAMESPACES}><office:body><office:chart><chart:chart>"
        "<chart:title><text:p>Visitors</text:p></chart:title><chart:subtitle><text:p>by quarter</text:p></chart:subtitle>"
        '<chart:plot-area><chart:axis chart:dimension="x"><chart:title><text:p>Quarter</text:p></chart:title></chart:axis>'
        '<chart:axis chart:dimension="y"><chart:title><text:p>thousands</text:p></chart:title></chart:axis>'
        f'<chart:series chart:values-cell-range-address="{values}"/></chart:plot-area>'
        f"<table:table table:name='local-table'><table:table-header-rows>{row('', 'Museum', 'Park')}</table:table-header-rows>"
        f"<table:table-rows>{row('Q1', '1.234', '5')}{row('Q2', 'NaN', '6')}</table:table-rows></table:table>"
        "</chart:chart></office:chart></office:body></office:document-content>"
    )


def _odt(folder: Path, chart: str) -> list[Section]:
    path = folder / "file.odt"
    body = (
        "<text:h text:outline-level='1'>Year</text:h><text:p><draw:frame><draw:object "
        'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"/></draw:frame></text:p>'
    )
    content = (
        f"<office:document-content {_ODF_NAMESPACES}><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    mimetype = b"application/vnd.oasis.opendocument.text"
    path.write_bytes(
        zip_of(
            {"mimetype": mimetype, "content.xml": content.encode(), "Object 1/content.xml": chart.encode()}
        )
    )
    return list(odt_parser.parse(path))


async def test_a_chart_of_an_opendocument_text_is_a_table(tmp_path: Path) -> None:
    assert places(_odt(tmp_path, odf_chart())) == [
        ("§ Year", ("Year",), "Year\n\nChart: Visitors (by quarter; Quarter; thousands)"),
        (
            "§ Year",
            ("Year", "Visitors"),
            "Quarter | Museum (thousands) | Park (thousands)\nQ1 | 1.234 | 5\nQ2 |  | 6",
        ),
    ]
    _, (stored,) = await stored_tables(tmp_path / "tables", [tmp_path / "file.odt"])
    assert [column.greatest for column in stored.table.columns[1:]] == [1.234, 6]


def test_a_damaged_chart_of_an_opendocument_text_is_said(tmp_path: Path) -> None:
    *others, notice = _odt(tmp_path, odf_chart()[:400])
    assert [section.text for section in others] == ["Year"]
    assert notice.text == _DAMAGED.format("§ Year")
