"""PowerPoint files: slides in order with their content in reading order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import PROG_ID
from pptx.util import Inches

from rag_engine.parsers.documents import pptx as pptx_parser
from rag_engine.types import Section
from tests.unit.parsers.files import CHINESE, GERMAN, write_pptx, write_xlsx
from tests.unit.parsers.ooxml import box, part, relations, slide, write_slides

if TYPE_CHECKING:
    from pathlib import Path


def _read(tmp_path: Path, *slides: str, parts: dict[str, str] | None = None, more: str = "") -> list[Section]:
    path = tmp_path / "file"
    write_slides(path, list(slides), parts, more)
    return list(pptx_parser.parse(path))


def _lines(sections: list[Section]) -> list[str]:
    return [line for section in sections for line in section.text.splitlines() if line]


def test_a_presentation(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_pptx(path)
    assert list(pptx_parser.parse(path)) == [
        Section(text=f"Kick-off\n\n{GERMAN}", anchor="slide 1", headings=("Kick-off",)),
        Section(text="Say it slowly.", anchor="slide 1, notes", headings=("Kick-off", "Notes")),
        Section(text=f"Office | Days\n{CHINESE} | 30", anchor="slide 2", kind="table"),
    ]


def test_slides_come_in_the_order_of_the_presentation_and_hidden_ones_say_so(tmp_path: Path) -> None:
    path = tmp_path / "file"
    presentation = cast("Any", pptx.Presentation())
    for title in ("First", "Second", "Third"):
        one = presentation.slides.add_slide(presentation.slide_layouts[5])
        one.shapes.title.text = title
    presentation.slides[1]._element.set("show", "0")
    order = presentation.slides._sldIdLst
    order.insert(0, order[2])
    presentation.save(str(path))
    assert [(section.anchor, section.headings) for section in pptx_parser.parse(path)] == [
        ("slide 1", ("Third",)),
        ("slide 2", ("First",)),
        ("slide 3", ("Hidden slide", "Second")),
    ]


def test_the_prompts_of_a_layout_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "file"
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[1])
    one.placeholders[1].text = "Only the body"
    presentation.save(str(path))
    assert [section.text for section in pptx_parser.parse(path)] == ["Only the body"]


def test_boxes_are_read_by_position_and_not_in_drawn_order(tmp_path: Path) -> None:
    sections = _read(
        tmp_path,
        slide(
            box("bottom right", (600, 500, 300, 100)),
            box("top right", (600, 200, 300, 100)),
            box("The title", (0, 0, 900, 100), 'type="title"'),
            box("bottom left", (0, 510, 300, 100)),
            box("top left", (0, 210, 300, 90)),
        ),
    )
    # The gap between the columns is wider than that between the rows.
    assert _lines(sections) == ["The title", "top left", "bottom left", "top right", "bottom right"]


def test_rows_of_boxes(tmp_path: Path) -> None:
    boxes = [
        box(f"{row}{column}", (column * 210, row * 300, 200, 100)) for column in (2, 0, 1) for row in (1, 0)
    ]
    assert _lines(_read(tmp_path, slide(*boxes))) == ["00", "01", "02", "10", "11", "12"]


def test_a_short_line_above_columns_comes_first(tmp_path: Path) -> None:
    cards = [
        box(f"{'card' if upper else 'text'} {column}", (column * 300, 100 if upper else 150, 60, 40))
        for column in (0, 1)
        for upper in (True, False)
    ]
    said = _lines(_read(tmp_path, slide(*cards, box("heading", (310, 40, 50, 40)))))
    assert said == ["heading", "card 0", "text 0", "card 1", "text 1"]


def test_groups_are_read_as_one(tmp_path: Path) -> None:
    group = (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="g"/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="0" y="300"/>'
        '<a:ext cx="200" cy="200"/></a:xfrm></p:grpSpPr>'
        + box("group, lower", (0, 90, 10, 10))
        + box("group, upper", (0, 20, 10, 10))
        + "</p:grpSp>"
    )
    below = box("below", (0, 600, 200, 50))
    above = box("above", (0, 0, 200, 50))
    assert _lines(_read(tmp_path, slide(below, group, above))) == [
        "above",
        "group, upper",
        "group, lower",
        "below",
    ]


def test_a_shape_without_a_position_has_that_of_its_layout(tmp_path: Path) -> None:
    layout = part(
        "p:sldLayout",
        "<p:cSld><p:spTree>"
        + box("Click to add text", (0, 100, 900, 50), 'type="body" idx="1"')
        + "</p:spTree></p:cSld>",
    )
    parts = {
        "ppt/slideLayouts/layout.xml": layout,
        "ppt/slides/_rels/slide0.xml.rels": relations({"l": ("slideLayout", "../slideLayouts/layout.xml")}),
    }
    drawn = slide(
        box("third", (0, 400, 900, 50)), box("first", (0, 0, 900, 50)), box("second", None, 'idx="1"')
    )
    assert _lines(_read(tmp_path, drawn, parts=parts)) == ["first", "second", "third"]


def test_text_on_the_master_appears_once(tmp_path: Path) -> None:
    def drawn(root: str, text: str) -> str:
        prompt = box("Click to edit", (0, 0, 9, 9), 'type="body" idx="1"')
        return part(root, f"<p:cSld><p:spTree>{box(text, (0, 90, 9, 9))}{prompt}</p:spTree></p:cSld>")

    to_layout = relations({"l": ("slideLayout", "../slideLayouts/l.xml")})
    parts = {
        "ppt/slideLayouts/l.xml": drawn("p:sldLayout", "On the layout"),
        "ppt/slideLayouts/_rels/l.xml.rels": relations({"m": ("slideMaster", "../slideMasters/m.xml")}),
        "ppt/slideMasters/m.xml": drawn("p:sldMaster", "Acme, confidential"),
        "ppt/slides/_rels/slide0.xml.rels": to_layout,
        "ppt/slides/_rels/slide1.xml.rels": to_layout,
    }
    assert _lines(_read(tmp_path, slide(box("one")), slide(box("two")), parts=parts)) == [
        *("one", "On the layout", "Acme, confidential", "two")
    ]


def test_numbers_dates_and_footers_of_slides(tmp_path: Path) -> None:
    def numbered(text: str) -> str:
        footer = box("Acme, confidential", (0, 900, 100, 10), 'type="ftr"')
        return slide(box(text, (0, 0, 10, 10)), footer, box("7", (500, 900, 10, 10), 'type="sldNum"'))

    assert _lines(_read(tmp_path, numbered("one"), numbered("two"))) == ["one", "Acme, confidential", "two"]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ('<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:t>a</a:t></a:r></a:p>' * 2, "1. a\n2. a"),
        ('<a:p><a:r><a:t>m</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>2</a:t></a:r></a:p>', "m²"),
        ('<a:p><a:pPr lvl="1"/><a:r><a:t>deep</a:t></a:r></a:p>', "- deep"),
        ("<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r></a:p>", "a\nb"),
        ('<a:p><a:fld type="slidenum"><a:t>4</a:t></a:fld><a:fld type="datetime1"><a:t>1 May</a:t></a:fld></a:p>', "1 May"),
        ('<a:p><a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t>\uf0e0 go</a:t></a:r></a:p>', "→ go"),
        (
            '<a:p><mc:AlternateContent><mc:Choice Requires="a14"><a14:m><m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>a</m:t>'
            "</m:r></m:num><m:den><m:r><m:t>b+1</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara></a14:m></mc:Choice>"
            "<mc:Fallback><a:r><a:t> </a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>",
            "a/(b+1)",
        ),
    ],
)  # fmt: skip
def test_paragraphs(tmp_path: Path, inside: str, text: str) -> None:
    body = f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='x'/></p:nvSpPr><p:txBody>{inside}</p:txBody></p:sp>"
    (section,) = _read(tmp_path, slide(body))
    assert section.text == text


def test_merged_cells(tmp_path: Path) -> None:
    path = tmp_path / "file"
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = one.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, texts in enumerate((("Team", "Cost", ""), ("North", "1", "2"), ("", "3", "4"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    presentation.save(str(path))
    (section,) = pptx_parser.parse(path)
    assert section.text == "Team | Cost | Cost\nNorth | 1 | 2\nNorth | 3 | 4"


def test_a_chart_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "file"
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = cast("Any", CategoryChartData)(number_format="0.0")
    data.categories = ["Q1", "Q2"]
    data.add_series("North", (19.25, None))
    data.add_series("South", (7, 8.5))
    frame = one.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(4), data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Sales"
    presentation.save(str(path))
    title, table = pptx_parser.parse(path)
    assert (title.text, title.anchor) == ("Chart: Sales", "slide 1")
    assert table.headings == ("Sales",)
    assert [row.split(" | ") for row in table.text.splitlines()[1:]] == [
        ["Q1", "19.25", "7.0"],
        ["Q2", "", "8.5"],
    ]
    assert table.text.splitlines()[0] == " | North | South"


def _frame(pointer: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="1" name="x"/></p:nvGraphicFramePr><a:graphic><a:graphicData>'
        f"{pointer}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def test_a_diagram_is_a_list(tmp_path: Path) -> None:
    def point(identifier: str, text: str, kind: str = "node") -> str:
        words = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>"
        return f'<dgm:pt modelId="{identifier}" type="{kind}">{words}</dgm:pt>'

    links = (("0", "2", 1), ("0", "1", 0), ("1", "3", 0), ("3", "1", 0))
    model = part(
        "dgm:dataModel",
        f"<dgm:ptLst>{point('0', '', 'doc')}{point('1', 'Plan')}{point('2', 'Build')}{point('3', 'Ask')}"
        f"{point('9', 'drawn', 'pres')}</dgm:ptLst><dgm:cxnLst>"
        + "".join(f'<dgm:cxn srcId="{a}" destId="{b}" srcOrd="{at}"/>' for a, b, at in links)
        + "</dgm:cxnLst>",
    )
    parts = {
        "ppt/diagrams/data1.xml": model,
        "ppt/slides/_rels/slide0.xml.rels": relations({"d": ("diagramData", "../diagrams/data1.xml")}),
    }
    assert _lines(_read(tmp_path, slide(_frame('<dgm:relIds r:dm="d"/>')), parts=parts)) == [
        *("- Plan", "  - Ask", "- Build")
    ]


def _chart(tmp_path: Path, inside: str, root: str = "c:chartSpace", pointer: str = "c:chart") -> list[str]:
    parts = {
        "ppt/charts/chart1.xml": part(root, inside),
        "ppt/slides/_rels/slide0.xml.rels": relations({"d": ("chart", "../charts/chart1.xml")}),
    }
    frame = _frame(f'<{pointer} r:id="d"/>')
    wrapped = f'<mc:AlternateContent><mc:Choice Requires="cx1">{frame}</mc:Choice><mc:Fallback/></mc:AlternateContent>'
    return _lines(_read(tmp_path, slide(wrapped), parts=parts))


def test_nested_categories_percentages_and_dates_of_a_chart(tmp_path: Path) -> None:
    def points(*texts: str) -> str:
        return "".join(f'<c:pt idx="{at}"><c:v>{text}</c:v></c:pt>' for at, text in enumerate(texts) if text)

    inner, outer = points("Q1", "Q2", "Q1"), points("2023", "", "2024")
    values = f"<c:numRef><c:numCache><c:formatCode>0.0%</c:formatCode>{points('0.125', '', '0.2')}</c:numCache></c:numRef>"
    series = (
        "<c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Share</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:multiLvlStrRef><c:multiLvlStrCache><c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl></c:multiLvlStrCache>"
        f"</c:multiLvlStrRef></c:cat><c:val>{values}</c:val></c:ser>"
    )
    chart = f"<c:chart><c:plotArea><c:barChart>{series}</c:barChart></c:plotArea></c:chart>"
    assert _chart(tmp_path, chart) == [" | Share", "2023, Q1 | 12.5%", "2024, Q1 | 20.0%"]
    dates = (
        "<c:ser><c:cat><c:numRef><c:numCache><c:formatCode>yyyy\\-mm\\-dd</c:formatCode>"
        f"{points('45352')}</c:numCache></c:numRef></c:cat><c:val><c:numLit>{points('7')}</c:numLit></c:val></c:ser>"
    )
    chart = f"<c:chart><c:plotArea><c:lineChart>{dates}</c:lineChart></c:plotArea></c:chart>"
    assert _chart(tmp_path, chart) == [" | Series 1", "2024-03-01 | 7"]


def test_a_chart_of_the_new_kind(tmp_path: Path) -> None:
    chart = (
        '<cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">Rent</cx:pt></cx:lvl></cx:strDim>'
        '<cx:numDim type="val"><cx:lvl><cx:pt idx="0">-40</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>'
        "<cx:chart><cx:title><cx:tx><cx:txData><cx:v>Costs</cx:v></cx:txData></cx:tx></cx:title><cx:plotArea>"
        "<cx:plotAreaRegion><cx:series><cx:tx><cx:txData><cx:v>Year</cx:v></cx:txData></cx:tx><cx:dataId val='0'/>"
        "</cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart>"
    )
    assert _chart(tmp_path, chart, "cx:chartSpace", "cx:chart") == ["Chart: Costs", " | Year", "Rent | -40"]


def test_a_workbook_on_a_slide(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "book.xlsx")
    path = tmp_path / "file"
    presentation = cast("Any", pptx.Presentation())
    one = presentation.slides.add_slide(presentation.slide_layouts[6])
    one.shapes.add_ole_object(str(tmp_path / "book.xlsx"), PROG_ID.XLSX, 0, 0)
    presentation.save(str(path))
    sections = list(pptx_parser.parse(path))
    assert {section.anchor for section in sections} == {"slide 1"}
    assert any("Köln | 2024-03-01" in section.text for section in sections)


def test_comments_of_both_generations(tmp_path: Path) -> None:
    classic = part(
        "p:cmLst",
        '<p:cm authorId="0" idx="1"><p:text>Too long.</p:text></p:cm><p:cm authorId="1" idx="1"><p:text>Cut it.</p:text>'
        '<p:extLst><p:ext><p15:threadingInfo><p15:parentCm authorId="0" idx="1"/></p15:threadingInfo></p:ext></p:extLst>'
        "</p:cm>",
    )
    said = "<p188:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p188:txBody>"
    modern = part(
        "p188:cmLst",
        f'<p188:cm authorId="{{A}}" status="resolved">{said.format("New?")}<p188:replyLst><p188:reply authorId="0">'
        f"{said.format('Yes.')}</p188:reply></p188:replyLst></p188:cm>",
    )
    parts = {
        "ppt/comments/a.xml": classic,
        "ppt/comments/b.xml": modern,
        "ppt/slides/_rels/slide0.xml.rels": relations(
            {"a": ("comments", "../comments/a.xml"), "b": ("comments", "../comments/b.xml")}
        ),
        "ppt/commentAuthors.xml": part(
            "p:cmAuthorLst", '<p:cmAuthor id="0" name="Ines"/><p:cmAuthor id="1" name="Tomas"/>'
        ),
        "ppt/authors.xml": part("p188:authorLst", '<p188:author id="{A}" name="Mei"/>'),
        "ppt/_rels/presentation.xml.rels": relations(
            {
                "s0": ("slide", "slides/slide0.xml"),
                "c": ("commentAuthors", "commentAuthors.xml"),
                "d": ("authors", "authors.xml"),
            }
        ),
    }
    _, *comments = _read(tmp_path, slide(box("Text")), parts=parts)
    assert [(section.anchor, section.text) for section in comments] == [
        ("slide 1, comment 1", "Comment 1 by Ines: Too long.\nReply by Tomas: Cut it."),
        ("slide 1, comment 2", "Comment 2 by Mei: New? (resolved)\nReply by Ines: Yes."),
    ]


def test_sections_of_the_presentation_are_headings(tmp_path: Path) -> None:
    more = (
        '<p:extLst><p:ext><p14:sectionLst><p14:section name="Default Section"><p14:sldIdLst><p14:sldId id="256"/>'
        '</p14:sldIdLst></p14:section><p14:section name="Results"><p14:sldIdLst><p14:sldId id="257"/></p14:sldIdLst>'
        "</p14:section></p14:sectionLst></p:ext></p:extLst>"
    )
    first, second = _read(tmp_path, slide(box("a")), slide(box("b", None, 'type="title"')), more=more)
    assert (first.headings, second.headings) == ((), ("Results", "b"))


def test_a_line_in_the_largest_letters_is_the_title_if_none_is_marked(tmp_path: Path) -> None:
    large = box("Our plan", (0, 0, 900, 100)).replace("<a:r>", '<a:r><a:rPr sz="4400"/>')
    (section,) = _read(tmp_path, slide(box("and its steps", (0, 300, 900, 100)), large))
    assert section.headings == ("Our plan",)
