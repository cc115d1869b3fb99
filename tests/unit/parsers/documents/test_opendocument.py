"""OpenDocument text and slides: visible text in order, once, with anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile, FileTooLarge
from rag_engine.parsers.documents import odp, odt
from rag_engine.parsers.sheets import ods
from rag_engine.parsing.media_types import parser_name
from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section

_NAMESPACES = (
    " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in [
            *(
                ("office", "office"),
                ("text", "text"),
                ("table", "table"),
                ("draw", "drawing"),
                ("style", "style"),
            ),
            *(("presentation", "presentation"), ("svg", "svg-compatible"), ("chart", "chart")),
        ]
    )
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
)
_COSTS = (("Item", "Cost"), ("Pen", "5"), ("Ink", "6"))
_MIMETYPE = b"application/vnd.oasis.opendocument."


def _content(body: str, styles: str = "", kind: str = "text") -> bytes:
    return (
        f"<office:document-content {_NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    ).encode()


def _text(folder: Path, body: str, styles: str = "", masters: str = "") -> list[Section]:
    path = folder / "file.odt"
    parts = {"mimetype": _MIMETYPE + b"text", "content.xml": _content(body, styles)}
    path.write_bytes(zip_of({**parts, "styles.xml": masters.encode()} if masters else parts))
    assert parser_name(path, path.name) == "odt"
    return list(odt.parse(path))


def _said(sections: list[Section]) -> str:
    return "\n".join(section.text for section in sections)


def test_headings_are_anchors(tmp_path: Path) -> None:
    sections = _text(
        tmp_path,
        '<text:p>Before.</text:p><text:h text:outline-level="1">Leave</text:h><text:p>Thirty days.</text:p>'
        '<text:h text:outline-level="2">Sick   leave</text:h><text:p>Call.</text:p>',
    )
    assert [(section.anchor, section.headings) for section in sections] == [
        ("", ()),
        ("§ Leave", ("Leave",)),
        ("§ Sick leave", ("Leave", "Sick leave")),
    ]


def test_white_space_is_as_shown(tmp_path: Path) -> None:
    body = (
        '<text:p>one\n   two<text:s text:c="3"/>three<text:tab/>four<text:line-break/>five '
        '<text:span>six</text:span><text:s text:c="999999999"/></text:p>'
    )
    assert _said(_text(tmp_path, body)) == "one two   three\tfour\nfive six"


def test_invisible_text_is_left_out(tmp_path: Path) -> None:
    hidden = '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        '<text:section text:display="none"><text:p>secret</text:p></text:section>'
        "<text:table-of-content><text:index-body><text:p>Leave 3</text:p></text:index-body></text:table-of-content>"
        '<text:p>seen <text:span text:style-name="T1">concealed</text:span>'
        '<text:hidden-text text:is-hidden="true">conditional</text:hidden-text>'
        "<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p>"
    )
    assert _said(_text(tmp_path, body, hidden)) == "seen 漢字"


def test_raised_digits_stay_raised(tmp_path: Path) -> None:
    style = (
        '<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>'
    )
    span = '<text:span text:style-name="T1">{}</text:span>'.format
    [section] = _text(tmp_path, f"<text:p>10{span(6)} m{span(2)} a year, the 1{span('st')}</text:p>", style)
    assert section.text == "10⁶ m² a year, the 1st"


def test_lists_are_counted_as_shown(tmp_path: Path) -> None:
    style = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" '
        'style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" '
        'style:num-suffix=")"/></text:list-style>'
    )
    body = (
        '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:p>more</text:p><text:list>'
        "<text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>two</text:p></text:list-item></text:list>"
        "<text:list><text:list-item><text:p>bullet</text:p></text:list-item></text:list>"
    )
    [section] = _text(tmp_path, body, style)
    assert section.kind == "list"
    assert section.text.split("\n") == ["1. one", "  more", "  a) inner", "2. two", "- bullet"]


def test_tables_with_merged_and_repeated_cells(tmp_path: Path) -> None:
    body = (
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Region</text:p>"
        "</table:table-cell><table:table-cell><text:p>Office</text:p></table:table-cell></table:table-row>"
        '</table:table-header-rows><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North'
        "</text:p></table:table-cell><table:table-cell><text:p>Köln</text:p></table:table-cell></table:table-row>"
        "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>Bonn</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048576"><table:table-cell/></table:table-row></table:table>'
    )
    [section] = _text(tmp_path, body)
    assert (section.kind, section.text) == ("table", "Region | Office\nNorth | Köln\nNorth | Bonn")


def test_a_header_of_two_rows_names_the_columns(tmp_path: Path) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    under = "<table:covered-table-cell/>"
    rows = (
        cell(' table:number-rows-spanned="2"', "Quarter")
        + cell(' table:number-columns-spanned="2"', "2024")
        + under,
        under + cell("", "Plan") + cell("", "Actual"),
        cell("", "Q1") + cell("", "1") + cell("", "2"),
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    [section] = _text(tmp_path, f"<table:table>{body}</table:table>")
    assert section.text == "Quarter | 2024 Plan | 2024 Actual\nQ1 | 1 | 2"


def test_notes_comments_frames_and_margins_have_anchors(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="1">Rules</text:h><text:p>Text<text:note text:note-class="footnote">'
        "<text:note-citation>3</text:note-citation><text:note-body><text:p>See the law.</text:p></text:note-body>"
        "</text:note> goes on<office:annotation><dc:creator>Zoë</dc:creator><dc:date>2026-01-01</dc:date>"
        "<text:p>Really?</text:p></office:annotation>.<draw:frame><draw:text-box><text:p>In a box</text:p>"
        "</draw:text-box></draw:frame><draw:frame><draw:image/><svg:desc>A crane</svg:desc></draw:frame></text:p>"
    )
    masters = (
        f"<office:document-styles {_NAMESPACES}><office:master-styles>"
        + "<style:master-page><style:header><text:p>ACME</text:p></style:header></style:master-page>" * 2
        + "<style:master-page><style:footer><text:p>12</text:p></style:footer></style:master-page>"
        + "</office:master-styles></office:document-styles>"
    )
    sections = _text(tmp_path, body, masters=masters)
    places = {section.anchor: section.text for section in sections}
    assert places == {
        "§ Rules": "Rules\n\nText goes on.\n\nIn a box\n\nA crane",
        "footnote 3": "Footnote 3: See the law.",
        "comment 1": "Comment 1 by Zoë: Really?",
        "§ Header": "ACME",
    }


def test_flat_text_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "file.fodt"
    path.write_bytes(_content("<text:p>Flat.</text:p>"))
    assert parser_name(path, path.name) == "odt"
    assert _said(list(odt.parse(path))) == "Flat."


def test_flat_sheets_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "file.fods"
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    rows = "".join(f"<table:table-row>{cell(name)}{cell(cost)}</table:table-row>" for name, cost in _COSTS)
    path.write_bytes(_content(f'<table:table table:name="Costs">{rows}</table:table>', kind="spreadsheet"))
    assert parser_name(path, path.name) == "ods"
    [section] = ods.parse(path)
    assert (section.anchor, section.text) == ("Costs!A2:B3", "Item | Cost\nPen | 5\nInk | 6")


def test_an_encrypted_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "file.odt"
    manifest = b"<manifest:manifest><manifest:encryption-data/></manifest:manifest>"
    path.write_bytes(zip_of({"content.xml": b"\x80\x81", "META-INF/manifest.xml": manifest}))
    with pytest.raises(EncryptedFile):
        list(odt.parse(path))


def test_hostile_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "file.odt"
    entity = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]>'
    for content, error in [
        (entity + _content("<text:p>&b;</text:p>"), CorruptFile),
        (_content("<text:p>cut")[:-60], CorruptFile),
        (_content(""), EmptyDocument),
        (_content("<text:p>" + " " * (80 << 20) + "</text:p>"), FileTooLarge),
    ]:
        path.write_bytes(zip_of({"content.xml": content}))
        with pytest.raises(error):
            list(odt.parse(path))


def test_deep_nesting_ends(tmp_path: Path) -> None:
    depth = 3_000
    body = (
        "<text:list><text:list-item>" * depth
        + "<text:p>deep</text:p>"
        + "</text:list-item></text:list>" * depth
    )
    try:
        _text(tmp_path, body + "<text:p>plain</text:p>")
    except CorruptFile:
        return


def _slides(folder: Path, body: str, styles: str = "") -> list[Section]:
    path = folder / "file.odp"
    parts = {"mimetype": _MIMETYPE + b"presentation", "content.xml": _content(body, kind="presentation")}
    if styles:
        parts["styles.xml"] = styles.encode()
    chart = (
        f"<office:document-content {_NAMESPACES}><chart:chart><chart:title><text:p>Sales</text:p></chart:title>"
        "<table:table><table:table-row><table:table-cell><text:p>Jan</text:p></table:table-cell><table:table-cell>"
        "<text:p>7</text:p></table:table-cell></table:table-row></table:table></chart:chart></office:document-content>"
    )
    path.write_bytes(zip_of({**parts, "Object 1/content.xml": chart.encode()}))
    assert parser_name(path, path.name) == "odp"
    return list(odp.parse(path))


def test_slides_in_order_with_titles_notes_and_charts(tmp_path: Path) -> None:
    body = (
        "<draw:page><draw:frame><draw:text-box><text:list><text:list-item><text:p>point</text:p></text:list-item>"
        '</text:list></draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box>'
        "<text:p>Kick-off</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame "
        'presentation:class="notes"><draw:text-box><text:p>Slowly.</text:p></draw:text-box></draw:frame>'
        "</presentation:notes></draw:page>"
        "<draw:page><draw:g><draw:custom-shape><text:p>grouped</text:p></draw:custom-shape></draw:g>"
        '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></draw:page>'
    )
    sections = _slides(tmp_path, body)
    assert [(section.anchor, section.text, section.headings) for section in sections] == [
        ("slide 1", "Kick-off\n\n- point", ("Kick-off",)),
        ("slide 1, notes", "Slowly.", ("Kick-off", "Notes")),
        ("slide 2", "grouped\n\nChart: Sales", ()),
        ("slide 2", " | Series 1\nJan | 7", ("Sales",)),
    ]


def test_a_sheet_within_a_text_is_read_like_a_table(tmp_path: Path) -> None:
    """Not like a chart, which has no name for its first column and no row without a value."""

    def row(*cells: str) -> str:
        found = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
        return f"<table:table-row>{found}<table:table-cell table:number-columns-repeated='99'/></table:table-row>"

    sheet = f"<table:table>{row('Item', 'Cost')}{row('Pen', '5')}{row('Not yet known')}</table:table>"
    body = '<text:p><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
    path = tmp_path / "file.odt"
    parts = {"mimetype": _MIMETYPE + b"text", "content.xml": _content(body)}
    path.write_bytes(zip_of({**parts, "Object 1/content.xml": _content(sheet, kind="spreadsheet")}))
    (section,) = odt.parse(path)
    assert (section.kind, section.text) == ("table", "Item | Cost\nPen | 5\nNot yet known")


def test_boxes_are_read_by_position(tmp_path: Path) -> None:
    places = {"right": ("15cm", "5cm"), "below": ("1cm", "150mm"), "left": ("0.5in", "5.1cm")}
    shapes = "".join(
        f'<draw:frame svg:x="{x}" svg:y="{y}" svg:width="8cm" svg:height="2cm"><draw:text-box><text:p>{name}</text:p>'
        "</draw:text-box></draw:frame>"
        for name, (x, y) in places.items()
    )
    [section] = _slides(
        tmp_path,
        f"<draw:page>{shapes}<draw:g><draw:rect><text:p>last</text:p></draw:rect></draw:g></draw:page>",
    )
    assert section.text.split() == ["left", "last", "right", "below"]


def test_text_of_a_master_appears_once(tmp_path: Path) -> None:
    master = (
        f"<office:document-styles {_NAMESPACES}><office:master-styles><style:master-page style:name='M'>"
        "<draw:frame presentation:class='title'><draw:text-box><text:p>Click to edit</text:p></draw:text-box></draw:frame>"
        "<draw:frame presentation:class='footer'><draw:text-box><text:p>ACME</text:p></draw:text-box></draw:frame>"
        "</style:master-page></office:master-styles></office:document-styles>"
    )
    page = "<draw:page draw:master-page-name='M'><draw:rect><text:p>words {}</text:p></draw:rect></draw:page>"
    sections = _slides(tmp_path, page.format(1) + page.format(2), master)
    assert [section.text for section in sections] == ["words 1\n\nACME", "words 2"]
