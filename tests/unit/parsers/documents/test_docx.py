"""Word files: headings, paragraphs and their anchored objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import docx
import pytest
from docx.oxml.parser import parse_xml

from rag_engine.parsers.documents import docx as docx_parser
from rag_engine.types import Section
from tests.unit.parsers.files import CHINESE, GERMAN, write_docx
from tests.unit.parsers.ooxml import NAMESPACES, paragraph, part, style, write_word

if TYPE_CHECKING:
    from pathlib import Path

_RIGHT_NOW = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'


def _read(tmp_path: Path, body: str, **parts: str) -> list[Section]:
    path = tmp_path / "file"
    write_word(path, body, **parts)
    return list(docx_parser.parse(path))


def _text(tmp_path: Path, body: str, **parts: str) -> str:
    return "\n".join(section.text for section in _read(tmp_path, body, **parts))


def _field(code: str, result: str) -> str:
    begin, separate, end = (_RIGHT_NOW.format(kind) for kind in ("begin", "separate", "end"))
    return f"{begin}<w:r><w:instrText>{code}</w:instrText></w:r>{separate}{result}{end}"


def test_a_word_document(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_docx(path)
    sick: dict[str, Any] = {"anchor": "§ Sick leave", "headings": ("Leave", "Sick leave")}
    assert list(docx_parser.parse(path)) == [
        Section(text="Before any heading."),
        Section(text=f"Leave\n\n{GERMAN}", anchor="§ Leave", headings=("Leave",)),
        Section(text="Sick leave", **sick),
        Section(text="- Call before nine.\n- Bring a note.", kind="list", **sick),
        Section(text="Office | Days\nKöln | 30", kind="table", **sick),
        Section(text=f"Reports\n\n{CHINESE}", anchor="§ Reports", headings=("Reports",)),
    ]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<w:r><w:t>In</w:t></w:r><w:r><w:t>ter</w:t></w:r>", "Inter"),
        (
            '<w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>',
            "10⁶",
        ),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>", "a\tb\nc"),
        ("<w:r><w:t>co</w:t><w:softHyphen/><w:t>op</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r>", "coop-x"),
        (
            "<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>",
            "new",
        ),
        (
            "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo>",
            "moved",
        ),
        ("<w:sdt><w:sdtContent><w:r><w:t>filled in</w:t></w:r></w:sdtContent></w:sdt>", "filled in"),
        (
            "<w:r><w:t>Name:</w:t></w:r><w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:r>"
            "<w:t>Click here to enter text.</w:t></w:r></w:sdtContent></w:sdt>",
            "Name:",
        ),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase>"
            "</w:ruby></w:r>",
            "東",
        ),
        ("<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:t>open</w:t></w:r>", "open"),
        ('<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r>', "shown"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t> done</w:t></w:r>', "✓ done"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>a</w:t></w:r><w:r><w:t> = 2</w:t></w:r>', "α = 2"),
        ('<w:hyperlink r:id="x"><w:r><w:t>our rules</w:t></w:r></w:hyperlink>', "our rules"),
        (
            '<w:r><w:t>see</w:t><mc:AlternateContent><mc:Choice Requires="a14"><w:t> new</w:t></mc:Choice>'
            "<mc:Fallback><w:t> old</w:t></mc:Fallback></mc:AlternateContent></w:r>",
            "see new",
        ),
        ("<w:r><w:t>area </w:t></w:r><m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r>"
         "</m:sup></m:sSup></m:oMath>", "area r^2"),
    ],
)  # fmt: skip
def test_the_words_of_a_paragraph(tmp_path: Path, inside: str, text: str) -> None:
    document = docx.Document()
    cast("Any", document).element.body.insert(0, parse_xml(f"<w:p {NAMESPACES}>{inside}</w:p>"))
    path = tmp_path / "file"
    document.save(str(path))
    assert [section.text for section in docx_parser.parse(path) if section.kind != "notice"] == [text]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"<w:r><w:t>on page </w:t></w:r>{_field('PAGE', '<w:r><w:t>7</w:t></w:r>')}", "on page"),
        (_field('HYPERLINK "http://example.org"', "<w:r><w:t>the form</w:t></w:r>"), "the form"),
        (_field("DATE", "<w:r><w:t>1 May</w:t></w:r>"), "1 May"),
        (_field("IF a = b", _field("REF x", "<w:r><w:t>yes</w:t></w:r>")), "yes"),
        (
            '<w:fldSimple w:instr="NUMPAGES"><w:r><w:t>9</w:t></w:r></w:fldSimple><w:r><w:t>all</w:t></w:r>',
            "all",
        ),
        (
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'
            "</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r>"
            + _RIGHT_NOW.format("end")
            + "<w:r><w:t> agreed</w:t></w:r>",
            "☒ agreed",
        ),
        (
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/>'
            '<w:listEntry w:val="blue"/></w:ddList></w:ffData></w:fldChar></w:r>'
            "<w:r><w:instrText>FORMDROPDOWN</w:instrText></w:r>" + _RIGHT_NOW.format("end"),
            "blue",
        ),
    ],
)
def test_fields_show_what_word_shows(tmp_path: Path, inside: str, text: str) -> None:
    assert _text(tmp_path, f"<w:p>{inside}</w:p>") == text


def test_a_field_that_never_ends_hides_nothing(tmp_path: Path) -> None:
    begin = _RIGHT_NOW.format("begin")
    body = f"<w:p>{begin}<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>" + paragraph("all the rest")
    assert _text(tmp_path, body) == "all the rest"


def test_headings_by_their_styles_whatever_they_are_called(tmp_path: Path) -> None:
    styles = part(
        "w:styles",
        style("berschrift1", "heading 1")
        + style("Eigen", "Our chapter", '<w:basedOn w:val="berschrift1"/>')
        + style("Abschnitt", "Überschrift 2")
        + style("Titel", "Title")
        + style(
            "Klein", "Small print", '<w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'
        )
        + style("Kreis", "circle", '<w:basedOn w:val="Kreis"/>'),
    )
    body = (
        paragraph("The handbook", "Titel")
        + paragraph("Leave", "Eigen")
        + paragraph("Sick leave", "Abschnitt")
        + paragraph("By outline", properties='<w:outlineLvl w:val="2"/>')
        + paragraph("no heading", "Klein")
        + paragraph("nor this", "Kreis")
    )
    *_, last = _read(tmp_path, body, styles=styles)
    assert last.headings == ("The handbook", "Leave", "Sick leave", "By outline")
    assert last.anchor == "§ By outline"
    assert last.text == "By outline\n\nno heading\n\nnor this"


def test_headings_without_the_part_that_describes_them(tmp_path: Path) -> None:
    body = paragraph("Leave", "Heading1") + paragraph("Thirty days.")
    assert [(section.anchor, section.text) for section in _read(tmp_path, body)] == [
        ("§ Leave", "Leave\n\nThirty days.")
    ]


def test_a_table_of_contents_is_left_out(tmp_path: Path) -> None:
    styles = part("w:styles", style("Heading1", "heading 1") + style("TOC1", "toc 1"))
    entry = paragraph("Leave</w:t><w:tab/><w:t>3", "TOC1")
    control = (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
        f"<w:sdtContent>{paragraph('Contents')}{entry}</w:sdtContent></w:sdt>"
    )
    unstyled = f"<w:p>{_field('TOC', '<w:r><w:t>Leave</w:t><w:tab/><w:t>iv</w:t></w:r>')}</w:p>"
    body = control + entry + unstyled + paragraph("Leave", "Heading1") + paragraph("Thirty days.")
    assert _text(tmp_path, body, styles=styles) == "Leave\n\nThirty days."


def test_a_box_is_read_once_after_its_paragraph(tmp_path: Path) -> None:
    inside = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    drawn = (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp>'
        f"<wps:txbx>{inside}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:shape><v:textbox>{inside}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    body = f"<w:p><w:r><w:t>before</w:t></w:r>{drawn}</w:p>" + paragraph("after")
    assert _text(tmp_path, body) == "before\n\nin the box\n\nafter"


@pytest.mark.parametrize(
    ("described", "text"),
    [
        ("Plan of the second floor", "Picture: Plan of the second floor\n\nx"),
        ("A dog on grass Description automatically generated", "x"),
        ("image1.png", "x"),
        ("Bild 3", "x"),
    ],
)
def test_descriptions_of_pictures(tmp_path: Path, described: str, text: str) -> None:
    drawing = f'<w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="{described}"/></wp:inline></w:drawing>'
    assert _text(tmp_path, f"<w:p><w:r>{drawing}</w:r></w:p>" + paragraph("x")) == text


def test_paragraphs_that_are_displayed_as_one(tmp_path: Path) -> None:
    body = (
        paragraph("O", properties='<w:framePr w:dropCap="drop"/>')
        + paragraph("nce upon a time")
        + paragraph("begun ", properties="<w:rPr><w:del/></w:rPr>")
        + paragraph("and gone on with")
    )
    assert _text(tmp_path, body) == "Once upon a time\n\nbegun and gone on with"


def test_headers_and_footers_appear_once_without_page_numbers(tmp_path: Path) -> None:
    header = part("w:hdr", paragraph("Confidential"))
    number = _field("PAGE", "<w:r><w:t>3</w:t></w:r>")
    footer = part(
        "w:ftr",
        f"<w:p><w:r><w:t>Harbour rules</w:t><w:tab/><w:t>Page </w:t></w:r>{number}<w:r><w:t> of </w:t></w:r>"
        f"{_field('NUMPAGES', '<w:r><w:t>9</w:t></w:r>')}</w:p>",
    )
    sections = _read(tmp_path, paragraph("Body."), header=header, footer=footer)
    assert [(section.anchor, section.text) for section in sections] == [
        ("", "Body."),
        ("§ Header", "Confidential"),
        ("§ Footer", "Harbour rules"),
    ]


def _bold(text: str, more: str = "") -> str:
    return f"<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r>{more}</w:p>"


def test_bold_lines_are_headings_in_a_text_without_heading_styles(tmp_path: Path) -> None:
    large = '<w:p><w:r><w:rPr><w:sz w:val="36"/></w:rPr><w:t>Statutes</w:t></w:r></w:p>'
    beside = _bold("Name", "<w:r><w:t> of the member</w:t></w:r>")
    body = large + _bold("Article One") + paragraph("We are.") + beside + _bold("It ends with a full stop.")
    *_, last = _read(tmp_path, body)
    assert (last.anchor, last.headings) == ("§ Article One", ("Statutes", "Article One"))
    assert last.text.endswith("Name of the member\n\nIt ends with a full stop.")


def test_bold_lines_are_text_in_a_text_with_heading_styles(tmp_path: Path) -> None:
    body = paragraph("Leave", "Heading1") + _bold("Mind this") + paragraph("Call.")
    assert [section.anchor for section in _read(tmp_path, body)] == ["§ Leave"]
