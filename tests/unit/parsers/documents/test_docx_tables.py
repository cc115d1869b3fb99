"""Tables of Word: merged cells, headers, nested tables and layout tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import docx
import pytest

from rag_engine.parsers.documents import docx as docx_parser
from tests.unit.parsers.ooxml import paragraph, part, style, write_word

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section


def _cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def _row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def _table(*rows: str, columns: int = 2) -> str:
    return f"<w:tbl><w:tblGrid>{'<w:gridCol/>' * columns}</w:tblGrid>{''.join(rows)}</w:tbl>"


_WIDE = '<w:gridSpan w:val="2"/>'
_BEGINS, _CONTINUES = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
_HEADER = "<w:tblHeader/>"


def _read(tmp_path: Path, body: str, **parts: str) -> list[Section]:
    path = tmp_path / "file"
    write_word(path, body, **parts)
    return list(docx_parser.parse(path))


def test_merged_cells_are_repeated(tmp_path: Path) -> None:
    table = _table(
        _row(_cell("Country", _BEGINS), _cell("2024", _WIDE), properties=_HEADER),
        _row(_cell("", _CONTINUES), _cell("Plan"), _cell("Actual"), properties=_HEADER),
        _row(_cell("Chile", _BEGINS), _cell("10"), _cell("12")),
        _row(_cell("", _CONTINUES), _cell("20"), _cell("19")),
        _row(_cell("Total", _WIDE), _cell("31")),
        columns=3,
    )
    (section,) = _read(tmp_path, table)
    assert section.kind == "table"
    assert section.text.splitlines() == [
        "Country | 2024 Plan | 2024 Actual",
        "Chile | 10 | 12",
        "Chile | 20 | 19",
        "Total |  | 31",
    ]


def test_rows_and_cells_that_were_deleted_or_hidden(tmp_path: Path) -> None:
    table = _table(
        _row(_cell("A"), _cell("B"), _cell("gone", "<w:cellDel/>")),
        _row(_cell("deleted"), _cell("x"), properties="<w:del/>"),
        _row(_cell("hidden"), _cell("x"), properties="<w:hidden/>"),
        _row(_cell("1"), _cell("2")),
    )
    assert [section.text for section in _read(tmp_path, table)] == ["A | B\n1 | 2"]


def test_cells_in_cells(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "outer"
    inner = table.cell(0, 1).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "one", "two"
    path = tmp_path / "file"
    document.save(str(path))
    assert [section.text for section in docx_parser.parse(path)] == ["outer | one, two"]


def test_a_table_in_a_table_is_read_by_itself(tmp_path: Path) -> None:
    inner = _table(_row(_cell("Name"), _cell("Days")), _row(_cell("Ines"), _cell("30")))
    body = _table(
        _row(f"<w:tc>{paragraph('Left')}</w:tc>", f"<w:tc>{paragraph('Right')}{inner}<w:p/></w:tc>")
    )
    assert [(section.kind, section.text) for section in _read(tmp_path, body)] == [
        ("prose", "Left\n\nRight"),
        ("table", "Name | Days\nInes | 30"),
    ]


def test_a_layout_table_is_text_with_headings(tmp_path: Path) -> None:
    styles = part("w:styles", style("H1", "heading 1"))
    long = "".join(paragraph("word " * 60) for _ in range(3))
    body = _table(
        _row(f"<w:tc>{paragraph('Leave', 'H1')}{long}</w:tc>", f"<w:tc>{paragraph('Aside')}</w:tc>")
    ) + _table(_row(_cell("One column only")), columns=1)
    sections = _read(tmp_path, body, styles=styles)
    assert {(section.kind, section.anchor) for section in sections} == {("prose", "§ Leave")}
    assert sections[-1].text.endswith("Aside\n\nOne column only")


def test_headings_in_a_form(tmp_path: Path) -> None:
    styles = part("w:styles", style("H1", "heading 1"))
    body = _table(
        _row(f"<w:tc><w:tcPr>{_WIDE}</w:tcPr>{paragraph('The person', 'H1')}</w:tc>"),
        _row(_cell("Name"), _cell("Ines")),
        _row(f"<w:tc><w:tcPr>{_WIDE}</w:tcPr>{paragraph('The berth', 'H1')}</w:tc>"),
        _row(_cell("Length"), _cell("12 m")),
    )
    assert [(section.anchor, section.text) for section in _read(tmp_path, body, styles=styles)] == [
        *(("§ The person", "The person"), ("§ The person", "Name | Ines")),
        *(("§ The berth", "The berth"), ("§ The berth", "Length | 12 m")),
    ]


def test_column_headers_that_look_like_headings(tmp_path: Path) -> None:
    styles = part("w:styles", style("H1", "heading 1"))
    header = "".join(f"<w:tc>{paragraph(text, 'H1')}</w:tc>" for text in ("Team", "Cost"))
    (section,) = _read(tmp_path, _table(_row(header), _row(_cell("North"), _cell("5"))), styles=styles)
    assert section.text == "Team | Cost\nNorth | 5"


def test_the_caption_above_goes_with_the_table(tmp_path: Path) -> None:
    styles = part("w:styles", style("Beschriftung", "caption"))
    body = paragraph("Table 1: Days of leave", "Beschriftung") + _table(_row(_cell("A"), _cell("B")))
    caption, table = _read(tmp_path, body, styles=styles)
    assert caption.text == "Table 1: Days of leave"
    assert table.headings == ("Table 1: Days of leave",)


@pytest.mark.parametrize("marked", [_HEADER, ""])
def test_a_long_table_comes_in_parts_with_its_header(tmp_path: Path, marked: str) -> None:
    rows = (_row(_cell(f"team {number}"), _cell(f"cost {number}")) for number in range(3_000))
    sections = _read(tmp_path, _table(_row(_cell("Team"), _cell("Cost"), properties=marked), *rows))
    assert len(sections) > 5
    assert {section.text.splitlines()[0] for section in sections} == {"Team | Cost"}
    lines = [line for section in sections for line in section.text.splitlines()[1:]]
    assert lines == [f"team {number} | cost {number}" for number in range(3_000)]


def test_a_cell_with_an_absurd_span(tmp_path: Path) -> None:
    body = _table(_row(_cell("A", '<w:gridSpan w:val="2000000000"/>'), _cell("B")))
    assert [section.text for section in _read(tmp_path, body)] == ["A | B"]
