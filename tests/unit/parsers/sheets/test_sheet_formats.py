"""ODS written by hand, XLS and XLSB written by LibreOffice if installed."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, cast

import openpyxl
import pytest

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers.sheets import ods, sheet, xls
from rag_engine.parsers.sheets._workbooks import xlsb
from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = (
    "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style", "drawing")
    )
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def _ods(tmp_path: Path, tables: str, *, styles: str = "", **members: str) -> Path:
    content = (
        f"<office:document-content{_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    path = tmp_path / "file"
    path.write_bytes(
        zip_of({"content.xml": content.encode()} | {key: text.encode() for key, text in members.items()})
    )
    return path


def _row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row{attributes}>{''.join(cells)}</table:table-row>"


def _cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell{attributes}><text:p>{text}</text:p></table:table-cell>"


def _read(path: Path) -> list[tuple[str, tuple[str, ...], str]]:
    return [(section.anchor, section.headings, section.text) for section in ods.parse(path)]


def test_cells_as_shown_with_notes_and_hidden_sheets(tmp_path: Path) -> None:
    note = (
        '<table:table-cell office:value-type="float" office:value="1234.5"><office:annotation><dc:creator>Ann</dc:creator>'
        "<text:p>checked</text:p></office:annotation><text:p>1.234,50 €</text:p></table:table-cell>"
    )
    rows = _row(_cell("Posten"), _cell("Betrag")) + _row(_cell("Reise<text:s text:c='2'/>Bahn"), note)
    hidden = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    tables = (
        f'<table:table table:name="Plan">{rows}</table:table>'
        f'<table:table table:name="Alt" table:style-name="ta2">{_row(_cell("a"), _cell("b"))}</table:table>'
    )
    assert _read(_ods(tmp_path, tables, styles=hidden)) == [
        ("Plan!A2:B2", ("Plan",), "Posten | Betrag\nReise Bahn | 1.234,50 €"),
        ("Plan!B2", ("Plan",), "Comment by Ann: checked"),
        ("Alt!A1:B1", ("Alt (hidden)",), "a | b"),
    ]


def test_merged_and_repeated_cells(tmp_path: Path) -> None:
    wide = _cell("2024", ' table:number-columns-spanned="2"') + "<table:covered-table-cell/>"
    tall = _cell("North", ' table:number-rows-spanned="2"')
    rows = (
        _row(_cell("Region"), _cell("City"), wide)
        + _row("<table:table-cell/>", "<table:table-cell/>", _cell("Plan"), _cell("Real"))
        + _row(tall, _cell("Oslo"), _cell("1", ' table:number-columns-repeated="2"'))
        + _row("<table:covered-table-cell/>", _cell("Bergen"), _cell("3"), _cell("4"))
        + _row(
            '<table:table-cell table:number-columns-repeated="16000"/>',
            attributes=' table:number-rows-repeated="900000"',
        )
        + _row(_cell("end"))
    )
    assert _read(_ods(tmp_path, f'<table:table table:name="S">{rows}</table:table>')) == [
        (
            "S!A3:D4",
            ("S",),
            "Region | City | 2024 Plan | 2024 Real\nNorth | Oslo | 1 | 1\nNorth | Bergen | 3 | 4",
        ),
        ("S!A900005", ("S",), "end"),
    ]


@pytest.mark.slow
def test_a_row_repeated_a_million_times(tmp_path: Path) -> None:
    row = _row(
        _cell("x" * 50, ' table:number-columns-repeated="16384"'),
        attributes=' table:number-rows-repeated="1048576"',
    )
    size = sum(
        len(section.text)
        for section in ods.parse(_ods(tmp_path, f'<table:table table:name="S">{row}</table:table>'))
    )
    assert size < 30_000_000


def test_an_encrypted_and_a_damaged_file(tmp_path: Path) -> None:
    manifest = '<m:manifest xmlns:m="urn:m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    with pytest.raises(EncryptedFile):
        _read(_ods(tmp_path, "", **{"META-INF/manifest.xml": manifest}))
    with pytest.raises(CorruptFile):
        _read(_ods(tmp_path, "<table:table"))


@pytest.mark.process
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_an_old_excel_file(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    active = cast("Any", workbook.active)
    active.title = "Plan"
    for row in (["Team", "2024", None], [None, "Plan", "Real"], ["IT", 0.125, 1234.5]):
        active.append(row)
    active.merge_cells("A1:A2")
    active.merge_cells("B1:C1")
    active["B3"].number_format, active["C3"].number_format = "0.0%", '#,##0.00 "€"'
    hidden = cast("Any", workbook.create_sheet("Old"))
    hidden.sheet_state = "hidden"
    hidden.append(["k", "v"])
    workbook.save(tmp_path / "made.xlsx")
    command = [
        "soffice",
        f"-env:UserInstallation=file://{tmp_path}/profile",
        "--headless",
        "--convert-to",
        "xls",
    ]
    subprocess.run(
        [*command, "--outdir", tmp_path, tmp_path / "made.xlsx"], check=True, capture_output=True, timeout=90
    )
    found = [(section.anchor, section.headings, section.text) for section in xls.parse(tmp_path / "made.xls")]
    assert found == [
        ("Plan!A3:C3", ("Plan",), "Team | 2024 Plan | 2024 Real\nIT | 12.5% | 1,234.50 €"),
        ("Old!A1:B1", ("Old (hidden)",), "k | v"),
    ]


def test_what_is_read_as_binary_workbooks_are(tmp_path: Path) -> None:
    """No library here writes XLSB; calamine reads XLSX the same way."""
    workbook = openpyxl.Workbook()
    active = cast("Any", workbook.active)
    active.title = "Plan"
    for row, cells in enumerate((("Team", "Since"), ("IT", datetime.date(2025, 3, 1)), ("HR", 2.5)), 4):
        for column, value in enumerate(cells, 3):
            active.cell(row, column, value)
    cast("Any", workbook.create_sheet("Old")).sheet_state = "hidden"
    workbook["Old"]["A1"] = "kept"
    path = tmp_path / "file.xlsx"
    workbook.save(path)
    assert [(section.anchor, section.headings, section.text) for section in xlsb.sections(path)] == [
        ("Plan!C5:D6", ("Plan",), "Team | Since\nIT | 2025-03-01\nHR | 2.5"),
        ("Old!A1", ("Old (hidden)",), "kept"),
    ]


def test_bytes_that_are_not_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(CorruptFile):
        list(xls.parse(path))
    path.write_bytes(zip_of({"xl/workbook.bin": b"\x01\x02"}))
    with pytest.raises(CorruptFile):
        list(sheet.parse(path))
